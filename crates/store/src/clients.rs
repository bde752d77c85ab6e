//! Clients that came without a key and asked to be let in, and what the operator said. Only
//! pending ones can grow in number by themselves; the oldest make room for new ones.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sqlx::any::AnyRow;

use crate::{
    StoreError,
    database::Database,
    row::{self, get},
};

/// Clients that wait for an answer.
const MAX_PENDING: i64 = 256;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClientState {
    Pending,
    Approved,
    Revoked,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Client {
    pub id: String,
    /// What it says it is.
    pub kind: String,
    pub description: String,
    /// The page it came from; `None` for a program.
    pub origin: Option<String>,
    pub state: ClientState,
    pub asked_at: Timestamp,
    pub decided_at: Option<Timestamp>,
}

/// A client that asks.
#[derive(Clone, Copy, Debug)]
pub struct NewClient<'a> {
    pub id: &'a str,
    pub kind: &'a str,
    pub description: &'a str,
    pub origin: Option<&'a str>,
}

pub struct Clients<'a>(pub(crate) &'a Database);

impl Clients<'_> {
    /// Notes that the client asks. One that was decided on keeps its state and its origin.
    pub async fn ask(&self, client: NewClient<'_>) -> Result<Client, StoreError> {
        let mut writer = self.0.writer().await?;
        writer.begin().await?;
        let insert = sqlx::query(
            "INSERT INTO client (id, kind, description, origin, state, asked_at)
             VALUES ($1, $2, $3, $4, 'pending', $5)
             ON CONFLICT (id) DO UPDATE SET
                 kind = excluded.kind, description = excluded.description,
                 origin = excluded.origin, asked_at = excluded.asked_at
             WHERE client.state = 'pending'",
        )
        .bind(client.id.to_owned())
        .bind(client.kind.to_owned())
        .bind(client.description.as_bytes().to_vec())
        .bind(client.origin.map(str::to_owned))
        .bind(row::now());
        insert.execute(writer.connection()).await?;
        let crowd = sqlx::query(
            "DELETE FROM client WHERE state = 'pending' AND id NOT IN (
                 SELECT id FROM client WHERE state = 'pending'
                 ORDER BY asked_at DESC, id LIMIT $1)",
        );
        crowd.bind(MAX_PENDING).execute(writer.connection()).await?;
        writer.commit().await?;
        let found = self.find(client.id).await?;
        found.ok_or_else(|| StoreError::UnknownClient(client.id.to_owned()))
    }

    pub async fn find(&self, id: &str) -> Result<Option<Client>, StoreError> {
        let row = sqlx::query("SELECT * FROM client WHERE id = $1")
            .bind(id.to_owned())
            .fetch_optional(&self.0.readers)
            .await?;
        row.as_ref().map(read).transpose()
    }

    /// Latest first.
    pub async fn list(&self) -> Result<Vec<Client>, StoreError> {
        let rows = sqlx::query("SELECT * FROM client ORDER BY asked_at DESC, id")
            .fetch_all(&self.0.readers)
            .await?;
        rows.iter().map(read).collect()
    }

    /// The operator's answer, whatever it was before.
    pub async fn decide(&self, id: &str, state: ClientState) -> Result<(), StoreError> {
        let mut writer = self.0.writer().await?;
        let decided = sqlx::query("UPDATE client SET state = $2, decided_at = $3 WHERE id = $1")
            .bind(id.to_owned())
            .bind(row::word(state)?)
            .bind(row::now())
            .execute(writer.connection())
            .await?;
        writer.release();
        match decided.rows_affected() {
            0 => Err(StoreError::UnknownClient(id.to_owned())),
            _ => Ok(()),
        }
    }
}

fn read(row: &AnyRow) -> Result<Client, StoreError> {
    let decided_at: Option<i64> = get(row, "decided_at")?;
    Ok(Client {
        id: get(row, "id")?,
        kind: get(row, "kind")?,
        description: row::read_text("description", get(row, "description")?)?,
        origin: get(row, "origin")?,
        state: row::read_word("state", get(row, "state")?)?,
        asked_at: row::read_time(get(row, "asked_at")?)?,
        decided_at: decided_at.map(row::read_time).transpose()?,
    })
}
