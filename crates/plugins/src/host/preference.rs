//! Preferences: JSON by scope, place and name.

use callgate_contract::{MethodError, Value};
use callgate_gate::Function;
use callgate_store::{Preference, Store};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value as Json;

use super::{failed, leaf, value};
use crate::context::{dict, text};

#[derive(Deserialize, JsonSchema)]
struct ScopedKey {
    scope: String,
    scope_id: String,
    key: String,
}

#[derive(Deserialize, JsonSchema)]
struct ScopedEntry {
    scope: String,
    scope_id: String,
    key: String,
    value: Json,
}

#[derive(Deserialize, JsonSchema)]
struct PreferenceFilter {
    #[serde(default)]
    scope: Option<String>,
    #[serde(default)]
    scope_id: Option<String>,
    #[serde(default)]
    key: Option<String>,
}

pub(super) fn methods(store: &Store) -> Vec<Function> {
    vec![
        leaf(
            "preference_get",
            "A preference in a dictionary, or None if there is none.",
            store,
            get,
        ),
        leaf(
            "preference_set",
            "Keeps a preference: any JSON, by scope, place and key.",
            store,
            set,
        ),
        leaf(
            "preference_delete",
            "Forgets a preference; false if there was none.",
            store,
            delete,
        ),
        leaf(
            "preference_list",
            "Preferences, of one scope, place or key where given.",
            store,
            list,
        ),
    ]
}

/// In a dictionary, so that a stored None differs from none.
async fn get(store: Store, key: ScopedKey) -> Result<Value, MethodError> {
    let preferences = store.preferences();
    let found = preferences.get(&key.scope, &key.scope_id, &key.key);
    match found.await.map_err(failed)? {
        None => Ok(Value::Null),
        Some(json) => Ok(dict(vec![("value", value(json)?)])),
    }
}

async fn set(store: Store, entry: ScopedEntry) -> Result<Value, MethodError> {
    let preference = Preference {
        scope: entry.scope,
        place: entry.scope_id,
        name: entry.key,
        value: entry.value,
    };
    let written = store.preferences().set(&preference).await;
    written.map(|()| Value::Null).map_err(failed)
}

/// False if there was none.
async fn delete(store: Store, key: ScopedKey) -> Result<Value, MethodError> {
    let preferences = store.preferences();
    let existed = preferences.delete(&key.scope, &key.scope_id, &key.key);
    existed.await.map(Value::Bool).map_err(failed)
}

async fn list(store: Store, which: PreferenceFilter) -> Result<Value, MethodError> {
    let preferences = store.preferences();
    let found = preferences.list(
        which.scope.as_deref(),
        which.scope_id.as_deref(),
        which.key.as_deref(),
    );
    let entry = |found: Preference| {
        Ok(dict(vec![
            ("scope", text(found.scope)),
            ("scope_id", text(found.place)),
            ("key", text(found.name)),
            ("value", value(found.value)?),
        ]))
    };
    let entries = found.await.map_err(failed)?.into_iter().map(entry);
    entries.collect::<Result<_, _>>().map(Value::List)
}
