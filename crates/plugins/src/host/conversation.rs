//! Conversations, the model's histories. A plugin may use those of every session it names.

use callgate_contract::{ConversationId, MethodError, SessionKey, Value};
use callgate_gate::Function;
use callgate_store::{Conversation, ConversationUpdate, NewConversation, Store, StoreError};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value as Json;

use super::{failed, leaf, session_key};
use crate::context::{dict, text};

#[derive(Deserialize, JsonSchema)]
struct CreateConversation {
    session: String,
    #[serde(default)]
    platform: Option<String>,
    #[serde(default)]
    title: Option<String>,
    #[serde(default)]
    persona: Option<String>,
    #[serde(default)]
    history: Json,
}

#[derive(Deserialize, JsonSchema)]
struct ConversationSelector {
    #[serde(default)]
    session: Option<String>,
    #[serde(default)]
    id: Option<String>,
    #[serde(default)]
    create: bool,
}

#[derive(Deserialize, JsonSchema)]
struct ConversationFilter {
    #[serde(default)]
    session: Option<String>,
    #[serde(default)]
    platform: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
struct Update {
    session: String,
    #[serde(default)]
    id: Option<String>,
    #[serde(default)]
    history: Json,
    #[serde(default)]
    title: Option<String>,
    #[serde(default)]
    persona: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
struct ConversationRef {
    session: String,
    #[serde(default)]
    id: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
struct Pair {
    id: String,
    user: Json,
    assistant: Json,
}

pub(super) fn methods(store: &Store) -> Vec<Function> {
    vec![
        leaf(
            "conversation_new",
            "Begins a conversation and switches the session to it; its id.",
            store,
            new,
        ),
        leaf(
            "conversation_get",
            "A conversation by its id, with its history as JSON text.",
            store,
            get,
        ),
        leaf(
            "conversation_list",
            "Conversations, newest first, of one session or platform where given.",
            store,
            list,
        ),
        leaf(
            "conversation_update",
            "Changes history, title or persona of a conversation; false if there is none.",
            store,
            update,
        ),
        leaf(
            "conversation_delete",
            "Erases a conversation, the current one if none is named.",
            store,
            delete,
        ),
        leaf(
            "conversation_switch",
            "Makes a conversation the session's current one.",
            store,
            switch,
        ),
        leaf(
            "conversation_current",
            "The id of the session's current conversation, or None.",
            store,
            current,
        ),
        leaf(
            "conversation_append_pair",
            "Adds a question and its answer to a conversation.",
            store,
            append_pair,
        ),
    ]
}

async fn new(store: Store, new: CreateConversation) -> Result<Value, MethodError> {
    let session = session_key(&new.session)?;
    let made = NewConversation {
        platform: new.platform,
        messages: messages(new.history)?.unwrap_or_default(),
        title: new.title,
        persona: new.persona,
    };
    let made = store.conversations().create(&session, made).await;
    Ok(text(made.map_err(failed)?.id.to_string()))
}

async fn get(store: Store, one: ConversationSelector) -> Result<Value, MethodError> {
    let conversations = store.conversations();
    let found = match one.id.as_deref().and_then(|id| id.parse().ok()) {
        Some(id) => conversations.get(id).await.map_err(failed)?,
        None => None,
    };
    let session = one.session.as_deref().map(session_key).transpose()?;
    let found = match (found, session) {
        (None, Some(session)) if one.create => {
            let made = conversations.create(&session, NewConversation::default());
            Some(made.await.map_err(failed)?)
        }
        (found, _) => found,
    };
    match found {
        Some(found) => describe(&store, found).await,
        None => Ok(Value::Null),
    }
}

async fn list(store: Store, which: ConversationFilter) -> Result<Value, MethodError> {
    let session: Option<SessionKey> = match which.session.as_deref().map(str::parse) {
        None => None,
        Some(Ok(session)) => Some(session),
        // What is no session has none.
        Some(Err(_)) => return Ok(Value::List(Vec::new())),
    };
    let conversations = store.conversations();
    let found = conversations.list(session.as_ref(), which.platform.as_deref());
    let mut described = Vec::new();
    for conversation in found.await.map_err(failed)? {
        described.push(describe(&store, conversation).await?);
    }
    Ok(Value::List(described))
}

/// False if there is no such conversation.
async fn update(store: Store, update: Update) -> Result<Value, MethodError> {
    let session = session_key(&update.session)?;
    let (session, id) = place(&store, session, update.id.as_deref()).await?;
    let change = ConversationUpdate {
        history: messages(update.history)?,
        title: update.title,
        persona: update.persona,
    };
    let updated = store.conversations().update(&session, id, change).await;
    known(updated)
}

/// False if there is no such conversation.
async fn delete(store: Store, of: ConversationRef) -> Result<Value, MethodError> {
    let session = session_key(&of.session)?;
    let (session, id) = place(&store, session, of.id.as_deref()).await?;
    known(store.conversations().delete(&session, id).await)
}

async fn switch(store: Store, of: ConversationRef) -> Result<Value, MethodError> {
    let session = session_key(&of.session)?;
    let id = of.id.as_deref().unwrap_or_default();
    let id: ConversationId = id
        .parse()
        .map_err(|_| failed(format!("no conversation '{id}'")))?;
    let switched = store.conversations().switch_unchecked(&session, id).await;
    switched.map(|()| Value::Null).map_err(failed)
}

async fn current(store: Store, of: ConversationRef) -> Result<Value, MethodError> {
    let Ok(session) = of.session.parse::<SessionKey>() else {
        return Ok(Value::Null);
    };
    let current = store
        .conversations()
        .current(&session)
        .await
        .map_err(failed)?;
    Ok(current.map_or(Value::Null, |id| text(id.to_string())))
}

async fn append_pair(store: Store, pair: Pair) -> Result<Value, MethodError> {
    let id: ConversationId = pair.id.parse().map_err(failed)?;
    let conversations = store.conversations();
    let appended = conversations.add_message_pair(id, pair.user, pair.assistant);
    appended.await.map(|_| Value::Null).map_err(failed)
}

/// Compat(astrbot): a conversation is changed by its id, whichever session is named with it.
async fn place(
    store: &Store,
    session: SessionKey,
    id: Option<&str>,
) -> Result<(SessionKey, Option<ConversationId>), MethodError> {
    let Some(id) = id.filter(|id| !id.is_empty()) else {
        return Ok((session, None));
    };
    let id: ConversationId = id
        .parse()
        .map_err(|_| failed(format!("no conversation '{id}'")))?;
    let found = store.conversations().get(id).await.map_err(failed)?;
    Ok((found.map_or(session, |found| found.session), Some(id)))
}

fn known(done: Result<bool, StoreError>) -> Result<Value, MethodError> {
    match done {
        Ok(done) => Ok(Value::Bool(done)),
        Err(StoreError::UnknownConversation(_)) => Ok(Value::Bool(false)),
        Err(error) => Err(failed(error)),
    }
}

/// A list of messages, or the JSON text of one; `None` where nothing was given.
fn messages(history: Json) -> Result<Option<Vec<Json>>, MethodError> {
    match history {
        Json::Null => Ok(None),
        Json::Array(messages) => Ok(Some(messages)),
        Json::String(text) => serde_json::from_str(&text)
            .map(Some)
            .map_err(|error| failed(format!("history: {error}"))),
        other => Err(failed(format!(
            "history: a list of messages is wanted, not {other}"
        ))),
    }
}

async fn describe(store: &Store, found: Conversation) -> Result<Value, MethodError> {
    let history = store
        .conversations()
        .history(found.id)
        .await
        .map_err(failed)?;
    let messages = history.into_iter().filter(|row| row.covers.is_none());
    let messages: Vec<Json> = messages.map(|row| row.message).collect();
    let optional = |text: Option<String>| text.map_or(Value::Null, Value::Str);
    let seconds = |time: Timestamp| Value::Int(time.as_second());
    Ok(dict(vec![
        ("id", text(found.id.to_string())),
        ("session", text(found.session.to_string())),
        ("platform", text(found.platform)),
        ("title", optional(found.title)),
        ("persona", optional(found.persona)),
        ("history", text(Json::Array(messages).to_string())),
        ("created_at", seconds(found.created_at)),
        ("updated_at", seconds(found.updated_at)),
    ]))
}
