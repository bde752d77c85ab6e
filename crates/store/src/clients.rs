//! Clients that came without a key and asked to be let in, and what the operator said. Only
//! pending ones can grow in number by themselves; the oldest make room for new ones.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sqlx::any::AnyRow;

use crate::{
    StoreError,
    client_names::{self, NameOf},
    connection::Connection,
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
    /// The id of the key that this is about: what it is worth, the state says.
    #[serde(skip)]
    pub key: Option<String>,
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

    /// From now on the state is that of this key and of no other. False if it was given for another
    /// origin than the client's, or the client was shut out meanwhile.
    pub async fn hold(&self, client: NewClient<'_>, key: &str) -> Result<bool, StoreError> {
        let mut writer = self.0.writer().await?;
        let held = sqlx::query(
            "UPDATE client SET key = $2 WHERE id = $1 AND state <> 'revoked'
             AND COALESCE(origin, '') = $3",
        )
        .bind(client.id.to_owned())
        .bind(key.to_owned())
        .bind(client.origin.unwrap_or_default().to_owned())
        .execute(writer.connection())
        .await?;
        writer.release();
        Ok(held.rows_affected() > 0)
    }

    /// The operator's answer, whatever it was before. Who is approved has its name from then on; it
    /// fails if the name is somebody else's by now.
    pub async fn decide(&self, id: &str, state: ClientState) -> Result<(), StoreError> {
        let mut writer = self.0.writer().await?;
        writer.begin().await?;
        let decided = decide(writer.connection(), id, state).await;
        match decided {
            Ok(()) => writer.commit().await,
            Err(error) => {
                writer.rollback().await?;
                Err(error)
            }
        }
    }
}

async fn decide(
    connection: &mut Connection,
    id: &str,
    state: ClientState,
) -> Result<(), StoreError> {
    let decided = sqlx::query("UPDATE client SET state = $2, decided_at = $3 WHERE id = $1")
        .bind(id.to_owned())
        .bind(row::word(state)?)
        .bind(row::now())
        .execute(&mut *connection)
        .await?;
    if decided.rows_affected() == 0 {
        return Err(StoreError::UnknownClient(id.to_owned()));
    }
    match state {
        ClientState::Approved => {
            let owner = client_names::client_owner(id);
            client_names::claim(connection, id, NameOf::Client, &owner).await
        }
        ClientState::Pending | ClientState::Revoked => Ok(()),
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
        key: get(row, "key")?,
        asked_at: row::read_time(get(row, "asked_at")?)?,
        decided_at: decided_at.map(row::read_time).transpose()?,
    })
}
