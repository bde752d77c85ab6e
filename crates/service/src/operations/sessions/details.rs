//! One session with all that belongs to it, and going on in a copy.

use callgate_contract::{ConversationId, JournalId, Mode, SessionKey, TurnStop};
use callgate_store::{Conversation, LogRow, SessionSettings, Turn};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Capability, Listing, Operation, Requester, Service, ServiceError, operations::conversations,
};

/// Turns that are shown of a session.
const TURNS: u32 = 20;

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DescribeSession {
    pub session: SessionKey,
    /// Newest rows of the log.
    pub limit: u32,
}

impl Operation for DescribeSession {
    type Response = SessionDetails;
    const NAME: &'static str = "sessions.describe";
    const CAPABILITY: Capability = Capability::Read;

    async fn execute(
        self,
        service: &Service,
        _: &Requester,
    ) -> Result<Self::Response, ServiceError> {
        let (store, session) = (service.store(), self.session);
        let log = store.log().list(&session, self.limit).await?;
        let conversations = store.conversations().list(Some(&session), None).await?;
        if log.is_empty() && conversations.is_empty() {
            return Err(unknown(&session));
        }
        let turns = store.turns().list(&session, TURNS).await?;
        Ok(SessionDetails {
            current: store.conversations().current(&session).await?,
            persona: store.personas().default(Some(&session)).await?.name,
            settings: store.settings().session(&session).await?.value,
            conversations,
            turns: turns.into_iter().map(TurnSummary::from).collect(),
            log,
            session,
        })
    }
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SessionDetails {
    pub session: SessionKey,
    pub current: Option<ConversationId>,
    pub persona: String,
    pub settings: SessionSettings,
    pub conversations: Vec<Conversation>,
    pub turns: Vec<TurnSummary>,
    pub log: Vec<LogRow>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct TurnSummary {
    pub turn: JournalId,
    pub mode: Mode,
    pub model: String,
    pub persona: Option<String>,
    #[schemars(with = "String")]
    pub started_at: Timestamp,
    /// None while it runs, or waits for an approval.
    pub stop: Option<TurnStop>,
}

impl From<Turn> for TurnSummary {
    fn from(turn: Turn) -> Self {
        TurnSummary {
            turn: turn.start.id,
            mode: turn.start.mode,
            model: turn.start.model,
            persona: turn.start.persona,
            started_at: turn.started_at,
            stop: turn.finish.map(|finish| finish.stop),
        }
    }
}

/// Copies the current conversation and goes on in the copy.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ForkSession {
    pub session: SessionKey,
    /// The last position of the copy; all of it where none is named.
    pub upto: Option<u64>,
}

impl Operation for ForkSession {
    type Response = ForkedSession;
    const NAME: &'static str = "sessions.fork";
    const CAPABILITY: Capability = Capability::Sessions;

    async fn execute(
        self,
        service: &Service,
        _: &Requester,
    ) -> Result<Self::Response, ServiceError> {
        let conversations = service.store().conversations();
        let Some(from) = conversations.current(&self.session).await? else {
            return Err(unknown(&self.session));
        };
        let copy = conversations::fork(service, &self.session, from, self.upto).await?;
        Ok(ForkedSession {
            conversation: copy.id,
            from,
            messages: conversations.history(copy.id).await?.len(),
            session: self.session,
        })
    }
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ForkedSession {
    pub session: SessionKey,
    pub conversation: ConversationId,
    pub from: ConversationId,
    pub messages: usize,
}

fn unknown(session: &SessionKey) -> ServiceError {
    ServiceError::not_found(
        format!("nothing was said in {session} yet"),
        Listing::Sessions,
    )
}
