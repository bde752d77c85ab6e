//! `preset`: the personas. What only upstream's presets have is kept beside them.

use callgate_contract::MethodError;
use callgate_store::{NewPersona, Persona, PersonaUpdate, Store};
use serde_json::{Map, Value as Json, json};

use super::{super::failed, Row, moment, overlay, text_of};

pub(super) async fn rows(store: &Store) -> Result<Vec<Row>, MethodError> {
    let personas = store.personas().list().await.map_err(failed)?;
    let mut rows: Vec<Row> = personas.iter().map(row).collect();
    overlay::lay_over(store, "preset", &mut rows).await?;
    Ok(rows)
}

fn row(persona: &Persona) -> Row {
    let row = json!({
        "id": persona.id,
        "remote_id": null,
        "on_shared": false,
        "name": persona.name,
        "title": persona.name,
        "avatar": "",
        "content": persona.system_prompt,
        "description": "",
        "tags": "",
        "ext_data": {},
        "author": "",
        "create_time": moment(persona.created_at),
        "update_time": moment(persona.updated_at),
    });
    match row {
        Json::Object(row) => row,
        _ => Map::new(),
    }
}

pub(super) async fn create(store: &Store, values: &Map<String, Json>) -> Result<Row, MethodError> {
    let new = NewPersona {
        name: text_of(values, "name").unwrap_or_default().to_owned(),
        system_prompt: text_of(values, "content").unwrap_or_default().to_owned(),
        ..NewPersona::default()
    };
    let made = row(&store.personas().create(&new).await.map_err(failed)?);
    let rest = beside(&made, values);
    overlay::write(store, "preset", &made, &rest).await?;
    let mut rows = vec![made];
    overlay::lay_over(store, "preset", &mut rows).await?;
    Ok(rows.remove(0))
}

pub(super) async fn update(
    store: &Store,
    row: &Row,
    values: &Map<String, Json>,
) -> Result<(), MethodError> {
    let name = text_of(row, "name").unwrap_or_default();
    if text_of(values, "name").is_some_and(|new| new != name) {
        return Err(failed("a persona keeps its name: make a new one"));
    }
    if let Some(content) = text_of(values, "content") {
        let change = PersonaUpdate {
            system_prompt: Some(content.to_owned()),
            ..PersonaUpdate::default()
        };
        store
            .personas()
            .update(name, &change)
            .await
            .map_err(failed)?;
    }
    overlay::write(store, "preset", row, &beside(row, values)).await
}

/// What a persona has no place for.
fn beside(row: &Row, values: &Map<String, Json>) -> Map<String, Json> {
    let own = ["id", "name", "content", "create_time", "update_time"];
    let rest = values
        .iter()
        .filter(|(name, _)| !own.contains(&name.as_str()) && row.contains_key(*name));
    rest.map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

pub(super) async fn delete(store: &Store, row: &Row) -> Result<(), MethodError> {
    let name = text_of(row, "name").unwrap_or_default();
    store.personas().delete(name).await.map_err(failed)
}
