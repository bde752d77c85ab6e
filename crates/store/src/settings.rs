//! Settings that people change while the product runs: each session's, and the operator's for all.
//! Changes of one session's settings never lose each other.

use callgate_contract::{Mode, SessionKey};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::Value as Json;

use crate::{
    StoreError,
    database::Database,
    row::{self, get},
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
        let row = sqlx::query("SELECT value, version FROM session_setting WHERE session = $1")
            .bind(session.to_string())
            .fetch_optional(&self.0.readers)
            .await?;
        match row {
            None => Ok(Versioned::default()),
            Some(row) => Ok(Versioned {
                version: row::read_count("version", get(&row, "version")?)?,
                value: row::read_json("settings", get(&row, "value")?)?,
            }),
        }
    }

    /// Reads, changes and writes in one transaction, whoever else does the same.
    pub async fn change_session(
        &self,
        session: &SessionKey,
        change: impl FnOnce(&mut SessionSettings),
    ) -> Result<Versioned<SessionSettings>, StoreError> {
        let mut writer = self.0.writer().await?;
        writer.begin().await?;
        // Written first, so that the row is ours until the end.
        let row = sqlx::query(
            "INSERT INTO session_setting (session, value, version) VALUES ($1, '{}', 1)
             ON CONFLICT (session) DO UPDATE SET version = session_setting.version + 1
             RETURNING value, version",
        )
        .bind(session.to_string())
        .fetch_one(writer.connection())
        .await?;
        let mut value: SessionSettings = row::read_json("settings", get(&row, "value")?)?;
        change(&mut value);
        sqlx::query("UPDATE session_setting SET value = $2 WHERE session = $1")
            .bind(session.to_string())
            .bind(row::json("settings", &value)?)
            .execute(writer.connection())
            .await?;
        writer.commit().await?;
        let version = row::read_count("version", get(&row, "version")?)?;
        Ok(Versioned { version, value })
    }

    /// A setting of the operator's, for all sessions.
    pub async fn get<T: DeserializeOwned>(&self, name: &str) -> Result<Option<T>, StoreError> {
        let value: Option<String> = sqlx::query_scalar("SELECT value FROM setting WHERE name = $1")
            .bind(name.to_owned())
            .fetch_optional(&self.0.readers)
            .await?;
        let read = |value: String| row::read_json("setting", &value);
        value.map(read).transpose()
    }

    pub async fn set<T: Serialize>(&self, name: &str, value: &T) -> Result<(), StoreError> {
        let mut writer = self.0.writer().await?;
        sqlx::query(
            "INSERT INTO setting (name, value) VALUES ($1, $2)
             ON CONFLICT (name) DO UPDATE SET value = excluded.value",
        )
        .bind(name.to_owned())
        .bind(row::json("setting", value)?)
        .execute(writer.connection())
        .await?;
        writer.release();
        Ok(())
    }

    /// Removing what was never set is harmless.
    pub async fn remove(&self, name: &str) -> Result<(), StoreError> {
        let mut writer = self.0.writer().await?;
        sqlx::query("DELETE FROM setting WHERE name = $1")
            .bind(name.to_owned())
            .execute(writer.connection())
            .await?;
        writer.release();
        Ok(())
    }
}
