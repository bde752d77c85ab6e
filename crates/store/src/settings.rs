//! Settings that people change while the product runs: each session's, and the operator's for all.
//! Changes of one session's settings never lose each other.

use callgate_contract::{Mode, SessionKey};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::Value as Json;

use crate::{
    StoreError,
    database::Database,
    row::{self, get},
    tx::{Row, parameters},
};

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
    /// Messages are stored and never answered.
    pub muted: bool,
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
        let session = session.to_string();
        self.0
            .read(move |tx| {
                let select = "SELECT value, version FROM session_setting WHERE session = ?1";
                let row = tx.query_optional(select, parameters![session])?;
                row.as_ref().map_or_else(|| Ok(Versioned::default()), read)
            })
            .await
    }

    /// Reads, changes and writes in one transaction, whoever else does the same.
    pub async fn change_session(
        &self,
        session: &SessionKey,
        change: impl FnOnce(&mut SessionSettings) + Send + 'static,
    ) -> Result<Versioned<SessionSettings>, StoreError> {
        let session = session.to_string();
        self.0
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
            .await
    }

    /// A setting of the operator's, for all sessions.
    pub async fn get<T: DeserializeOwned>(&self, name: &str) -> Result<Option<T>, StoreError> {
        let name = name.to_owned();
        let select = "SELECT value FROM setting WHERE name = ?1";
        let value: Option<String> = self
            .0
            .read(move |tx| tx.scalar(select, parameters![name]))
            .await?;
        let read = |value: String| row::read_json("setting", &value);
        value.map(read).transpose()
    }

    pub async fn set<T: Serialize>(&self, name: &str, value: &T) -> Result<(), StoreError> {
        let (name, value) = (name.to_owned(), row::json("setting", value)?);
        self.0
            .write(move |tx| {
                tx.execute(
                    "INSERT INTO setting (name, value) VALUES (?1, ?2)
                     ON CONFLICT (name) DO UPDATE SET value = excluded.value",
                    parameters![name, value],
                )?;
                Ok(())
            })
            .await
    }

    /// Removing what was never set is harmless.
    pub async fn remove(&self, name: &str) -> Result<(), StoreError> {
        let name = name.to_owned();
        self.0
            .write(move |tx| {
                tx.execute("DELETE FROM setting WHERE name = ?1", parameters![name])?;
                Ok(())
            })
            .await
    }
}

fn read(row: &Row) -> Result<Versioned<SessionSettings>, StoreError> {
    Ok(Versioned {
        version: row::read_count("version", get(row, "version")?)?,
        value: row::read_json("settings", &get::<String>(row, "value")?)?,
    })
}
