//! Conversations: the model's histories of a session.

use axum::{Json as Body, extract::State};
use callgate_contract::{ConversationId, SessionKey};
use callgate_store::{Conversation, ConversationUpdate, HistoryRow, NewConversation};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::{
    Api, Outcome,
    input::{Given, Params, Path},
    list::{List, Piece},
    problem::Problem,
    route::{Routes, Verb},
};

pub(super) fn routes(routes: &mut Routes) {
    routes
        .add(
            Verb::Get,
            "/api/conversations",
            "Conversations, the latest first",
            list,
        )
        .query::<Which>()
        .gives::<List<ConversationView>>();
    routes
        .add(
            Verb::Post,
            "/api/conversations",
            "Begin a new one in a session",
            create,
        )
        .takes::<New>()
        .gives::<ConversationView>();
    routes
        .add(
            Verb::Get,
            "/api/conversations/{id}",
            "One with its history",
            show,
        )
        .gives::<Whole>();
    routes
        .add(
            Verb::Patch,
            "/api/conversations/{id}",
            "Rename it, give it a persona",
            change,
        )
        .takes::<Change>()
        .gives::<ConversationView>();
    routes.add(Verb::Delete, "/api/conversations/{id}", "Erase it", delete);
    routes
        .add(
            Verb::Post,
            "/api/conversations/{id}/fork",
            "Go on in a copy",
            fork,
        )
        .takes::<Fork>()
        .gives::<ConversationView>();
    routes
        .add(
            Verb::Post,
            "/api/conversations/{id}/switch",
            "Make it the session's current one",
            switch,
        )
        .gives::<ConversationView>();
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Which {
    session: Option<SessionKey>,
    /// Words of the title or the history.
    query: Option<String>,
    #[serde(flatten)]
    piece: Piece,
}

#[derive(Debug, Serialize, JsonSchema)]
struct ConversationView {
    id: String,
    session: SessionKey,
    title: Option<String>,
    persona: Option<String>,
    /// It is the session's current one.
    current: bool,
    #[schemars(with = "String")]
    created_at: Timestamp,
    #[schemars(with = "String")]
    updated_at: Timestamp,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Whole {
    #[serde(flatten)]
    conversation: ConversationView,
    history: Vec<MessageView>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct MessageView {
    position: u64,
    /// In OpenAI's shape.
    message: Json,
    /// Set on a summary: the last position it stands for.
    covers: Option<u64>,
    turn: Option<String>,
    #[schemars(with = "String")]
    at: Timestamp,
}

impl From<HistoryRow> for MessageView {
    fn from(row: HistoryRow) -> Self {
        MessageView {
            position: row.position,
            message: row.message,
            covers: row.covers,
            turn: row.turn.map(super::view::id),
            at: row.at,
        }
    }
}

async fn view(api: &Api, found: Conversation) -> Result<ConversationView, Problem> {
    let current = api.store().conversations().current(&found.session).await?;
    Ok(ConversationView {
        id: found.id.to_string(),
        current: current == Some(found.id),
        session: found.session,
        title: found.title,
        persona: found.persona,
        created_at: found.created_at,
        updated_at: found.updated_at,
    })
}

async fn find(api: &Api, id: &str) -> Result<Conversation, Problem> {
    let missing = || Problem::missing(format!("no conversation {id}"));
    let id: ConversationId = id.parse().map_err(|_| missing())?;
    let found = api.store().conversations().get(id).await?;
    found.ok_or_else(missing)
}

async fn list(
    State(api): State<Api>,
    Params(which): Params<Which>,
) -> Outcome<List<ConversationView>> {
    let conversations = api.store().conversations();
    let all = conversations.list(which.session.as_ref(), None).await?;
    let mut found = Vec::new();
    for it in all {
        let fits = match &which.query {
            None => true,
            Some(query) => {
                let words = query.to_lowercase();
                let titled = |title: &String| title.to_lowercase().contains(&words);
                it.title.as_ref().is_some_and(titled) || conversations.holds(it.id, query).await?
            }
        };
        if fits {
            found.push(it);
        }
    }
    let piece = which.piece.of(found, |found| found.id.to_string())?;
    let mut items = Vec::new();
    for found in piece.items {
        items.push(view(&api, found).await?);
    }
    let next = piece.next;
    Ok(Body(List { items, next }))
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct New {
    session: SessionKey,
    title: Option<String>,
    persona: Option<String>,
}

async fn create(State(api): State<Api>, Given(new): Given<New>) -> Outcome<ConversationView> {
    if let Some(persona) = &new.persona {
        api.store().personas().get(persona).await?;
    }
    let begun = NewConversation {
        title: new.title,
        persona: new.persona,
        ..NewConversation::default()
    };
    let conversations = api.store().conversations();
    let made = conversations.create(&new.session, begun).await?;
    Ok(Body(view(&api, made).await?))
}

async fn show(State(api): State<Api>, Path(id): Path<String>) -> Outcome<Whole> {
    let found = find(&api, &id).await?;
    let history = api.store().conversations().history(found.id).await?;
    Ok(Body(Whole {
        conversation: view(&api, found).await?,
        history: history.into_iter().map(MessageView::from).collect(),
    }))
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Change {
    title: Option<String>,
    persona: Option<String>,
}

async fn change(
    State(api): State<Api>,
    Path(id): Path<String>,
    Given(change): Given<Change>,
) -> Outcome<ConversationView> {
    let found = find(&api, &id).await?;
    let update = ConversationUpdate {
        history: None,
        title: change.title,
        persona: change.persona,
    };
    let conversations = api.store().conversations();
    conversations
        .update(&found.session, Some(found.id), update)
        .await?;
    let found = find(&api, &id).await?;
    Ok(Body(view(&api, found).await?))
}

async fn delete(State(api): State<Api>, Path(id): Path<String>) -> Outcome<()> {
    let found = find(&api, &id).await?;
    let conversations = api.store().conversations();
    conversations.delete(&found.session, Some(found.id)).await?;
    Ok(Body(()))
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Fork {
    /// The last position of the copy; all of it where none is named.
    upto: Option<u64>,
}

async fn fork(
    State(api): State<Api>,
    Path(id): Path<String>,
    Given(fork): Given<Fork>,
) -> Outcome<ConversationView> {
    let found = find(&api, &id).await?;
    let conversations = api.store().conversations();
    let copy = conversations.fork(found.id, fork.upto).await?;
    conversations.switch(&found.session, copy.id).await?;
    Ok(Body(view(&api, copy).await?))
}

async fn switch(State(api): State<Api>, Path(id): Path<String>) -> Outcome<ConversationView> {
    let found = find(&api, &id).await?;
    api.store()
        .conversations()
        .switch(&found.session, found.id)
        .await?;
    Ok(Body(view(&api, found).await?))
}
