//! Access keys. The text of a key is shown once, when it is made; only its hash is kept, so a
//! stolen database opens no door.

mod began;
mod handle;
mod login;
mod uses;

use std::sync::Arc;

use jiff::Timestamp;
use serde::Serialize;

use crate::{
    StoreError,
    client_names::{self, NameOf},
    database::Database,
    row::{self, get},
    tx::{Row, Tx, parameters},
};

pub(crate) use handle::Handles;
pub use handle::KeyHandle;
pub use login::{Login, Logins};
pub(crate) use uses::Uses;

/// Marks our keys for people and for secret scanners.
const PREFIX: &str = "callgate_";

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Key {
    pub id: String,
    pub scopes: Vec<String>,
    /// The remote client that alone may use it; `None` leaves the name to whoever holds it.
    pub client: Option<String>,
    /// What people call it.
    pub name: Option<String>,
    pub created_at: Timestamp,
    pub revoked_at: Option<Timestamp>,
    /// From then on it opens nothing.
    pub expires_at: Option<Timestamp>,
    /// To the minute.
    pub last_used_at: Option<Timestamp>,
}

/// A key that is to be made.
#[derive(Clone, Debug, Default)]
pub struct NewKey {
    pub scopes: Vec<String>,
    /// The remote client that alone may use it, whose name is from now on its own, whoever had it.
    pub client: Option<String>,
    pub name: Option<String>,
    pub expires_at: Option<Timestamp>,
}

/// What a key is while it opens anything; `?1` is now.
const VALID: &str = "revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?1)";

pub struct Keys<'a>(pub(crate) &'a Arc<Database>);

impl Keys<'_> {
    /// The key's id, and its text, which cannot be had again.
    pub async fn create(&self, scopes: &[String]) -> Result<(String, String), StoreError> {
        let key = NewKey {
            scopes: scopes.to_vec(),
            ..NewKey::default()
        };
        self.create_as(key).await
    }

    /// The same, with all that can be said of it.
    pub async fn create_as(&self, key: NewKey) -> Result<(String, String), StoreError> {
        self.0
            .write(move |tx| {
                let made = insert(tx, &key)?;
                if let Some(client) = key.client {
                    let owner = client_names::client_owner(&client);
                    client_names::assign(tx, &client, NameOf::Client, &owner)?;
                }
                Ok(made)
            })
            .await
    }

    /// One for a client that only asks to be let in: it gives no right to the client's name.
    pub async fn create_asking(
        &self,
        scopes: &[String],
        client: &str,
    ) -> Result<(String, String), StoreError> {
        let key = NewKey {
            scopes: scopes.to_vec(),
            client: Some(client.to_owned()),
            ..NewKey::default()
        };
        self.0.write(move |tx| insert(tx, &key)).await
    }

    /// The key of this text, unless it was revoked or has expired. The lookup is by hash: how long it takes
    /// tells nothing about the key, whose 256 bits nobody guesses by prefix.
    pub async fn verify(&self, text: &str) -> Result<Option<Key>, StoreError> {
        let hash = row::hash(text.as_bytes());
        let found = self.0.read(move |tx| {
            let select = format!("SELECT * FROM access_key WHERE {VALID} AND hash = ?2");
            let row = tx.query_optional(&select, parameters![row::now(), hash])?;
            row.as_ref().map(read).transpose()
        });
        let found = found.await?;
        if let Some(key) = &found {
            uses::used(self.0, &key.id);
        }
        Ok(found)
    }

    /// For what stays open after the key was verified, and must end with it.
    pub fn handle(&self, id: &str) -> KeyHandle {
        handle::open(self.0, id, id)
    }

    /// Oldest first, the revoked included.
    pub async fn list(&self) -> Result<Vec<Key>, StoreError> {
        self.0
            .read(|tx| {
                let rows = tx.query("SELECT * FROM access_key ORDER BY created_at, id", &[])?;
                rows.iter().map(read).collect()
            })
            .await
    }

    /// Those of one remote client that are valid, oldest first.
    pub async fn of_client(&self, client: &str) -> Result<Vec<Key>, StoreError> {
        let client = client.to_owned();
        self.0
            .read(move |tx| {
                let select = format!(
                    "SELECT * FROM access_key WHERE {VALID} AND client = ?2
                     ORDER BY created_at, id"
                );
                let rows = tx.query(&select, parameters![row::now(), client])?;
                rows.iter().map(read).collect()
            })
            .await
    }

    /// What hangs on the key ends. Revoking twice is an error: the second caller meant another key.
    pub async fn revoke(&self, id: &str) -> Result<(), StoreError> {
        let key = id.to_owned();
        self.0
            .write(move |tx| {
                let revoke = "UPDATE access_key SET revoked_at = ?2
                              WHERE id = ?1 AND revoked_at IS NULL";
                if tx.writes_one(revoke, parameters![key, row::now()])? {
                    Ok(())
                } else {
                    Err(StoreError::UnknownKey(key))
                }
            })
            .await?;
        self.0.key_handles.revoked(id);
        Ok(())
    }
}

fn insert(tx: &mut dyn Tx, key: &NewKey) -> Result<(String, String), StoreError> {
    let (id, text) = (row::hex(&random::<6>()?), new_key_text()?);
    let hash = row::hash(text.as_bytes());
    let scopes = row::json("scopes", &key.scopes)?;
    let expires = key.expires_at.map(Timestamp::as_millisecond);
    tx.execute(
        "INSERT INTO access_key (id, hash, scopes, created_at, client, name, expires_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        parameters![id, hash, scopes, row::now(), key.client, key.name, expires],
    )?;
    Ok((id, text))
}

/// The text of a key that nobody has.
pub fn new_key_text() -> Result<String, StoreError> {
    Ok(format!("{PREFIX}{}", row::hex(&random::<32>()?)))
}

fn random<const N: usize>() -> Result<[u8; N], StoreError> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(StoreError::Random)?;
    Ok(bytes)
}

fn read(row: &Row) -> Result<Key, StoreError> {
    let time = |column: &str| {
        let milliseconds: Option<i64> = get(row, column)?;
        milliseconds.map(row::read_time).transpose()
    };
    Ok(Key {
        id: get(row, "id")?,
        scopes: row::read_json("scopes", &get::<String>(row, "scopes")?)?,
        client: get(row, "client")?,
        created_at: row::read_time(get(row, "created_at")?)?,
        name: get(row, "name")?,
        revoked_at: time("revoked_at")?,
        expires_at: time("expires_at")?,
        last_used_at: time("last_used_at")?,
    })
}
