//! [`Login`]: a session of the page, begun with a key. The text in its cookie opens nothing as a key, nor
//! a key's text as a cookie. It ends by itself, by logging out, and with its key.

use std::sync::Arc;

use super::{Key, KeyHandle, VALID, handle, random, read, uses};
use crate::{
    StoreError,
    database::Database,
    row::{self, get},
    tx::parameters,
};

/// For so long the page is not asked for a key again.
const LASTS: i64 = 30 * 24 * 3_600 * 1_000;
/// Of one key; the oldest make room.
const MOST: i64 = 64;

#[derive(Clone, Debug)]
pub struct Login {
    pub id: String,
    /// By which it was begun.
    pub key: Key,
}

pub struct Logins<'a>(pub(crate) &'a Arc<Database>);

impl Logins<'_> {
    /// Returns the text for the cookie, which cannot be had again.
    pub async fn begin(&self, key: &Key) -> Result<String, StoreError> {
        let id = format!("login-{}", row::hex(&random::<6>()?));
        let text = format!("login_{}", row::hex(&random::<32>()?));
        let (hash, key) = (row::hash(text.as_bytes()), key.id.clone());
        self.0
            .write(move |tx| {
                let now = row::now();
                tx.execute("DELETE FROM login WHERE expires_at <= ?1", parameters![now])?;
                tx.execute(
                    "DELETE FROM login WHERE key_id = ?1 AND id NOT IN
                     (SELECT id FROM login WHERE key_id = ?1 ORDER BY created_at DESC, id LIMIT ?2)",
                    parameters![key, MOST - 1],
                )?;
                tx.execute(
                    "INSERT INTO login (id, hash, key_id, created_at, expires_at)
                     VALUES (?1, ?2, ?3, ?4, ?5)",
                    parameters![id, hash, key, now, now + LASTS],
                )?;
                Ok(())
            })
            .await?;
        Ok(text)
    }

    /// The login of this text, unless it or its key is over.
    pub async fn verify(&self, text: &str) -> Result<Option<Login>, StoreError> {
        let hash = row::hash(text.as_bytes());
        let found = self.0.read(move |tx| {
            let now = row::now();
            let select = "SELECT id, key_id FROM login WHERE hash = ?1 AND expires_at > ?2";
            let Some(login) = tx.query_optional(select, parameters![hash, now])? else {
                return Ok(None);
            };
            let key: String = get(&login, "key_id")?;
            let select = format!("SELECT * FROM access_key WHERE {VALID} AND id = ?2");
            let key = tx.query_optional(&select, parameters![now, key])?;
            let login = |key| {
                Ok(Login {
                    id: get(&login, "id")?,
                    key: read(&key)?,
                })
            };
            key.map(login).transpose()
        });
        let found: Option<Login> = found.await?;
        if let Some(login) = &found {
            uses::used(self.0, &login.key.id);
        }
        Ok(found)
    }

    /// What hangs on it ends.
    pub async fn end(&self, id: &str) -> Result<(), StoreError> {
        let login = id.to_owned();
        let delete = "DELETE FROM login WHERE id = ?1";
        self.0
            .write(move |tx| Ok(tx.execute(delete, parameters![login])?))
            .await?;
        self.0.key_handles.ended(id);
        Ok(())
    }

    /// For what stays open after the login was verified, and must end with it.
    pub fn handle(&self, login: &Login) -> KeyHandle {
        handle::open(self.0, &login.id, &login.key.id)
    }
}
