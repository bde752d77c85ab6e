//! `plugin_data`: the plugins' own values.

use callgate_contract::MethodError;
use callgate_store::{DataKey, DataRow, Store};
use serde_json::{Map, Value as Json, json};

use super::{super::failed, Row, moment, text_of};

pub(super) async fn rows(store: &Store, plugin: Option<&str>) -> Result<Vec<Row>, MethodError> {
    let found = store.plugin_data().rows(plugin).await.map_err(failed)?;
    Ok(found.into_iter().map(row).collect())
}

fn row(found: DataRow) -> Row {
    let row = json!({
        "id": found.id,
        "plugin_key": found.key.plugin,
        "target_chat_key": found.key.chat,
        "target_user_id": found.key.user,
        "data_key": found.key.name,
        "data_value": found.value,
        "create_time": moment(found.created_at),
        "update_time": moment(found.updated_at),
    });
    match row {
        Json::Object(row) => row,
        _ => Map::new(),
    }
}

fn key(values: &Map<String, Json>) -> DataKey {
    let text = |name: &str| text_of(values, name).unwrap_or_default().to_owned();
    DataKey {
        plugin: text("plugin_key"),
        chat: text("target_chat_key"),
        user: text("target_user_id"),
        name: text("data_key"),
    }
}

pub(super) async fn create(store: &Store, values: &Map<String, Json>) -> Result<Row, MethodError> {
    let key = key(values);
    let value = text_of(values, "data_value").unwrap_or_default();
    store.plugin_data().set(&key, value).await.map_err(failed)?;
    let rows = store
        .plugin_data()
        .rows(Some(&key.plugin))
        .await
        .map_err(failed)?;
    let made = rows.into_iter().find(|row| row.key == key);
    made.map(row)
        .ok_or_else(|| failed("the value was deleted meanwhile"))
}

pub(super) async fn update(
    store: &Store,
    row: &Row,
    values: &Map<String, Json>,
) -> Result<(), MethodError> {
    let (old, mut changed) = (key(row), row.clone());
    changed.extend(values.clone());
    let new = key(&changed);
    let value = text_of(&changed, "data_value").unwrap_or_default();
    store.plugin_data().set(&new, value).await.map_err(failed)?;
    if new != old {
        store.plugin_data().delete(&old).await.map_err(failed)?;
    }
    Ok(())
}

pub(super) async fn delete(store: &Store, row: &Row) -> Result<(), MethodError> {
    store
        .plugin_data()
        .delete(&key(row))
        .await
        .map(drop)
        .map_err(failed)
}
