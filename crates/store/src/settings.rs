//! Settings that people change while the product runs: each session's, and the operator's for all.
//! Changes of one session's settings never lose each other.

mod cache;

use callgate_contract::{Mode, SessionKey};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::Value as Json;

use crate::{
    StoreError,
    database::Database,
    row::{self, get},
    tx::{Row, parameters},
};

pub(crate) use self::cache::SettingsCache;

pub(crate) const DEFAULT_PERSONA: &str = "persona.default";

/// What was chosen in one session; `None` leaves it to the operator's settings.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default)]
pub struct SessionSettings {
    pub model: Option<String>,
    pub persona: Option<String>,
    pub mode: Option<Mode>,
    /// When to answer, in the agent's own shape.
    pub answer: Option<Json>,
    /// How often and at which hours to speak unasked, in the agent's own shape.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pace: Option<Json>,
    /// Messages are stored and never answered.
    pub muted: bool,
    /// What the chat is called, as its platform says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chat_name: Option<String>,
}

/// Settings with the number of changes they have seen.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Versioned<T> {
    pub version: u64,
    pub value: T,
}

pub struct Settings<'a>(pub(crate) &'a Database);

impl Settings<'_> {
    pub async fn session(
        &self,
        session: &SessionKey,
    ) -> Result<Versioned<SessionSettings>, StoreError> {
        let cache = &self.0.settings.sessions;
        let key = session.to_string();
        let before = match cache.get(&key, self.0.is_shared()) {
            Ok(known) => return Ok(known),
            Err(before) => before,
        };
        let session = key.clone();
        let read = self.0.read(move |tx| {
            let select = "SELECT value, version FROM session_setting WHERE session = ?1";
            let row = tx.query_optional(select, parameters![session])?;
            row.as_ref().map_or_else(|| Ok(Versioned::default()), read)
        });
        let settings = read.await?;
        cache.put(key, settings.clone(), before);
        Ok(settings)
    }

    /// Reads, changes and writes in one transaction, whoever else does the same.
    pub async fn change_session(
        &self,
        session: &SessionKey,
        change: impl FnOnce(&mut SessionSettings) + Send + 'static,
    ) -> Result<Versioned<SessionSettings>, StoreError> {
        let session = session.to_string();
        let key = session.clone();
        let changed = self
            .0
            .write(move |tx| {
                // Written first, so that the row is ours until the end.
                let row = tx.query_one(
                    "INSERT INTO session_setting (session, value, version) VALUES (?1, '{}', 1)
                     ON CONFLICT (session) DO UPDATE SET version = session_setting.version + 1
                     RETURNING value, version",
                    parameters![session],
                )?;
                let mut settings = read(&row)?;
                change(&mut settings.value);
                let value = row::json("settings", &settings.value)?;
                let write = "UPDATE session_setting SET value = ?2 WHERE session = ?1";
                tx.execute(write, parameters![session, value])?;
                Ok(settings)
            })
            .await;
        self.0.settings.sessions.forget(&key);
        changed
    }

    /// A setting of the operator's, for all sessions.
    pub async fn get<T: DeserializeOwned>(&self, name: &str) -> Result<Option<T>, StoreError> {
        let value = self.text(name).await?;
        let read = |value: String| row::read_json("setting", &value);
        value.map(read).transpose()
    }

    async fn text(&self, name: &str) -> Result<Option<String>, StoreError> {
        let cache = &self.0.settings.operator;
        let before = match cache.get(name, self.0.is_shared()) {
            Ok(known) => return Ok(known),
            Err(before) => before,
        };
        let key = name.to_owned();
        let select = "SELECT value FROM setting WHERE name = ?1";
        let read = self.0.read(move |tx| tx.scalar(select, parameters![key]));
        let value: Option<String> = read.await?;
        cache.put(name.to_owned(), value.clone(), before);
        Ok(value)
    }

    pub async fn set<T: Serialize>(&self, name: &str, value: &T) -> Result<(), StoreError> {
        let (key, value) = (name.to_owned(), row::json("setting", value)?);
        let set = self
            .0
            .write(move |tx| {
                tx.execute(
                    "INSERT INTO setting (name, value) VALUES (?1, ?2)
                     ON CONFLICT (name) DO UPDATE SET value = excluded.value",
                    parameters![key, value],
                )?;
                Ok(())
            })
            .await;
        self.0.settings.operator.forget(name);
        set
    }

    /// Removing what was never set is harmless.
    pub async fn remove(&self, name: &str) -> Result<(), StoreError> {
        let key = name.to_owned();
        let removed = self
            .0
            .write(move |tx| {
                tx.execute("DELETE FROM setting WHERE name = ?1", parameters![key])?;
                Ok(())
            })
            .await;
        self.0.settings.operator.forget(name);
        removed
    }
}

fn read(row: &Row) -> Result<Versioned<SessionSettings>, StoreError> {
    Ok(Versioned {
        version: row::read_count("version", get(row, "version")?)?,
        value: row::read_json("settings", &get::<String>(row, "value")?)?,
    })
}
