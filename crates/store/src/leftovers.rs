//! [`Leftovers`]: what is on record of one session and has not come to its end, for whoever has its lease:
//! every turn that began under that lease; and of others what is of this instance, or of one that is gone.
//! Whether this process works on it now is not known here.

use callgate_contract::{JournalId, SessionKey};
use jiff::Timestamp;

use crate::{LogRow, Store, StoreError, instance::left_behind, log, tx::parameters};

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
        let always = Timestamp::MAX.as_millisecond();
        self.database
            .read(move |tx| {
                let left = parameters![life, always, now, session];
                let turns = tx.scalars(
                    concat!(
                        "SELECT id FROM turn WHERE session = ?4 AND stop IS NULL AND (leased = 1 OR ",
                        left_behind!("turn", "started_at"),
                        ") ORDER BY id"
                    ),
                    left,
                )?;
                let rows = tx.scalars(
                    concat!(
                        "SELECT id FROM log WHERE session = ?4 AND turn IS NULL AND (offered = 1
                         OR role = 'user' AND hidden = 0 AND dismissed = 0) AND ",
                        left_behind!("log", "written_at"),
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
}
