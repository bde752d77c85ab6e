//! Access keys. The text of a key is shown once, when it is made; only its hash is kept, so a
//! stolen database opens no door.

mod handle;

use jiff::Timestamp;
use serde::Serialize;
use sqlx::any::AnyRow;

use crate::{
    StoreError,
    client_names::{self, NameOf},
    connection::Connection,
    database::Database,
    row::{self, get},
};

pub(crate) use handle::Handles;
pub use handle::KeyHandle;

/// Marks our keys for people and for secret scanners.
const PREFIX: &str = "callgate_";

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Key {
    pub id: String,
    pub scopes: Vec<String>,
    /// The remote client that alone may use it; `None` leaves the name to whoever holds it.
    pub client: Option<String>,
    pub created_at: Timestamp,
    pub revoked_at: Option<Timestamp>,
}

pub struct Keys<'a>(pub(crate) &'a Database);

impl Keys<'_> {
    /// The key's id, and its text, which cannot be had again.
    pub async fn create(&self, scopes: &[String]) -> Result<(String, String), StoreError> {
        self.create_for(scopes, None).await
    }

    /// The same, for one remote client alone, whose name is from now on its own, whoever had it.
    pub async fn create_for(
        &self,
        scopes: &[String],
        client: Option<&str>,
    ) -> Result<(String, String), StoreError> {
        let mut writer = self.0.writer().await?;
        writer.begin().await?;
        let made = insert(writer.connection(), scopes, client).await?;
        if let Some(client) = client {
            let owner = client_names::client_owner(client);
            client_names::assign(writer.connection(), client, NameOf::Client, &owner).await?;
        }
        writer.commit().await?;
        Ok(made)
    }

    /// One for a client that only asks to be let in: it gives no right to the client's name.
    pub async fn create_asking(
        &self,
        scopes: &[String],
        client: &str,
    ) -> Result<(String, String), StoreError> {
        let mut writer = self.0.writer().await?;
        let made = insert(writer.connection(), scopes, Some(client)).await?;
        writer.release();
        Ok(made)
    }

    /// The key of this text, unless it was revoked. The lookup is by hash: how long it takes
    /// tells nothing about the key, whose 256 bits nobody guesses by prefix.
    pub async fn verify(&self, text: &str) -> Result<Option<Key>, StoreError> {
        let row = sqlx::query("SELECT * FROM access_key WHERE hash = $1 AND revoked_at IS NULL")
            .bind(row::hash(text.as_bytes()))
            .fetch_optional(&self.0.readers)
            .await?;
        row.as_ref().map(read).transpose()
    }

    /// For what stays open after the key was verified, and must end with it.
    pub fn handle(&self, id: &str) -> KeyHandle {
        self.0.key_handles.open(&self.0.readers, id)
    }

    /// Oldest first, the revoked included.
    pub async fn list(&self) -> Result<Vec<Key>, StoreError> {
        let rows = sqlx::query("SELECT * FROM access_key ORDER BY created_at, id")
            .fetch_all(&self.0.readers)
            .await?;
        rows.iter().map(read).collect()
    }

    /// Those of one remote client that are valid, oldest first.
    pub async fn of_client(&self, client: &str) -> Result<Vec<Key>, StoreError> {
        let rows = sqlx::query(
            "SELECT * FROM access_key WHERE client = $1 AND revoked_at IS NULL
             ORDER BY created_at, id",
        )
        .bind(client.to_owned())
        .fetch_all(&self.0.readers)
        .await?;
        rows.iter().map(read).collect()
    }

    /// What hangs on the key ends. Revoking twice is an error: the second caller meant another key.
    pub async fn revoke(&self, id: &str) -> Result<(), StoreError> {
        let mut writer = self.0.writer().await?;
        let revoked = sqlx::query(
            "UPDATE access_key SET revoked_at = $2 WHERE id = $1 AND revoked_at IS NULL",
        )
        .bind(id.to_owned())
        .bind(row::now())
        .execute(writer.connection())
        .await?;
        writer.release();
        match revoked.rows_affected() {
            0 => Err(StoreError::UnknownKey(id.to_owned())),
            _ => {
                self.0.key_handles.revoked(id);
                Ok(())
            }
        }
    }
}

async fn insert(
    connection: &mut Connection,
    scopes: &[String],
    client: Option<&str>,
) -> Result<(String, String), StoreError> {
    let id = row::hex(&random::<6>()?);
    let text = new_key_text()?;
    sqlx::query(
        "INSERT INTO access_key (id, hash, scopes, created_at, client)
         VALUES ($1, $2, $3, $4, $5)",
    )
    .bind(id.clone())
    .bind(row::hash(text.as_bytes()))
    .bind(row::json("scopes", &scopes)?)
    .bind(row::now())
    .bind(client.map(str::to_owned))
    .execute(connection)
    .await?;
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

fn read(row: &AnyRow) -> Result<Key, StoreError> {
    let revoked_at: Option<i64> = get(row, "revoked_at")?;
    Ok(Key {
        id: get(row, "id")?,
        scopes: row::read_json("scopes", get(row, "scopes")?)?,
        client: get(row, "client")?,
        created_at: row::read_time(get(row, "created_at")?)?,
        revoked_at: revoked_at.map(row::read_time).transpose()?,
    })
}
