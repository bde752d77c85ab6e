//! Messages on their way out. They enter with the outcome of the call that sent them and stay
//! until delivered; a crash between delivery and its mark repeats it under the same id. Of instances
//! that share a database each hands over what it claimed, and a claim holds as long as its claimer
//! lives.

use std::{sync::Arc, time::Duration};

use callgate_contract::{JournalId, Message, Outbox, SessionKey};
use uuid::Uuid;

use crate::{
    LogRole, StoreError, crash_point,
    database::Database,
    journal::WaitingMarks,
    log,
    row::{self, get},
    tx::{Row, Tx, parameters},
};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pending {
    /// Ascending in the order of sending, and the same at every attempt.
    pub id: i64,
    pub message: Message,
}

/// What [`QueuedMessages::deliver_pending`] did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Deliveries {
    pub delivered: u64,
    /// The messages that stay queued, and why.
    pub failed: Vec<(i64, String)>,
}

/// Those that put messages of a session on their way and those that claim them, one after the other: an
/// older message that is being queued would not be seen. Only where instances share the database.
const LOCK: &str = "SELECT CAST(pg_advisory_xact_lock(hashtext(?1)) AS TEXT)";
const LOCK_ALL: &str = "SELECT CAST(pg_advisory_xact_lock(hashtext(session)) AS TEXT)
     FROM (SELECT DISTINCT session FROM outbox ORDER BY session) AS waiting";
/// What follows an older message in the hands of another instance, which lives, is not ours.
const LEAVE: &str = "UPDATE outbox SET claimed_by = NULL
     WHERE claimed_by = ?1 AND (CAST(?3 AS TEXT) IS NULL OR session = ?3) AND id <= ?4
       AND EXISTS (
           SELECT 1 FROM outbox AS older JOIN instance ON instance.life = older.claimed_by
           WHERE older.session = outbox.session
             AND older.id < outbox.id AND older.claimed_by <> ?1 AND instance.ends_at > ?2)";
/// All else is, unless another one that lives has claimed it.
const CLAIM: &str = "UPDATE outbox SET claimed_by = ?1
     WHERE (CAST(?3 AS TEXT) IS NULL OR session = ?3) AND id <= ?4
       AND (claimed_by IS NULL OR claimed_by <> ?1)
       AND NOT EXISTS (
           SELECT 1 FROM outbox AS older JOIN instance ON instance.life = older.claimed_by
           WHERE older.session = outbox.session
             AND older.id <= outbox.id AND older.claimed_by <> ?1 AND instance.ends_at > ?2)";

/// Messages that are handed over before more are read.
const BATCH: usize = 64;
/// How often it is looked whether marks wait, which any write takes along that comes.
const SOON: Duration = Duration::from_millis(100);
/// Delivered messages that one statement removes.
pub(crate) const FORGOTTEN_AT_ONCE: usize = 8;

pub struct QueuedMessages<'a>(pub(crate) &'a Arc<Database>);

impl QueuedMessages<'_> {
    /// Oldest first; of all sessions where `session` is `None`.
    pub async fn pending(&self, session: Option<&SessionKey>) -> Result<Vec<Pending>, StoreError> {
        let session = session.map(SessionKey::to_string);
        self.0
            .read(move |tx| {
                let rows = match session {
                    Some(session) => tx.query(
                        "SELECT id, session, parts FROM outbox WHERE session = ?1 ORDER BY id",
                        parameters![session],
                    )?,
                    None => tx.query("SELECT id, session, parts FROM outbox ORDER BY id", &[])?,
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
                        "SELECT id, session, parts FROM outbox
                         WHERE session = ?1 AND id > ?2 ORDER BY id LIMIT ?3",
                        parameters![session, seen, most],
                    )?,
                    None => tx.query(
                        "SELECT id, session, parts FROM outbox WHERE id > ?1 ORDER BY id LIMIT ?2",
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
                if recorded {
                    let (session, from) = (&queued.session, (LogRole::Assistant, None));
                    log::append(tx, Some(journal), session, from, &queued.parts)?;
                }
                queue(tx, &queued, holder)
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
                let select = "SELECT session FROM outbox GROUP BY session ORDER BY MIN(id)";
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
                     WHERE claimed_by <> ?1 AND NOT EXISTS (
                         SELECT 1 FROM instance
                         WHERE instance.life = outbox.claimed_by AND instance.ends_at > ?2)
                     GROUP BY session ORDER BY MIN(id)",
                    parameters![life, now],
                )?;
                sessions.iter().map(|key| row::read_session(key)).collect()
            })
            .await
    }

    /// Hands over every pending message that no other instance is handing over. After a failure the
    /// session's later messages wait, so that nobody reads an answer before its question. In this
    /// process one at a time may do so for a session.
    pub async fn deliver_pending(
        &self,
        session: Option<&SessionKey>,
        outbox: &dyn Outbox,
    ) -> Result<Deliveries, StoreError> {
        let mut done = Deliveries::default();
        let mut stuck: Vec<SessionKey> = Vec::new();
        // Where nobody is, few are looked at, however many wait.
        let mut seen = 0;
        loop {
            // Looked for first: what is marked meanwhile is not among the pending ones.
            let known = self.0.buffer.delivered();
            let mut claimed = self.next(session, seen).await?;
            let are_all = claimed.len() < BATCH;
            if let Some(last) = claimed.last()
                && self.0.is_shared()
            {
                claimed = self.claim(session, last.id).await?;
            }
            let Some(last) = claimed.last() else {
                break;
            };
            seen = last.id;
            claimed.retain(|pending| {
                !known.contains(&pending.id) && !stuck.contains(&pending.message.session)
            });
            if claimed.is_empty() && self.0.is_shared() {
                break;
            }
            for Pending { id, message } in claimed {
                if stuck.contains(&message.session) || !self.is_ours(id).await? {
                    continue;
                }
                match outbox.deliver(id, &message).await {
                    Ok(()) => {
                        crash_point("outbox.after_delivery");
                        self.mark(id, outbox.may_repeat(&message.session)).await?;
                        done.delivered += 1;
                    }
                    Err(reason) => {
                        done.failed.push((id, reason));
                        stuck.push(message.session);
                    }
                }
            }
            if session.is_some_and(|session| stuck.contains(session)) {
                break;
            }
            if self.0.is_shared() {
                // Another instance may leave us what it wrote meanwhile.
                seen = 0;
            } else if are_all {
                // Whoever else of this process queues a message delivers it.
                break;
            }
        }
        if !stuck.is_empty() && self.0.is_shared() {
            self.unclaim(session).await?;
        }
        Ok(done)
    }

    /// It was delivered. Where a repetition does no harm the mark waits for others, and not for long.
    async fn mark(&self, id: i64, soon: bool) -> Result<(), StoreError> {
        // From here on it is known as delivered, also where the write fails.
        self.0.buffer.push_delivered(id);
        if soon && !self.0.is_shared() {
            if self.0.buffer.schedules_flush() {
                // A task of its own, since nobody else may write for long.
                let database = Arc::clone(self.0);
                tokio::spawn(async move {
                    loop {
                        tokio::time::sleep(SOON).await;
                        match database.buffer.look_at_marks() {
                            WaitingMarks::None => return,
                            WaitingMarks::Due => {}
                            WaitingMarks::Overdue => break,
                        }
                    }
                    if let Err(error) = database.flush_scheduled().await {
                        tracing::warn!(%error, "could not mark delivered messages; retrying with the next write");
                    }
                });
            }
            return Ok(());
        }
        self.0.buffer.write_marks();
        self.0.write(|_| Ok(())).await
    }

    /// Those up to `last`, oldest first. A message whose session has an older one in other hands is left to
    /// those, also where we had put it on its way ourselves.
    async fn claim(
        &self,
        session: Option<&SessionKey>,
        last: i64,
    ) -> Result<Vec<Pending>, StoreError> {
        let (session, now) = (session.map(SessionKey::to_string), self.0.shared_now());
        let life = self.0.instance.life;
        self.0
            .write(move |tx| {
                match &session {
                    Some(session) => tx.query(LOCK, parameters![session.as_str()])?,
                    None => tx.query(LOCK_ALL, &[])?,
                };
                for update in [LEAVE, CLAIM] {
                    tx.execute(update, parameters![life, now, session, last])?;
                }
                let claimed = tx.query(
                    "SELECT id, session, parts FROM outbox
                     WHERE claimed_by = ?1 AND (CAST(?2 AS TEXT) IS NULL OR session = ?2)
                       AND id <= ?3
                     ORDER BY id",
                    parameters![life, session, last],
                )?;
                claimed.iter().map(read).collect()
            })
            .await
    }

    /// False if we were silent for so long that another instance has claimed it.
    async fn is_ours(&self, id: i64) -> Result<bool, StoreError> {
        if !self.0.is_shared() {
            return Ok(true);
        }
        let life = self.0.instance.life;
        self.0
            .read(move |tx| {
                let select = "SELECT id FROM outbox WHERE id = ?1 AND claimed_by = ?2";
                Ok(tx.query_optional(select, parameters![id, life])?.is_some())
            })
            .await
    }

    /// What could not be delivered is anybody's again.
    async fn unclaim(&self, session: Option<&SessionKey>) -> Result<(), StoreError> {
        let (life, session) = (self.0.instance.life, session.map(SessionKey::to_string));
        self.0
            .write(move |tx| {
                tx.execute(
                    "UPDATE outbox SET claimed_by = NULL
                     WHERE claimed_by = ?1 AND (CAST(?2 AS TEXT) IS NULL OR session = ?2)",
                    parameters![life, session],
                )?;
                Ok(())
            })
            .await
    }
}

/// They go, since the log has them.
pub(crate) fn forget(tx: &mut dyn Tx, delivered: &[i64]) -> Result<(), StoreError> {
    for some in delivered.chunks(FORGOTTEN_AT_ONCE) {
        // One text for any number of them: the first stands in for those that are missing.
        let id = |place: usize| {
            some.get(place)
                .or(some.first())
                .copied()
                .unwrap_or_default()
        };
        tx.execute(
            "DELETE FROM outbox WHERE id IN (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
            parameters![id(0), id(1), id(2), id(3), id(4), id(5), id(6), id(7)],
        )?;
    }
    Ok(())
}

/// Whoever puts it on its way hands it over as well, unless that one ends before. `claimed_by` is none
/// where nobody else could.
pub(crate) fn queue(
    tx: &mut dyn Tx,
    message: &Message,
    claimed_by: Option<Uuid>,
) -> Result<(), StoreError> {
    let session = message.session.to_string();
    if claimed_by.is_some() {
        tx.query(LOCK, parameters![session])?;
    }
    tx.execute(
        "INSERT INTO outbox (session, parts, queued_at, claimed_by) VALUES (?1, ?2, ?3, ?4)",
        parameters![
            session,
            row::json("parts", &message.parts)?,
            row::now(),
            claimed_by,
        ],
    )?;
    Ok(())
}

fn read(row: &Row) -> Result<Pending, StoreError> {
    Ok(Pending {
        id: get(row, "id")?,
        message: Message {
            session: row::read_session(&get::<String>(row, "session")?)?,
            parts: row::read_json("parts", &get::<String>(row, "parts")?)?,
        },
    })
}
