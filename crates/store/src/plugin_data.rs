//! Plugins' own values: text by plugin, chat, user and name. Writing and telling whether it was new
//! is one statement, so that two writers never both believe they made it.

use jiff::Timestamp;
use sqlx::any::AnyRow;

use crate::{
    StoreError,
    database::{Database, next_id},
    row::{self, get},
};

/// Longest name of a value, in characters.
pub const MAX_DATA_NAME: usize = 128;

/// Whose value; an empty chat or user means none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataKey {
    pub plugin: String,
    pub chat: String,
    pub user: String,
    pub name: String,
}

/// A value with what is known of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataRow {
    pub id: i64,
    pub key: DataKey,
    pub value: String,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

pub struct PluginData<'a>(pub(crate) &'a Database);

impl PluginData<'_> {
    pub async fn get(&self, key: &DataKey) -> Result<Option<String>, StoreError> {
        let value: Option<Vec<u8>> = sqlx::query_scalar(
            "SELECT value FROM plugin_data
             WHERE plugin = $1 AND chat = $2 AND user_name = $3 AND name = $4",
        )
        .bind(key.plugin.clone())
        .bind(key.chat.clone())
        .bind(key.user.clone())
        .bind(key.name.clone())
        .fetch_optional(&self.0.readers)
        .await?;
        value
            .map(|value| row::read_text("value", value))
            .transpose()
    }

    /// True if there was none before.
    pub async fn set(&self, key: &DataKey, value: &str) -> Result<bool, StoreError> {
        // PostgreSQL takes no NUL in a key.
        let texts = [&key.plugin, &key.chat, &key.user, &key.name];
        if key.name.chars().count() > MAX_DATA_NAME || texts.iter().any(|text| text.contains('\0'))
        {
            return Err(StoreError::DataName);
        }
        let mut writer = self.0.writer().await?;
        writer.begin().await?;
        let id = next_id(writer.connection(), "plugin_data").await?;
        let kept: i64 = sqlx::query_scalar(
            "INSERT INTO plugin_data
                 (id, plugin, chat, user_name, name, value, created_at, updated_at)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $7)
             ON CONFLICT (plugin, chat, user_name, name)
             DO UPDATE SET value = excluded.value, updated_at = excluded.updated_at
             RETURNING id",
        )
        .bind(id)
        .bind(key.plugin.clone())
        .bind(key.chat.clone())
        .bind(key.user.clone())
        .bind(key.name.clone())
        .bind(value.as_bytes().to_vec())
        .bind(row::now())
        .fetch_one(writer.connection())
        .await?;
        writer.commit().await?;
        Ok(kept == id)
    }

    /// False if there was none.
    pub async fn delete(&self, key: &DataKey) -> Result<bool, StoreError> {
        let mut writer = self.0.writer().await?;
        let deleted = sqlx::query(
            "DELETE FROM plugin_data
             WHERE plugin = $1 AND chat = $2 AND user_name = $3 AND name = $4",
        )
        .bind(key.plugin.clone())
        .bind(key.chat.clone())
        .bind(key.user.clone())
        .bind(key.name.clone())
        .execute(writer.connection())
        .await?;
        writer.release();
        Ok(deleted.rows_affected() > 0)
    }

    /// In order of creation; `None` means any chat or user.
    pub async fn list(
        &self,
        plugin: &str,
        chat: Option<&str>,
        user: Option<&str>,
    ) -> Result<Vec<(DataKey, String)>, StoreError> {
        let rows = sqlx::query(
            "SELECT plugin, chat, user_name, name, value FROM plugin_data
             WHERE plugin = $1 AND ($2 = 1 OR chat = $3) AND ($4 = 1 OR user_name = $5)
             ORDER BY id",
        )
        .bind(plugin.to_owned())
        .bind(row::flag(chat.is_none()))
        .bind(chat.unwrap_or_default().to_owned())
        .bind(row::flag(user.is_none()))
        .bind(user.unwrap_or_default().to_owned())
        .fetch_all(&self.0.readers)
        .await?;
        rows.iter()
            .map(|row| Ok((read_key(row)?, row::read_text("value", get(row, "value")?)?)))
            .collect()
    }

    /// Of one plugin or all, in order of creation.
    pub async fn rows(&self, plugin: Option<&str>) -> Result<Vec<DataRow>, StoreError> {
        let rows = sqlx::query(
            "SELECT * FROM plugin_data WHERE (CAST($1 AS TEXT) IS NULL OR plugin = $1)
             ORDER BY id",
        )
        .bind(plugin.map(str::to_owned))
        .fetch_all(&self.0.readers)
        .await?;
        let read = |row: &AnyRow| {
            Ok(DataRow {
                id: get(row, "id")?,
                key: read_key(row)?,
                value: row::read_text("value", get(row, "value")?)?,
                created_at: row::read_time(get(row, "created_at")?)?,
                updated_at: row::read_time(get(row, "updated_at")?)?,
            })
        };
        rows.iter().map(read).collect()
    }
}

fn read_key(row: &AnyRow) -> Result<DataKey, StoreError> {
    Ok(DataKey {
        plugin: get(row, "plugin")?,
        chat: get(row, "chat")?,
        user: get(row, "user_name")?,
        name: get(row, "name")?,
    })
}
