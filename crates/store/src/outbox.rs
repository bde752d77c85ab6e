//! Messages on their way out. They enter with the outcome of the call that sent them and stay
//! until delivered; a crash between delivery and its mark repeats it under the same id.

use callgate_contract::{Message, Outbox, SessionKey};
use sqlx::{AnyConnection, any::AnyRow};

use crate::{
    StoreError, crash_point,
    database::{Database, next_id},
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

    /// Hands over every pending message. After a failure the session's later messages wait, so
    /// that nobody reads an answer before its question.
    pub async fn deliver_pending(
        &self,
        session: Option<&SessionKey>,
        outbox: &dyn Outbox,
    ) -> Result<Deliveries, StoreError> {
        let mut done = Deliveries::default();
        let mut stuck: Vec<SessionKey> = Vec::new();
        for Pending { id, message } in self.pending(session).await? {
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
        Ok(done)
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
