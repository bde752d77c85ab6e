//! The session's log: every message in and out, and the system rows. It only grows.

use callgate_contract::{Part, SessionKey};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sqlx::{AnyConnection, any::AnyRow};

use crate::{
    StoreError,
    database::{Database, next_id},
    row::{self, get},
};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LogRole {
    User,
    Assistant,
    System,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LogRow {
    /// Ascending within the store.
    pub id: i64,
    pub session: SessionKey,
    pub role: LogRole,
    pub parts: Vec<Part>,
    pub at: Timestamp,
}

pub struct Log<'a>(pub(crate) &'a Database);

impl Log<'_> {
    /// Returns the row's id.
    pub async fn append(
        &self,
        session: &SessionKey,
        role: LogRole,
        parts: &[Part],
    ) -> Result<i64, StoreError> {
        let mut writer = self.0.writer().await?;
        writer.begin().await?;
        let id = append(writer.connection(), session, role, parts).await?;
        writer.commit().await?;
        Ok(id)
    }

    /// The newest `limit` rows, oldest first.
    pub async fn list(&self, session: &SessionKey, limit: u32) -> Result<Vec<LogRow>, StoreError> {
        let select = sqlx::query(
            "SELECT id, session, role, parts, written_at FROM log
             WHERE session = $1 ORDER BY id DESC LIMIT $2",
        );
        let rows = select
            .bind(session.to_string())
            .bind(i64::from(limit))
            .fetch_all(&self.0.readers)
            .await?;
        rows.iter().rev().map(read).collect()
    }
}

pub(crate) async fn append(
    connection: &mut AnyConnection,
    session: &SessionKey,
    role: LogRole,
    parts: &[Part],
) -> Result<i64, StoreError> {
    let id = next_id(connection, "log").await?;
    sqlx::query(
        "INSERT INTO log (id, session, role, parts, written_at) VALUES ($1, $2, $3, $4, $5)",
    )
    .bind(id)
    .bind(session.to_string())
    .bind(row::word(role)?)
    .bind(row::json("parts", &parts)?)
    .bind(row::now())
    .execute(connection)
    .await?;
    Ok(id)
}

fn read(row: &AnyRow) -> Result<LogRow, StoreError> {
    Ok(LogRow {
        id: get(row, "id")?,
        session: row::read_session(get(row, "session")?)?,
        role: row::read_word("role", get(row, "role")?)?,
        parts: row::read_json("parts", get(row, "parts")?)?,
        at: row::read_time(get(row, "written_at")?)?,
    })
}
