//! What is said in a room. The newest are kept; writers may change and remove what they said.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Map, Value as Json};
use uuid::Uuid;

use super::Rooms;
use crate::{
    StoreError,
    row::{self, get},
    tx::{Row, parameters},
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
        let room = room.to_owned();
        self.0
            .write(move |tx| {
                let (id, now) = (Uuid::now_v7(), row::now());
                let NewRoomMessage {
                    identity,
                    is_response,
                    waiting,
                    body,
                } = message;
                let text = row::json("room message", &body)?;
                tx.execute(
                    "INSERT INTO room_message
                     (room, id, identity, is_response, waiting, body, written_at)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
                    parameters![
                        room,
                        id.to_string(),
                        identity,
                        is_response,
                        waiting,
                        text,
                        now
                    ],
                )?;
                tx.execute(
                    "DELETE FROM room_message WHERE room = ?1 AND position <=
                     (SELECT position FROM room_message WHERE room = ?1
                      ORDER BY position DESC LIMIT 1 OFFSET ?2)",
                    parameters![room, KEPT],
                )?;
                Ok(RoomMessage {
                    id,
                    identity,
                    is_response,
                    body,
                    at: row::read_time(now)?,
                    edited_at: None,
                })
            })
            .await
    }

    /// The newest `limit`, oldest first.
    pub async fn messages(&self, room: &str, limit: u32) -> Result<Vec<RoomMessage>, StoreError> {
        let room = room.to_owned();
        self.0
            .read(move |tx| {
                let select = "SELECT * FROM room_message WHERE room = ?1
                              ORDER BY position DESC LIMIT ?2";
                let rows = tx.query(select, parameters![room, limit])?;
                rows.iter().rev().map(read).collect()
            })
            .await
    }

    pub async fn message(&self, room: &str, id: Uuid) -> Result<Option<RoomMessage>, StoreError> {
        let room = room.to_owned();
        self.0
            .read(move |tx| {
                let select = "SELECT * FROM room_message WHERE room = ?1 AND id = ?2";
                let row = tx.query_optional(select, parameters![room, id.to_string()])?;
                row.as_ref().map(read).transpose()
            })
            .await
    }

    /// Lays `fields` over the message; the whole of it, or `None` if there is no such message.
    pub async fn edit(
        &self,
        room: &str,
        id: Uuid,
        fields: Map<String, Json>,
    ) -> Result<Option<RoomMessage>, StoreError> {
        let (room, id) = (room.to_owned(), id.to_string());
        self.0
            .write(move |tx| {
                // Written first, so that the row is ours until the end.
                let edit = "UPDATE room_message SET edited_at = ?3
                            WHERE room = ?1 AND id = ?2 RETURNING *";
                let Some(row) = tx.query_optional(edit, parameters![room, id, row::now()])? else {
                    return Ok(None);
                };
                let mut message = read(&row)?;
                message.body.extend(fields);
                let body = row::json("room message", &message.body)?;
                let write = "UPDATE room_message SET body = ?3 WHERE room = ?1 AND id = ?2";
                tx.execute(write, parameters![room, id, body])?;
                Ok(Some(message))
            })
            .await
    }

    /// Which of them were there.
    pub async fn remove(&self, room: &str, ids: &[Uuid]) -> Result<Vec<Uuid>, StoreError> {
        let (room, ids) = (room.to_owned(), ids.to_vec());
        self.0
            .write(move |tx| {
                let mut removed = Vec::new();
                for id in ids {
                    let remove = "DELETE FROM room_message WHERE room = ?1 AND id = ?2";
                    if tx.writes_one(remove, parameters![room, id.to_string()])? {
                        removed.push(id);
                    }
                }
                Ok(removed)
            })
            .await
    }

    /// All requests, or all responses; how many there were.
    pub async fn clear(&self, room: &str, responses: bool) -> Result<u64, StoreError> {
        let room = room.to_owned();
        self.0
            .write(move |tx| {
                let clear = "DELETE FROM room_message WHERE room = ?1 AND is_response = ?2";
                Ok(tx.execute(clear, parameters![room, responses])?)
            })
            .await
    }

    /// What waits for the host, which then waits no longer; oldest first.
    pub async fn submit(&self, room: &str) -> Result<Vec<RoomMessage>, StoreError> {
        let room = room.to_owned();
        self.0
            .write(move |tx| {
                let submit = "UPDATE room_message SET waiting = 0
                              WHERE room = ?1 AND waiting = 1 RETURNING *";
                let rows = tx.query(submit, parameters![room])?;
                // They come back in no order.
                let placed = rows
                    .iter()
                    .map(|row| Ok((get::<i64>(row, "position")?, read(row)?)));
                let placed: BTreeMap<_, _> = placed.collect::<Result<_, StoreError>>()?;
                Ok(placed.into_values().collect())
            })
            .await
    }
}

fn read(row: &Row) -> Result<RoomMessage, StoreError> {
    let edited_at: Option<i64> = get(row, "edited_at")?;
    let id: String = get(row, "id")?;
    Ok(RoomMessage {
        id: id
            .parse()
            .map_err(|error| StoreError::damaged("room message", error))?,
        identity: get(row, "identity")?,
        is_response: row::read_flag(get(row, "is_response")?),
        body: row::read_json("room message", &get::<String>(row, "body")?)?,
        at: row::read_time(get(row, "written_at")?)?,
        edited_at: edited_at.map(row::read_time).transpose()?,
    })
}
