//! Sessions: the uuid that names a session's folders and the number that is its user id in the
//! jail. A key is never a path.

use callgate_contract::SessionKey;
use serde::Serialize;
use sqlx::any::AnyRow;
use uuid::Uuid;

use crate::{
    StoreError,
    database::{Database, next_id},
    row::{self, get},
};

/// Numbers run from 1 to this and then begin again: user ids are finite. Two sessions of one
/// number share a user id and nothing else; no run is given more than its own session's folders.
pub(crate) const MAX_NUMBER: i64 = 60_000;

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Session {
    pub key: SessionKey,
    pub id: Uuid,
    pub number: u32,
}

pub struct Sessions<'a>(pub(crate) &'a Database);

impl Sessions<'_> {
    /// The session, made now if it is new.
    pub async fn open(&self, key: &SessionKey) -> Result<Session, StoreError> {
        if let Some(session) = self.get(key).await? {
            return Ok(session);
        }
        let mut writer = self.0.writer().await?;
        writer.begin().await?;
        let counted = next_id(writer.connection(), "session").await?;
        let made = sqlx::query(
            "INSERT INTO session (session, id, number, created_at) VALUES ($1, $2, $3, $4)
             ON CONFLICT (session) DO NOTHING",
        )
        .bind(key.to_string())
        .bind(Uuid::now_v7().to_string())
        .bind((counted - 1) % MAX_NUMBER + 1)
        .bind(row::now())
        .execute(writer.connection())
        .await?;
        let row = sqlx::query("SELECT session, id, number FROM session WHERE session = $1")
            .bind(key.to_string())
            .fetch_one(writer.connection())
            .await?;
        match made.rows_affected() {
            // Another was first: its row is the session, and the number stays for the next.
            0 => writer.rollback().await?,
            _ => writer.commit().await?,
        }
        read(&row)
    }

    pub async fn get(&self, key: &SessionKey) -> Result<Option<Session>, StoreError> {
        let row = sqlx::query("SELECT session, id, number FROM session WHERE session = $1")
            .bind(key.to_string())
            .fetch_optional(&self.0.readers)
            .await?;
        row.as_ref().map(read).transpose()
    }

    /// In order of creation.
    pub async fn list(&self) -> Result<Vec<Session>, StoreError> {
        let rows = sqlx::query("SELECT session, id, number FROM session ORDER BY id")
            .fetch_all(&self.0.readers)
            .await?;
        rows.iter().map(read).collect()
    }
}

fn read(row: &AnyRow) -> Result<Session, StoreError> {
    let number: i64 = get(row, "number")?;
    Ok(Session {
        key: row::read_session(get(row, "session")?)?,
        id: row::read_uuid(get(row, "id")?)?,
        number: u32::try_from(number).map_err(|e| StoreError::damaged("session number", e))?,
    })
}
