//! Messages on their way out. They enter with the outcome of the call that sent them and stay until they
//! are delivered, or the operator has settled what became of them. Whose they are to hand over is in
//! [`claim`], what is on record before and after in [`deliver`].

mod claim;
mod deliver;
mod held;
mod receipts;
mod undelivered;

use std::sync::Arc;

use callgate_contract::{JournalId, Message, Part, SessionKey};
use uuid::Uuid;

pub use self::{
    deliver::Deliveries,
    undelivered::{DeliveryState, Undelivered},
};
pub(crate) use self::{
    held::HeldSessions,
    receipts::{FORGOTTEN_AT_ONCE, SentPiece, forget, write_sent},
};
use crate::{
    LogRole, StoreError,
    database::Database,
    log,
    row::{self, get},
    tx::{Row, Tx, parameters},
};

/// A message that is queued.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pending {
    /// Ascending in the order of sending, and the same at every attempt.
    pub id: i64,
    pub message: Message,
    queued_at: i64,
    /// Its row of the log.
    log: Option<i64>,
    /// As what it is sent, once that is on record.
    pieces: Option<Vec<Vec<Part>>>,
    /// So many of them were delivered.
    done: u32,
    /// The next one may have been sent.
    intended: bool,
}

/// Messages that are handed over before more are read.
const BATCH: usize = 64;

pub struct QueuedMessages<'a>(pub(crate) &'a Arc<Database>);

impl QueuedMessages<'_> {
    /// Oldest first; of all sessions where `session` is `None`.
    pub async fn pending(&self, session: Option<&SessionKey>) -> Result<Vec<Pending>, StoreError> {
        let session = session.map(SessionKey::to_string);
        self.0
            .read(move |tx| {
                let rows = match session {
                    Some(session) => tx.query(
                        "SELECT * FROM outbox WHERE session = ?1 AND state = 'queued' ORDER BY id",
                        parameters![session],
                    )?,
                    None => tx.query(
                        "SELECT * FROM outbox WHERE state = 'queued' ORDER BY id",
                        &[],
                    )?,
                };
                rows.iter().map(read).collect()
            })
            .await
    }

    /// Some of those after `seen`.
    async fn next(
        &self,
        session: Option<&SessionKey>,
        seen: i64,
    ) -> Result<Vec<Pending>, StoreError> {
        let (session, most) = (session.map(SessionKey::to_string), BATCH as i64);
        self.0
            .read(move |tx| {
                let rows = match session {
                    Some(session) => tx.query(
                        "SELECT * FROM outbox WHERE session = ?1 AND id > ?2 AND state = 'queued'
                         ORDER BY id LIMIT ?3",
                        parameters![session, seen, most],
                    )?,
                    None => tx.query(
                        "SELECT * FROM outbox WHERE id > ?1 AND state = 'queued' ORDER BY id LIMIT ?2",
                        parameters![seen, most],
                    )?,
                };
                rows.iter().map(read).collect()
            })
            .await
    }

    /// Puts a message on its way; with `recorded` also into the log. For what no method or turn sends
    /// as one of its changes.
    pub async fn send(
        &self,
        journal: JournalId,
        message: &Message,
        recorded: bool,
    ) -> Result<(), StoreError> {
        let (queued, holder) = (message.clone(), self.0.holder());
        self.0
            .write(move |tx| {
                let from = (LogRole::Assistant, None);
                let append = |tx: &mut dyn Tx| {
                    log::append(tx, Some(journal), &queued.session, from, &queued.parts)
                };
                let row = recorded.then(|| append(tx)).transpose()?;
                queue(tx, &queued, row, holder)
            })
            .await?;
        self.0.queued.tell(&message.session);
        Ok(())
    }

    /// Another number than before whenever this process has put a message of the session on its way.
    pub fn queued(&self, session: &SessionKey) -> u64 {
        self.0.queued.count(session)
    }

    /// Those in which anything waits, longest first.
    pub async fn sessions(&self) -> Result<Vec<SessionKey>, StoreError> {
        self.0
            .read(|tx| {
                let select = "SELECT session FROM outbox WHERE state = 'queued'
                     GROUP BY session ORDER BY MIN(id)";
                let sessions: Vec<String> = tx.scalars(select, &[])?;
                sessions.iter().map(|key| row::read_session(key)).collect()
            })
            .await
    }

    /// Sessions in which an instance that is gone has left messages.
    pub async fn left_behind(&self) -> Result<Vec<SessionKey>, StoreError> {
        let (life, now) = (self.0.instance.life, self.0.shared_now());
        self.0
            .read(move |tx| {
                let sessions: Vec<String> = tx.scalars(
                    "SELECT session FROM outbox
                     WHERE state = 'queued' AND claimed_by <> ?1 AND NOT EXISTS (
                         SELECT 1 FROM instance
                         WHERE instance.life = outbox.claimed_by AND instance.ends_at > ?2)
                     GROUP BY session ORDER BY MIN(id)",
                    parameters![life, now],
                )?;
                sessions.iter().map(|key| row::read_session(key)).collect()
            })
            .await
    }
}

/// Whoever puts it on its way hands it over as well, unless that one ends before. `claimed_by` is none
/// where nobody else could; `row` is the log's.
pub(crate) fn queue(
    tx: &mut dyn Tx,
    message: &Message,
    row: Option<i64>,
    claimed_by: Option<Uuid>,
) -> Result<(), StoreError> {
    let session = message.session.to_string();
    if claimed_by.is_some() {
        tx.query(claim::LOCK, parameters![session])?;
    }
    tx.execute(
        "INSERT INTO outbox (session, parts, queued_at, claimed_by, log)
         VALUES (?1, ?2, ?3, ?4, ?5)",
        parameters![
            session,
            row::json("parts", &message.parts)?,
            row::now(),
            claimed_by,
            row,
        ],
    )?;
    Ok(())
}

fn read(row: &Row) -> Result<Pending, StoreError> {
    let pieces: Option<String> = get(row, "pieces")?;
    Ok(Pending {
        id: get(row, "id")?,
        message: Message {
            session: row::read_session(&get::<String>(row, "session")?)?,
            parts: row::read_json("parts", &get::<String>(row, "parts")?)?,
        },
        queued_at: get(row, "queued_at")?,
        log: get(row, "log")?,
        pieces: pieces
            .map(|pieces| row::read_json("pieces", &pieces))
            .transpose()?,
        done: row::read_small("pieces", get(row, "done")?)?,
        intended: row::read_flag(get(row, "intended")?),
    })
}
