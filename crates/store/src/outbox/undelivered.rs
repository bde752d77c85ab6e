//! What has not been delivered, as the operator sees it: messages that wait, that a platform has refused,
//! and those of which nobody knows whether they were sent. The last two wait for nobody's word but the
//! operator's, and hold up no other message.

use callgate_contract::{Part, SessionKey};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::QueuedMessages;
use crate::{
    StoreError,
    row::{self, get},
    tx::{Row, parameters},
};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DeliveryState {
    /// It is tried again by itself.
    Queued,
    /// Sent or not, nobody knows.
    Unknown,
    /// The platform has refused it.
    Failed,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Undelivered {
    pub id: i64,
    pub session: SessionKey,
    pub parts: Vec<Part>,
    pub state: DeliveryState,
    /// Of one that is queued the last one that this process was told.
    pub reason: Option<String>,
    pub since: Timestamp,
}

impl QueuedMessages<'_> {
    /// Of those after `after` the oldest `most`; of any state where none is given.
    pub async fn undelivered(
        &self,
        state: Option<DeliveryState>,
        after: i64,
        most: u32,
    ) -> Result<Vec<Undelivered>, StoreError> {
        let state = state.map(row::word).transpose()?;
        // Looked for first: what is marked meanwhile is not found.
        let known = self.0.buffer.delivered();
        let mut found: Vec<Undelivered> = self
            .0
            .read(move |tx| {
                let select = "SELECT * FROM outbox
                     WHERE (CAST(?1 AS TEXT) IS NULL OR state = ?1) AND id > ?2
                     ORDER BY id LIMIT ?3";
                let rows = tx.query(select, parameters![state, after, most])?;
                rows.iter().map(read).collect()
            })
            .await?;
        found.retain(|message| !known.contains(&message.id));
        for message in &mut found {
            if message.state == DeliveryState::Queued {
                message.reason = self.0.held.reason(&message.session);
            }
        }
        Ok(found)
    }

    /// It is queued again, though it may have been sent: from the piece on of which nobody knows. One that
    /// is queued stays so.
    pub async fn resend(&self, id: i64) -> Result<SessionKey, StoreError> {
        self.settle(
            id,
            "UPDATE outbox SET state = 'queued', reason = NULL,
                 intended = CASE WHEN state = 'queued' THEN intended ELSE 0 END
             WHERE id = ?1 RETURNING session",
        )
        .await
    }

    /// It is never sent, or not again. The log keeps its words.
    pub async fn discard(&self, id: i64) -> Result<SessionKey, StoreError> {
        self.settle(id, "DELETE FROM outbox WHERE id = ?1 RETURNING session")
            .await
    }

    async fn settle(&self, id: i64, statement: &'static str) -> Result<SessionKey, StoreError> {
        self.0
            .write(move |tx| {
                let session: Option<String> = tx.scalar(statement, parameters![id])?;
                row::read_session(&session.ok_or(StoreError::UnknownMessage(id))?)
            })
            .await
    }
}

fn read(row: &Row) -> Result<Undelivered, StoreError> {
    let reason: Option<Vec<u8>> = get(row, "reason")?;
    Ok(Undelivered {
        id: get(row, "id")?,
        session: row::read_session(&get::<String>(row, "session")?)?,
        parts: row::read_json("parts", &get::<String>(row, "parts")?)?,
        state: row::read_word("state", get(row, "state")?)?,
        reason: reason
            .map(|reason| row::read_text("reason", reason))
            .transpose()?,
        since: row::read_time(get(row, "queued_at")?)?,
    })
}
