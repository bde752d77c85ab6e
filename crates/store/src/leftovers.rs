//! [`Leftovers`]: what is on record of one session and has not come to its end, for whoever has its lease:
//! every turn that began under that lease; and of others what is of this instance, or of one that is gone.
//! Whether this process works on it now is not known here. What an earlier life left is what was open when
//! this one began, and is never told by a clock: that may have been set back since.

use std::collections::HashSet;

use callgate_contract::{JournalId, SessionKey};
use uuid::Uuid;

use crate::{
    LogRow, Store, StoreError,
    database::Database,
    log,
    row::get,
    tx::{Row, Tx, parameters},
};

/// Whose leftovers are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeftBy {
    /// This life's own too.
    Anyone,
    /// Lives before this one, and other instances that are gone.
    Earlier,
    /// Other instances that are gone.
    Others,
}

/// What was open when this life began.
#[derive(Default)]
pub(crate) struct FoundOpen {
    journals: HashSet<Uuid>,
    /// The newest row of the log.
    newest: i64,
}

/// The condition that the row of `$table` was left behind: by `?1`, this life, or nobody, where those are
/// asked for (`?2`); or by another one that is gone at `?3`.
macro_rules! left_behind {
    ($table:literal) => {
        concat!(
            "(?2 = 1 AND (",
            $table,
            ".holder IS NULL OR ",
            $table,
            ".holder = ?1) OR ",
            $table,
            ".holder <> ?1 AND NOT EXISTS (SELECT 1 FROM instance
                 WHERE instance.life = ",
            $table,
            ".holder AND instance.ends_at > ?3))"
        )
    };
}
pub(crate) use left_behind;

impl FoundOpen {
    pub(crate) fn look(tx: &mut dyn Tx) -> Result<Self, StoreError> {
        let journals = "SELECT id FROM turn WHERE stop IS NULL
             UNION ALL SELECT journal FROM run WHERE stop IS NULL";
        let newest: Option<Option<i64>> = tx.scalar("SELECT MAX(id) FROM log", &[])?;
        Ok(FoundOpen {
            journals: tx.scalars(journals, &[])?.into_iter().collect(),
            newest: newest.flatten().unwrap_or_default(),
        })
    }

    pub(crate) fn has_turn(&self, row: &Row) -> Result<bool, StoreError> {
        Ok(self.journals.contains(&get(row, "id")?))
    }

    pub(crate) fn has_run(&self, row: &Row) -> Result<bool, StoreError> {
        Ok(self.journals.contains(&get(row, "journal")?))
    }

    pub(crate) fn has_message(&self, row: &Row) -> Result<bool, StoreError> {
        Ok(get::<i64>(row, "id")? <= self.newest)
    }
}

impl Database {
    /// What a condition with [`left_behind`] selects.
    pub(crate) async fn left_behind<T>(
        &self,
        select: &'static str,
        by: LeftBy,
        was_open: fn(&FoundOpen, &Row) -> Result<bool, StoreError>,
        read: fn(&Row) -> Result<T, StoreError>,
    ) -> Result<Vec<T>, StoreError> {
        let (life, now) = (self.instance.life, self.shared_now());
        let own = by != LeftBy::Others;
        let rows = self
            .read(move |tx| Ok(tx.query(select, parameters![life, own, now])?))
            .await?;
        let mut left = Vec::new();
        for row in &rows {
            let holder: Option<Uuid> = get(row, "holder")?;
            let of_others = holder.is_some_and(|holder| holder != life);
            if of_others || by != LeftBy::Earlier || was_open(&self.found_open, row)? {
                left.push(read(row)?);
            }
        }
        Ok(left)
    }
}

/// Each oldest first.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Leftovers {
    pub turns: Vec<JournalId>,
    /// Messages that no turn has taken, and listeners have not dealt with.
    pub rows: Vec<i64>,
}

/// A message that was stored and no more.
#[derive(Debug, PartialEq)]
pub enum LeftRow {
    /// Listeners were dealing with it.
    Offered(LogRow),
    Unanswered(LogRow),
}

impl Store {
    pub async fn leftovers(&self, session: &SessionKey) -> Result<Leftovers, StoreError> {
        let session = session.to_string();
        let (life, now) = (self.database.instance.life, self.database.shared_now());
        self.database
            .read(move |tx| {
                let left = parameters![life, true, now, session];
                let turns = tx.scalars(
                    concat!(
                        "SELECT id FROM turn WHERE session = ?4 AND stop IS NULL AND (leased = 1 OR ",
                        left_behind!("turn"),
                        ") ORDER BY id"
                    ),
                    left,
                )?;
                let rows = tx.scalars(
                    concat!(
                        "SELECT id FROM log WHERE session = ?4 AND turn IS NULL AND (offered = 1
                         OR role = 'user' AND hidden = 0 AND dismissed = 0) AND ",
                        left_behind!("log"),
                        " ORDER BY id"
                    ),
                    left,
                )?;
                Ok(Leftovers {
                    turns: turns.into_iter().map(JournalId).collect(),
                    rows,
                })
            })
            .await
    }

    /// `None` if somebody has dealt with it meanwhile.
    pub async fn left_row(&self, row: i64) -> Result<Option<LeftRow>, StoreError> {
        self.database
            .read(move |tx| {
                let select = "SELECT * FROM log WHERE id = ?1 AND turn IS NULL AND (offered = 1
                     OR role = 'user' AND hidden = 0 AND dismissed = 0)";
                let Some(found) = tx.query_optional(select, parameters![row])? else {
                    return Ok(None);
                };
                let is_offered = found.get::<i64>("offered")? == 1;
                let row = log::read(&found)?;
                Ok(Some(if is_offered {
                    LeftRow::Offered(row)
                } else {
                    LeftRow::Unanswered(row)
                }))
            })
            .await
    }

    /// Has anybody but a turn said something in the session since? Listeners have then answered the row, as
    /// far as they came.
    pub async fn has_answer_beside_turns(&self, row: &LogRow) -> Result<bool, StoreError> {
        let (session, id) = (row.session.to_string(), row.id);
        self.database
            .read(move |tx| {
                let select =
                    "SELECT 1 FROM log WHERE session = ?1 AND id > ?2 AND role = 'assistant'
                     AND NOT EXISTS (SELECT 1 FROM turn WHERE turn.id = log.journal)
                     AND NOT EXISTS (SELECT 1 FROM run WHERE run.journal = log.journal) LIMIT 1";
                let found = tx.query_optional(select, parameters![session, id])?;
                Ok(found.is_some())
            })
            .await
    }
}
