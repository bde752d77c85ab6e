//! A plugin's own values, by chat and user; an empty chat or user means none.

use callgate_contract::{MethodError, Value};
use callgate_gate::Function;
use callgate_store::{DataKey, Store};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{failed, leaf};
use crate::context::{dict, text};

#[derive(Deserialize, JsonSchema)]
struct EntryKey {
    plugin: String,
    #[serde(default)]
    chat: Option<String>,
    #[serde(default)]
    user: Option<String>,
    name: String,
}

#[derive(Deserialize, JsonSchema)]
struct StoredEntry {
    plugin: String,
    #[serde(default)]
    chat: Option<String>,
    #[serde(default)]
    user: Option<String>,
    name: String,
    value: String,
}

#[derive(Deserialize, JsonSchema)]
struct DataFilter {
    plugin: String,
    #[serde(default)]
    chat: Option<String>,
    #[serde(default)]
    user: Option<String>,
}

impl From<EntryKey> for DataKey {
    fn from(key: EntryKey) -> Self {
        DataKey {
            plugin: key.plugin,
            chat: key.chat.unwrap_or_default(),
            user: key.user.unwrap_or_default(),
            name: key.name,
        }
    }
}

pub(super) fn methods(store: &Store) -> Vec<Function> {
    vec![
        leaf(
            "data_get",
            "A plugin's own text, by chat, user and name; None if there is none.",
            store,
            get,
        ),
        leaf(
            "data_set",
            "Keeps a plugin's own text; true if there was none before.",
            store,
            set,
        ),
        leaf(
            "data_delete",
            "Forgets a plugin's own text; false if there was none.",
            store,
            delete,
        ),
        leaf(
            "data_list",
            "All texts of a plugin, of one chat or user where given.",
            store,
            list,
        ),
    ]
}

async fn get(store: Store, key: EntryKey) -> Result<Value, MethodError> {
    let value = store.plugin_data().get(&key.into()).await.map_err(failed)?;
    Ok(value.map_or(Value::Null, Value::Str))
}

/// True if there was none before.
async fn set(store: Store, entry: StoredEntry) -> Result<Value, MethodError> {
    let key = DataKey {
        plugin: entry.plugin,
        chat: entry.chat.unwrap_or_default(),
        user: entry.user.unwrap_or_default(),
        name: entry.name,
    };
    let created = store.plugin_data().set(&key, &entry.value).await;
    created.map(Value::Bool).map_err(failed)
}

/// False if there was none.
async fn delete(store: Store, key: EntryKey) -> Result<Value, MethodError> {
    let existed = store.plugin_data().delete(&key.into()).await;
    existed.map(Value::Bool).map_err(failed)
}

async fn list(store: Store, which: DataFilter) -> Result<Value, MethodError> {
    let data = store.plugin_data();
    let found = data.list(&which.plugin, which.chat.as_deref(), which.user.as_deref());
    let entry = |(key, value): (DataKey, String)| {
        dict(vec![
            ("chat", text(key.chat)),
            ("user", text(key.user)),
            ("name", text(key.name)),
            ("value", text(value)),
        ])
    };
    let entries = found.await.map_err(failed)?.into_iter().map(entry);
    Ok(Value::List(entries.collect()))
}
