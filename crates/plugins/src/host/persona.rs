//! Personas, by name.

use callgate_contract::{MethodError, Mode, Value};
use callgate_gate::Function;
use callgate_store::{NewPersona, Persona, PersonaUpdate, Store, StoreError};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{NoArguments, failed, leaf};
use crate::context::{dict, text};

#[derive(Deserialize, JsonSchema)]
struct Name {
    name: String,
}

#[derive(Deserialize, JsonSchema)]
struct PersonaQuery {
    #[serde(default)]
    session: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
struct CreatePersona {
    name: String,
    system_prompt: String,
    #[serde(default)]
    begin_dialogs: Option<Vec<String>>,
    #[serde(default)]
    methods: Option<Vec<String>>,
    #[serde(default)]
    model: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
struct Update {
    name: String,
    #[serde(default)]
    system_prompt: Option<String>,
    #[serde(default)]
    begin_dialogs: Option<Vec<String>>,
    /// Null holds all methods; left out, nothing changes.
    #[serde(default, deserialize_with = "given")]
    methods: Option<Option<Vec<String>>>,
}

fn given<'de, D: serde::Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Option<Vec<String>>>, D::Error> {
    Option::deserialize(deserializer).map(Some)
}

pub(super) fn methods(store: &Store) -> Vec<Function> {
    vec![
        leaf("persona_get", "A persona by its name, or None.", store, get),
        leaf("persona_list", "All personas that were made.", store, list),
        leaf("persona_create", "Makes a persona.", store, create),
        leaf(
            "persona_update",
            "Changes a persona; what is left out stays.",
            store,
            update,
        ),
        leaf("persona_delete", "Removes a persona.", store, delete),
        leaf(
            "persona_default",
            "The name of who answers where a conversation has no persona of its own.",
            store,
            default,
        ),
    ]
}

async fn get(store: Store, name: Name) -> Result<Value, MethodError> {
    match store.personas().get(&name.name).await {
        Ok(persona) => Ok(describe(&persona)),
        Err(StoreError::UnknownPersona(_)) => Ok(Value::Null),
        Err(error) => Err(failed(error)),
    }
}

async fn list(store: Store, _: NoArguments) -> Result<Value, MethodError> {
    let personas = store.personas().list().await.map_err(failed)?;
    Ok(Value::List(personas.iter().map(describe).collect()))
}

async fn create(store: Store, new: CreatePersona) -> Result<Value, MethodError> {
    let new = NewPersona {
        name: new.name,
        system_prompt: new.system_prompt,
        begin_dialogs: new.begin_dialogs,
        methods: new.methods,
        mode: Mode::default(),
        model: new.model,
    };
    let made = store.personas().create_unchecked(&new).await;
    made.map(|persona| describe(&persona)).map_err(failed)
}

async fn update(store: Store, update: Update) -> Result<Value, MethodError> {
    let change = PersonaUpdate {
        system_prompt: update.system_prompt,
        begin_dialogs: update.begin_dialogs,
        methods: update.methods,
        ..PersonaUpdate::default()
    };
    let updated = store
        .personas()
        .update_unchecked(&update.name, &change)
        .await;
    updated.map(|persona| describe(&persona)).map_err(failed)
}

async fn delete(store: Store, name: Name) -> Result<Value, MethodError> {
    let deleted = store.personas().delete(&name.name).await;
    deleted.map(|()| Value::Null).map_err(failed)
}

/// The name of who answers where a conversation has no persona of its own.
async fn default(store: Store, of: PersonaQuery) -> Result<Value, MethodError> {
    let session = of.session.and_then(|session| session.parse().ok());
    let persona = store.personas().default(session.as_ref()).await;
    persona.map(|persona| text(persona.name)).map_err(failed)
}

fn describe(persona: &Persona) -> Value {
    let texts = |texts: &Option<Vec<String>>| match texts {
        None => Value::Null,
        Some(texts) => Value::List(texts.iter().map(|one| text(one.as_str())).collect()),
    };
    dict(vec![
        ("id", Value::Int(persona.id)),
        ("name", text(persona.name.as_str())),
        ("system_prompt", text(persona.system_prompt.as_str())),
        ("begin_dialogs", texts(&persona.begin_dialogs)),
        ("methods", texts(&persona.methods)),
        ("model", persona.model.as_deref().map_or(Value::Null, text)),
        ("created_at", seconds(persona.created_at)),
        ("updated_at", seconds(persona.updated_at)),
    ])
}

/// With their fraction, so that a change is later than what it changed.
fn seconds(at: jiff::Timestamp) -> Value {
    Value::Float(at.as_microsecond() as f64 / 1e6)
}
