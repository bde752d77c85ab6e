//! Clients that came without a key and asked to be let in, and what the operator said. Only
//! pending ones can grow in number by themselves; the oldest make room for new ones.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{
    StoreError,
    client_names::{self, NameOf},
    database::Database,
    row::{self, get},
    tx::{Row, Tx, parameters},
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
        let (id, kind) = (client.id.to_owned(), client.kind.to_owned());
        let description = client.description.as_bytes().to_vec();
        let origin = client.origin.map(str::to_owned);
        self.0
            .write(move |tx| {
                tx.execute(
                    "INSERT INTO client (id, kind, description, origin, state, asked_at)
                     VALUES (?1, ?2, ?3, ?4, 'pending', ?5)
                     ON CONFLICT (id) DO UPDATE SET
                         kind = excluded.kind, description = excluded.description,
                         origin = excluded.origin, asked_at = excluded.asked_at
                     WHERE client.state = 'pending'",
                    parameters![id, kind, description, origin, row::now()],
                )?;
                tx.execute(
                    "DELETE FROM client WHERE state = 'pending' AND id NOT IN (
                         SELECT id FROM client WHERE state = 'pending'
                         ORDER BY asked_at DESC, id LIMIT ?1)",
                    parameters![MAX_PENDING],
                )?;
                find(tx, &id)?.ok_or(StoreError::UnknownClient(id))
            })
            .await
    }

    pub async fn find(&self, id: &str) -> Result<Option<Client>, StoreError> {
        let id = id.to_owned();
        self.0.read(move |tx| find(tx, &id)).await
    }

    /// Latest first.
    pub async fn list(&self) -> Result<Vec<Client>, StoreError> {
        self.0
            .read(|tx| {
                let rows = tx.query("SELECT * FROM client ORDER BY asked_at DESC, id", &[])?;
                rows.iter().map(read).collect()
            })
            .await
    }

    /// From now on the state is that of this key and of no other. False if it was given for another
    /// origin than the client's, or the client was shut out meanwhile.
    pub async fn hold(&self, client: NewClient<'_>, key: &str) -> Result<bool, StoreError> {
        let (id, key) = (client.id.to_owned(), key.to_owned());
        let origin = client.origin.unwrap_or_default().to_owned();
        self.0
            .write(move |tx| {
                let hold = "UPDATE client SET key = ?2 WHERE id = ?1 AND state <> 'revoked'
                            AND COALESCE(origin, '') = ?3";
                Ok(tx.writes_one(hold, parameters![id, key, origin])?)
            })
            .await
    }

    /// The operator's answer, whatever it was before. Who is approved has its name from then on; it
    /// fails if the name is somebody else's by now.
    pub async fn decide(&self, id: &str, state: ClientState) -> Result<(), StoreError> {
        let id = id.to_owned();
        self.0
            .write(move |tx| {
                let decide = "UPDATE client SET state = ?2, decided_at = ?3 WHERE id = ?1";
                if !tx.writes_one(decide, parameters![id, row::word(state)?, row::now()])? {
                    return Err(StoreError::UnknownClient(id));
                }
                match state {
                    ClientState::Approved => {
                        let owner = client_names::client_owner(&id);
                        client_names::claim(tx, &id, NameOf::Client, &owner)
                    }
                    ClientState::Pending | ClientState::Revoked => Ok(()),
                }
            })
            .await
    }
}

fn find(tx: &mut dyn Tx, id: &str) -> Result<Option<Client>, StoreError> {
    let row = tx.query_optional("SELECT * FROM client WHERE id = ?1", parameters![id])?;
    row.as_ref().map(read).transpose()
}

fn read(row: &Row) -> Result<Client, StoreError> {
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
