//! Plugins' own values: text by plugin, chat, user and name. Writing and telling whether it was new
//! is one transaction, so that two writers never both believe they made it.

use jiff::Timestamp;

use crate::{
    StoreError,
    database::Database,
    row::{self, get},
    tx::{Row, parameters},
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
        let key = key.clone();
        self.0
            .read(move |tx| {
                let value: Option<Vec<u8>> = tx.scalar(
                    "SELECT value FROM plugin_data
                     WHERE plugin = ?1 AND chat = ?2 AND user_name = ?3 AND name = ?4",
                    parameters![key.plugin, key.chat, key.user, key.name],
                )?;
                let value = value.map(|value| row::read_text("value", value));
                value.transpose()
            })
            .await
    }

    /// True if there was none before.
    pub async fn set(&self, key: &DataKey, value: &str) -> Result<bool, StoreError> {
        // PostgreSQL takes no NUL in a key.
        let texts = [&key.plugin, &key.chat, &key.user, &key.name];
        if key.name.chars().count() > MAX_DATA_NAME || texts.iter().any(|text| text.contains('\0'))
        {
            return Err(StoreError::DataName);
        }
        let (key, value) = (key.clone(), value.as_bytes().to_vec());
        self.0
            .write(move |tx| {
                let DataKey {
                    plugin,
                    chat,
                    user,
                    name,
                } = key;
                let now = row::now();
                let values = parameters![plugin, chat, user, name, value, now];
                let insert = "INSERT INTO plugin_data
                         (plugin, chat, user_name, name, value, created_at, updated_at)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?6)
                     ON CONFLICT (plugin, chat, user_name, name) DO NOTHING";
                if tx.writes_one(insert, values)? {
                    return Ok(true);
                }
                let update = "UPDATE plugin_data SET value = ?5, updated_at = ?6
                     WHERE plugin = ?1 AND chat = ?2 AND user_name = ?3 AND name = ?4";
                tx.execute(update, values)?;
                Ok(false)
            })
            .await
    }

    /// False if there was none.
    pub async fn delete(&self, key: &DataKey) -> Result<bool, StoreError> {
        let key = key.clone();
        self.0
            .write(move |tx| {
                let deleted = tx.writes_one(
                    "DELETE FROM plugin_data
                     WHERE plugin = ?1 AND chat = ?2 AND user_name = ?3 AND name = ?4",
                    parameters![key.plugin, key.chat, key.user, key.name],
                )?;
                Ok(deleted)
            })
            .await
    }

    /// In order of creation; `None` means any chat or user.
    pub async fn list(
        &self,
        plugin: &str,
        chat: Option<&str>,
        user: Option<&str>,
    ) -> Result<Vec<(DataKey, String)>, StoreError> {
        let plugin = plugin.to_owned();
        let (chat, user) = (chat.map(str::to_owned), user.map(str::to_owned));
        self.0
            .read(move |tx| {
                let rows = tx.query(
                    "SELECT plugin, chat, user_name, name, value FROM plugin_data
                     WHERE plugin = ?1 AND (CAST(?2 AS TEXT) IS NULL OR chat = ?2)
                     AND (CAST(?3 AS TEXT) IS NULL OR user_name = ?3)
                     ORDER BY id",
                    parameters![plugin, chat, user],
                )?;
                rows.iter()
                    .map(|row| Ok((read_key(row)?, row::read_text("value", get(row, "value")?)?)))
                    .collect()
            })
            .await
    }

    /// Of one plugin or all, in order of creation.
    pub async fn rows(&self, plugin: Option<&str>) -> Result<Vec<DataRow>, StoreError> {
        let plugin = plugin.map(str::to_owned);
        self.0
            .read(move |tx| {
                let rows = tx.query(
                    "SELECT * FROM plugin_data WHERE (CAST(?1 AS TEXT) IS NULL OR plugin = ?1)
                     ORDER BY id",
                    parameters![plugin],
                )?;
                rows.iter().map(read).collect()
            })
            .await
    }
}

fn read(row: &Row) -> Result<DataRow, StoreError> {
    Ok(DataRow {
        id: get(row, "id")?,
        key: read_key(row)?,
        value: row::read_text("value", get(row, "value")?)?,
        created_at: row::read_time(get(row, "created_at")?)?,
        updated_at: row::read_time(get(row, "updated_at")?)?,
    })
}

fn read_key(row: &Row) -> Result<DataKey, StoreError> {
    Ok(DataKey {
        plugin: get(row, "plugin")?,
        chat: get(row, "chat")?,
        user: get(row, "user_name")?,
        name: get(row, "name")?,
    })
}
