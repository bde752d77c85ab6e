//! Messages on their way out. They enter with the outcome of the call that sent them and stay
//! until delivered; a crash between delivery and its mark repeats it under the same id.

use callgate_contract::{JournalId, Message, Outbox, SessionKey};
use sqlx::{AnyConnection, any::AnyRow};

use crate::{
    LogRole, StoreError, crash_point,
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

/// Milliseconds after which a message that an instance has not delivered is anybody's again. Must be
/// long against the time a delivery takes, and how far clocks differ.
const CLAIM: i64 = 60_000;

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
        queue(connection, message).await?;
        writer.commit().await
    }

    /// Hands over every pending message that no other instance is handing over. After a failure the
    /// session's later messages wait, so that nobody reads an answer before its question.
    pub async fn deliver_pending(
        &self,
        session: Option<&SessionKey>,
        outbox: &dyn Outbox,
    ) -> Result<Deliveries, StoreError> {
        self.deliver_as(&self.0.instance, session, outbox).await
    }

    /// Under the name of another instance.
    pub async fn deliver_as(
        &self,
        instance: &str,
        session: Option<&SessionKey>,
        outbox: &dyn Outbox,
    ) -> Result<Deliveries, StoreError> {
        let mut done = Deliveries::default();
        let mut stuck: Vec<SessionKey> = Vec::new();
        // Again after each round: another instance leaves us what it wrote meanwhile.
        loop {
            let mut claimed = self.claim(instance, session).await?;
            claimed.retain(|pending| !stuck.contains(&pending.message.session));
            if claimed.is_empty() {
                break;
            }
            for Pending { id, message } in claimed {
                if stuck.contains(&message.session) {
                    continue;
                }
                match outbox.deliver(id, &message).await {
                    Ok(()) => {
                        crash_point("outbox.after_delivery");
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
        if !stuck.is_empty() {
            self.unclaim(instance, session).await?;
        }
        Ok(done)
    }

    /// Oldest first. A message whose session has an older one in other hands stays where it is.
    async fn claim(
        &self,
        instance: &str,
        session: Option<&SessionKey>,
    ) -> Result<Vec<Pending>, StoreError> {
        let now = row::now();
        let mut writer = self.0.writer().await?;
        let claimed = sqlx::query(
            "UPDATE outbox SET claimed_by = $1, claimed_until = $2
             WHERE delivered_at IS NULL AND (CAST($4 AS TEXT) IS NULL OR session = $4)
               AND (claimed_by IS NULL OR claimed_by = $1 OR claimed_until <= $3)
               AND NOT EXISTS (
                   SELECT 1 FROM outbox AS older
                   WHERE older.delivered_at IS NULL AND older.session = outbox.session
                     AND older.id < outbox.id AND older.claimed_by <> $1
                     AND older.claimed_until > $3)
             RETURNING id, session, parts",
        )
        .bind(instance.to_owned())
        .bind(now.saturating_add(CLAIM))
        .bind(now)
        .bind(session.map(SessionKey::to_string))
        .fetch_all(writer.connection())
        .await?;
        writer.release();
        let pending: Result<Vec<Pending>, StoreError> = claimed.iter().map(read).collect();
        let mut pending = pending?;
        pending.sort_by_key(|pending| pending.id);
        Ok(pending)
    }

    /// What could not be delivered is anybody's again.
    async fn unclaim(
        &self,
        instance: &str,
        session: Option<&SessionKey>,
    ) -> Result<(), StoreError> {
        let mut writer = self.0.writer().await?;
        sqlx::query(
            "UPDATE outbox SET claimed_by = NULL, claimed_until = NULL
             WHERE delivered_at IS NULL AND claimed_by = $1
               AND (CAST($2 AS TEXT) IS NULL OR session = $2)",
        )
        .bind(instance.to_owned())
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
        Ok(())
    }
}

pub(crate) async fn queue(
    connection: &mut AnyConnection,
    message: &Message,
) -> Result<(), StoreError> {
    let id = next_id(connection, "outbox").await?;
    sqlx::query("INSERT INTO outbox (id, session, parts, queued_at) VALUES ($1, $2, $3, $4)")
        .bind(id)
        .bind(message.session.to_string())
        .bind(row::json("parts", &message.parts)?)
        .bind(row::now())
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
