//! What is said in a room. The newest are kept; writers may change and remove what they said.

use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Map, Value as Json};
use sqlx::any::AnyRow;
use uuid::Uuid;

use super::Rooms;
use crate::{
    StoreError,
    database::next_id,
    row::{self, get},
};

/// Kept for each room.
const KEPT: i64 = 5_000;

#[derive(Clone, Debug, PartialEq)]
pub struct NewRoomMessage {
    pub identity: String,
    /// A model's answer, not a client's request.
    pub is_response: bool,
    /// It waits until the room's host submits.
    pub waiting: bool,
    pub body: Map<String, Json>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RoomMessage {
    pub id: Uuid,
    pub identity: String,
    pub is_response: bool,
    pub body: Map<String, Json>,
    pub at: Timestamp,
    pub edited_at: Option<Timestamp>,
}

impl Rooms<'_> {
    /// The room is not looked for: what is said in none is found by nobody.
    pub async fn say(
        &self,
        room: &str,
        message: NewRoomMessage,
    ) -> Result<RoomMessage, StoreError> {
        let mut writer = self.begin().await?;
        let position = next_id(writer.connection(), "room_message").await?;
        let (id, now) = (Uuid::now_v7(), row::now());
        sqlx::query(
            "INSERT INTO room_message
             (room, id, position, identity, is_response, waiting, body, written_at)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
        )
        .bind(room.to_owned())
        .bind(id.to_string())
        .bind(position)
        .bind(message.identity.clone())
        .bind(row::flag(message.is_response))
        .bind(row::flag(message.waiting))
        .bind(row::json("room message", &message.body)?)
        .bind(now)
        .execute(writer.connection())
        .await?;
        sqlx::query(
            "DELETE FROM room_message WHERE room = $1 AND position <=
             (SELECT position FROM room_message WHERE room = $1
              ORDER BY position DESC LIMIT 1 OFFSET $2)",
        )
        .bind(room.to_owned())
        .bind(KEPT)
        .execute(writer.connection())
        .await?;
        writer.commit().await?;
        Ok(RoomMessage {
            id,
            identity: message.identity,
            is_response: message.is_response,
            body: message.body,
            at: row::read_time(now)?,
            edited_at: None,
        })
    }

    /// The newest `limit`, oldest first.
    pub async fn messages(&self, room: &str, limit: u32) -> Result<Vec<RoomMessage>, StoreError> {
        let rows = sqlx::query(
            "SELECT * FROM room_message WHERE room = $1 ORDER BY position DESC LIMIT $2",
        )
        .bind(room.to_owned())
        .bind(i64::from(limit))
        .fetch_all(&self.0.readers)
        .await?;
        rows.iter().rev().map(read).collect()
    }

    pub async fn message(&self, room: &str, id: Uuid) -> Result<Option<RoomMessage>, StoreError> {
        let row = sqlx::query("SELECT * FROM room_message WHERE room = $1 AND id = $2")
            .bind(room.to_owned())
            .bind(id.to_string())
            .fetch_optional(&self.0.readers)
            .await?;
        row.as_ref().map(read).transpose()
    }

    /// Lays `fields` over the message; the whole of it, or `None` if there is no such message.
    pub async fn edit(
        &self,
        room: &str,
        id: Uuid,
        fields: Map<String, Json>,
    ) -> Result<Option<RoomMessage>, StoreError> {
        let mut writer = self.begin().await?;
        // Written first, so that the row is ours until the end.
        let row = sqlx::query(
            "UPDATE room_message SET edited_at = $3 WHERE room = $1 AND id = $2 RETURNING *",
        )
        .bind(room.to_owned())
        .bind(id.to_string())
        .bind(row::now())
        .fetch_optional(writer.connection())
        .await?;
        let Some(mut message) = row.as_ref().map(read).transpose()? else {
            writer.rollback().await?;
            return Ok(None);
        };
        message.body.extend(fields);
        sqlx::query("UPDATE room_message SET body = $3 WHERE room = $1 AND id = $2")
            .bind(room.to_owned())
            .bind(id.to_string())
            .bind(row::json("room message", &message.body)?)
            .execute(writer.connection())
            .await?;
        writer.commit().await?;
        Ok(Some(message))
    }

    /// Which of them were there.
    pub async fn remove(&self, room: &str, ids: &[Uuid]) -> Result<Vec<Uuid>, StoreError> {
        let mut writer = self.begin().await?;
        let mut removed = Vec::new();
        for id in ids {
            let delete = sqlx::query("DELETE FROM room_message WHERE room = $1 AND id = $2");
            let delete = delete.bind(room.to_owned()).bind(id.to_string());
            if delete.execute(writer.connection()).await?.rows_affected() > 0 {
                removed.push(*id);
            }
        }
        writer.commit().await?;
        Ok(removed)
    }

    /// All requests, or all responses; how many there were.
    pub async fn clear(&self, room: &str, responses: bool) -> Result<u64, StoreError> {
        let mut writer = self.0.writer().await?;
        let cleared = sqlx::query("DELETE FROM room_message WHERE room = $1 AND is_response = $2")
            .bind(room.to_owned())
            .bind(row::flag(responses))
            .execute(writer.connection())
            .await?;
        writer.release();
        Ok(cleared.rows_affected())
    }

    /// What waits for the host, which then waits no longer; oldest first.
    pub async fn submit(&self, room: &str) -> Result<Vec<RoomMessage>, StoreError> {
        let mut writer = self.begin().await?;
        let rows = sqlx::query(
            "SELECT * FROM room_message WHERE room = $1 AND waiting = 1 ORDER BY position",
        )
        .bind(room.to_owned())
        .fetch_all(writer.connection())
        .await?;
        sqlx::query("UPDATE room_message SET waiting = 0 WHERE room = $1 AND waiting = 1")
            .bind(room.to_owned())
            .execute(writer.connection())
            .await?;
        writer.commit().await?;
        rows.iter().map(read).collect()
    }
}

fn read(row: &AnyRow) -> Result<RoomMessage, StoreError> {
    let edited_at: Option<i64> = get(row, "edited_at")?;
    Ok(RoomMessage {
        id: row::read_uuid(get(row, "id")?)?,
        identity: get(row, "identity")?,
        is_response: row::read_flag(get(row, "is_response")?),
        body: row::read_json("room message", get(row, "body")?)?,
        at: row::read_time(get(row, "written_at")?)?,
        edited_at: edited_at.map(row::read_time).transpose()?,
    })
}
