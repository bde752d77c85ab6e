//! Messages on their way out. They enter with the outcome of the call that sent them and stay
//! until delivered; a crash between delivery and its mark repeats it under the same id. Of instances
//! that share a database each hands over what it claimed, and a claim holds as long as its claimer
//! lives.

use std::collections::BTreeSet;

use callgate_contract::{JournalId, Message, Outbox, SessionKey};
use parking_lot::Mutex;
use sqlx::any::AnyRow;

use crate::{
    LogRole, StoreError,
    connection::Connection,
    crash_point,
    database::{Database, next_id},
    log,
    row::{self, get},
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

/// What follows an older message in the hands of another instance, which lives, is not ours.
const LEAVE: &str = "UPDATE outbox SET claimed_by = NULL
     WHERE delivered_at IS NULL AND claimed_by = $1
       AND (CAST($3 AS TEXT) IS NULL OR session = $3)
       AND EXISTS (
           SELECT 1 FROM outbox AS older JOIN instance ON instance.life = older.claimed_by
           WHERE older.delivered_at IS NULL AND older.session = outbox.session
             AND older.id < outbox.id AND older.claimed_by <> $1 AND instance.ends_at > $2)";
/// All else is, unless another one that lives has claimed it.
const CLAIM: &str = "UPDATE outbox SET claimed_by = $1
     WHERE delivered_at IS NULL
       AND (CAST($3 AS TEXT) IS NULL OR session = $3)
       AND (claimed_by IS NULL OR claimed_by <> $1)
       AND NOT EXISTS (
           SELECT 1 FROM outbox AS older JOIN instance ON instance.life = older.claimed_by
           WHERE older.delivered_at IS NULL AND older.session = outbox.session
             AND older.id <= outbox.id AND older.claimed_by <> $1 AND instance.ends_at > $2)";

pub struct QueuedMessages<'a>(pub(crate) &'a Database);

impl QueuedMessages<'_> {
    /// Oldest first; of all sessions where `session` is `None`.
    pub async fn pending(&self, session: Option<&SessionKey>) -> Result<Vec<Pending>, StoreError> {
        let select = match session {
            Some(session) => sqlx::query(
                "SELECT id, session, parts FROM outbox
                 WHERE delivered_at IS NULL AND session = $1 ORDER BY id",
            )
            .bind(session.to_string()),
            None => sqlx::query(
                "SELECT id, session, parts FROM outbox WHERE delivered_at IS NULL ORDER BY id",
            ),
        };
        let rows = select.fetch_all(&self.0.readers).await?;
        rows.iter().map(read).collect()
    }

    /// Puts a message on its way; with `recorded` also into the log. For what no method or turn sends
    /// as one of its changes.
    pub async fn send(
        &self,
        journal: JournalId,
        message: &Message,
        recorded: bool,
    ) -> Result<(), StoreError> {
        let mut writer = self.0.writer().await?;
        writer.begin().await?;
        let (connection, session) = (writer.connection(), &message.session);
        if recorded {
            let (by, role) = (Some(journal), LogRole::Assistant);
            log::append(connection, by, session, role, &message.parts).await?;
        }
        queue(connection, message, self.0.holder()).await?;
        writer.commit().await
    }

    /// Sessions in which an instance that is gone has left messages.
    pub async fn left_behind(&self) -> Result<Vec<SessionKey>, StoreError> {
        let sessions: Vec<String> = sqlx::query_scalar(
            "SELECT session FROM outbox
             WHERE delivered_at IS NULL AND claimed_by <> $1 AND NOT EXISTS (
                 SELECT 1 FROM instance
                 WHERE instance.life = outbox.claimed_by AND instance.ends_at > $2)
             GROUP BY session ORDER BY MIN(id)",
        )
        .bind(self.0.instance.life.clone())
        .bind(self.0.shared_now())
        .fetch_all(&self.0.readers)
        .await?;
        sessions.iter().map(|key| row::read_session(key)).collect()
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
        // Again after each round: another instance leaves us what it wrote meanwhile.
        loop {
            let mut claimed = self.pending(session).await?;
            if !claimed.is_empty() && self.0.is_shared() {
                claimed = self.claim(session).await?;
            }
            claimed.retain(|pending| !stuck.contains(&pending.message.session));
            if claimed.is_empty() {
                break;
            }
            for Pending { id, message } in claimed {
                if stuck.contains(&message.session) || !self.is_ours(id).await? {
                    continue;
                }
                if self.0.delivered.contains(id) {
                    // Only its mark failed.
                    self.mark_delivered(id).await?;
                    continue;
                }
                match outbox.deliver(id, &message).await {
                    Ok(()) => {
                        crash_point("outbox.after_delivery");
                        self.0.delivered.add(id);
                        self.mark_delivered(id).await?;
                        done.delivered += 1;
                    }
                    Err(reason) => {
                        done.failed.push((id, reason));
                        stuck.push(message.session);
                    }
                }
            }
        }
        if !stuck.is_empty() && self.0.is_shared() {
            self.unclaim(session).await?;
        }
        Ok(done)
    }

    /// Oldest first. A message whose session has an older one in other hands is left to those, also
    /// where we had put it on its way ourselves.
    async fn claim(&self, session: Option<&SessionKey>) -> Result<Vec<Pending>, StoreError> {
        let mut writer = self.0.writer().await?;
        writer.begin().await?;
        // One after the other, and with those that put messages on their way: an older message that
        // is being claimed would not be seen.
        sqlx::query("UPDATE counter SET value = value WHERE name = 'outbox'")
            .execute(writer.connection())
            .await?;
        let (session, now) = (session.map(SessionKey::to_string), self.0.shared_now());
        for update in [LEAVE, CLAIM] {
            let update = sqlx::query(update)
                .bind(self.0.instance.life.clone())
                .bind(now)
                .bind(session.clone());
            update.execute(writer.connection()).await?;
        }
        let claimed = sqlx::query(
            "SELECT id, session, parts FROM outbox
             WHERE delivered_at IS NULL AND claimed_by = $1
               AND (CAST($2 AS TEXT) IS NULL OR session = $2) ORDER BY id",
        )
        .bind(self.0.instance.life.clone())
        .bind(session)
        .fetch_all(writer.connection())
        .await?;
        writer.commit().await?;
        claimed.iter().map(read).collect()
    }

    /// False if we were silent for so long that another instance has claimed it.
    async fn is_ours(&self, id: i64) -> Result<bool, StoreError> {
        if !self.0.is_shared() {
            return Ok(true);
        }
        let ours = sqlx::query(
            "SELECT id FROM outbox WHERE id = $1 AND claimed_by = $2 AND delivered_at IS NULL",
        )
        .bind(id)
        .bind(self.0.instance.life.clone())
        .fetch_optional(&self.0.readers)
        .await?;
        Ok(ours.is_some())
    }

    /// What could not be delivered is anybody's again.
    async fn unclaim(&self, session: Option<&SessionKey>) -> Result<(), StoreError> {
        let mut writer = self.0.writer().await?;
        sqlx::query(
            "UPDATE outbox SET claimed_by = NULL
             WHERE delivered_at IS NULL AND claimed_by = $1
               AND (CAST($2 AS TEXT) IS NULL OR session = $2)",
        )
        .bind(self.0.instance.life.clone())
        .bind(session.map(SessionKey::to_string))
        .execute(writer.connection())
        .await?;
        writer.release();
        Ok(())
    }

    /// Its text goes, since the log has it. Marking twice is harmless.
    pub async fn mark_delivered(&self, id: i64) -> Result<(), StoreError> {
        let mut writer = self.0.writer().await?;
        sqlx::query(
            "UPDATE outbox SET delivered_at = $2, parts = '[]'
             WHERE id = $1 AND delivered_at IS NULL",
        )
        .bind(id)
        .bind(row::now())
        .execute(writer.connection())
        .await?;
        writer.release();
        self.0.delivered.remove(id);
        Ok(())
    }
}

/// Messages that this process has delivered and could not mark so far: they are not delivered again.
/// A mutex held for a look.
#[derive(Default)]
pub(crate) struct Delivered(Mutex<BTreeSet<i64>>);

impl Delivered {
    fn contains(&self, id: i64) -> bool {
        self.0.lock().contains(&id)
    }

    fn add(&self, id: i64) {
        self.0.lock().insert(id);
    }

    fn remove(&self, id: i64) {
        self.0.lock().remove(&id);
    }
}

/// Whoever puts it on its way hands it over as well, unless that one ends before.
pub(crate) async fn queue(
    connection: &mut Connection,
    message: &Message,
    claimed_by: Option<String>,
) -> Result<(), StoreError> {
    let id = next_id(connection, "outbox").await?;
    let insert = sqlx::query(
        "INSERT INTO outbox (id, session, parts, queued_at, claimed_by)
         VALUES ($1, $2, $3, $4, $5)",
    );
    insert
        .bind(id)
        .bind(message.session.to_string())
        .bind(row::json("parts", &message.parts)?)
        .bind(row::now())
        .bind(claimed_by)
        .execute(connection)
        .await?;
    Ok(())
}

fn read(row: &AnyRow) -> Result<Pending, StoreError> {
    Ok(Pending {
        id: get(row, "id")?,
        message: Message {
            session: row::read_session(get(row, "session")?)?,
            parts: row::read_json("parts", get(row, "parts")?)?,
        },
    })
}
