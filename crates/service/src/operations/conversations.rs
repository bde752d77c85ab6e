//! Conversations: the model's histories of a session.

use callgate_contract::{ConversationId, SessionKey};
use callgate_store::{Conversation, ConversationUpdate, HistoryRow, NewConversation};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::{List, Page, journal_id};
use crate::{Capability, Listing, Operation, Requester, Service, ServiceError};

/// The latest first.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct ListConversations {
    pub session: Option<SessionKey>,
    /// Words of the title or the history.
    pub query: Option<String>,
    #[serde(flatten)]
    pub page: Page,
}

impl Operation for ListConversations {
    type Response = List<ConversationView>;
    const NAME: &'static str = "conversations.list";
    const CAPABILITY: Capability = Capability::Read;

    async fn execute(
        self,
        service: &Service,
        _: &Requester,
    ) -> Result<Self::Response, ServiceError> {
        let conversations = service.store().conversations();
        let mut found = Vec::new();
        for it in conversations.list(self.session.as_ref(), None).await? {
            let fits = match &self.query {
                None => true,
                Some(query) => {
                    let words = query.to_lowercase();
                    let titled = |title: &String| title.to_lowercase().contains(&words);
                    it.title.as_ref().is_some_and(titled)
                        || conversations.holds(it.id, query).await?
                }
            };
            if fits {
                found.push(it);
            }
        }
        let page = self.page.of(found, |found| found.id.to_string())?;
        let mut items = Vec::new();
        for found in page.items {
            items.push(view(service, found).await?);
        }
        let next = page.next;
        Ok(List { items, next })
    }
}

/// The session goes on in it.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CreateConversation {
    pub session: SessionKey,
    pub title: Option<String>,
    pub persona: Option<String>,
}

impl Operation for CreateConversation {
    type Response = ConversationView;
    const NAME: &'static str = "conversations.create";
    const CAPABILITY: Capability = Capability::Sessions;

    async fn execute(
        self,
        service: &Service,
        _: &Requester,
    ) -> Result<Self::Response, ServiceError> {
        if let Some(persona) = &self.persona {
            service.store().personas().get(persona).await?;
        }
        let begun = NewConversation {
            title: self.title,
            persona: self.persona,
            ..NewConversation::default()
        };
        let conversations = service.store().conversations();
        let made = conversations.create(&self.session, begun).await?;
        view(service, made).await
    }
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GetConversation {
    pub id: String,
}

impl Operation for GetConversation {
    type Response = ConversationWithHistory;
    const NAME: &'static str = "conversations.get";
    const CAPABILITY: Capability = Capability::Read;

    async fn execute(
        self,
        service: &Service,
        _: &Requester,
    ) -> Result<Self::Response, ServiceError> {
        let found = find(service, &self.id).await?;
        let history = service.store().conversations().history(found.id).await?;
        Ok(ConversationWithHistory {
            conversation: view(service, found).await?,
            history: history.into_iter().map(MessageView::from).collect(),
        })
    }
}

/// What is not named stays.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UpdateConversation {
    pub id: String,
    pub title: Option<String>,
    pub persona: Option<String>,
}

impl Operation for UpdateConversation {
    type Response = ConversationView;
    const NAME: &'static str = "conversations.update";
    const CAPABILITY: Capability = Capability::Sessions;

    async fn execute(
        self,
        service: &Service,
        _: &Requester,
    ) -> Result<Self::Response, ServiceError> {
        let found = find(service, &self.id).await?;
        let update = ConversationUpdate {
            history: None,
            title: self.title,
            persona: self.persona,
        };
        let conversations = service.store().conversations();
        conversations
            .update(&found.session, Some(found.id), update)
            .await?;
        view(service, find(service, &self.id).await?).await
    }
}

/// Its text is erased.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DeleteConversation {
    pub id: String,
}

impl Operation for DeleteConversation {
    type Response = ();
    const NAME: &'static str = "conversations.delete";
    const CAPABILITY: Capability = Capability::Sessions;

    async fn execute(
        self,
        service: &Service,
        _: &Requester,
    ) -> Result<Self::Response, ServiceError> {
        let found = find(service, &self.id).await?;
        let conversations = service.store().conversations();
        conversations.delete(&found.session, Some(found.id)).await?;
        Ok(())
    }
}

/// The session goes on in a copy.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ForkConversation {
    pub id: String,
    /// The last position of the copy; all of it where none is named.
    pub upto: Option<u64>,
}

impl Operation for ForkConversation {
    type Response = ConversationView;
    const NAME: &'static str = "conversations.fork";
    const CAPABILITY: Capability = Capability::Sessions;

    async fn execute(
        self,
        service: &Service,
        _: &Requester,
    ) -> Result<Self::Response, ServiceError> {
        let found = find(service, &self.id).await?;
        let copy = fork(service, &found.session, found.id, self.upto).await?;
        view(service, copy).await
    }
}

/// It becomes the session's current one.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SwitchConversation {
    pub id: String,
}

impl Operation for SwitchConversation {
    type Response = ConversationView;
    const NAME: &'static str = "conversations.switch";
    const CAPABILITY: Capability = Capability::Sessions;

    async fn execute(
        self,
        service: &Service,
        _: &Requester,
    ) -> Result<Self::Response, ServiceError> {
        let found = find(service, &self.id).await?;
        let conversations = service.store().conversations();
        conversations.switch(&found.session, found.id).await?;
        view(service, found).await
    }
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ConversationView {
    pub id: String,
    pub session: SessionKey,
    pub title: Option<String>,
    pub persona: Option<String>,
    /// It is the session's current one.
    pub current: bool,
    #[schemars(with = "String")]
    pub created_at: Timestamp,
    #[schemars(with = "String")]
    pub updated_at: Timestamp,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ConversationWithHistory {
    #[serde(flatten)]
    pub conversation: ConversationView,
    pub history: Vec<MessageView>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct MessageView {
    pub position: u64,
    /// In OpenAI's shape.
    pub message: Json,
    /// Set on a summary: the last position it stands for.
    pub covers: Option<u64>,
    pub turn: Option<String>,
    #[schemars(with = "String")]
    pub at: Timestamp,
}

impl From<HistoryRow> for MessageView {
    fn from(row: HistoryRow) -> Self {
        MessageView {
            position: row.position,
            message: row.message,
            covers: row.covers,
            turn: row.turn.map(journal_id),
            at: row.at,
        }
    }
}

/// Copies the conversation and goes on in the copy: the original stays as it is.
pub(super) async fn fork(
    service: &Service,
    session: &SessionKey,
    from: ConversationId,
    upto: Option<u64>,
) -> Result<Conversation, ServiceError> {
    let conversations = service.store().conversations();
    let copy = conversations.fork(from, upto).await?;
    conversations.switch(session, copy.id).await?;
    Ok(copy)
}

async fn view(service: &Service, found: Conversation) -> Result<ConversationView, ServiceError> {
    let conversations = service.store().conversations();
    let current = conversations.current(&found.session).await?;
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

async fn find(service: &Service, id: &str) -> Result<Conversation, ServiceError> {
    let missing =
        || ServiceError::not_found(format!("no conversation {id}"), Listing::Conversations);
    let id: ConversationId = id.parse().map_err(|_| missing())?;
    let found = service.store().conversations().get(id).await?;
    found.ok_or_else(missing)
}
