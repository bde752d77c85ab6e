//! What was not delivered: messages that wait, that a platform has refused, and those of which nobody knows
//! whether they were sent; and the operator's word on them.

use callgate_contract::{Part, SessionKey};
use callgate_store::{DeliveryState, Undelivered};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{List, Page};
use crate::{Capability, Operation, Requester, Service, ServiceError};

/// Messages that were not delivered, the oldest first.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct ListUndelivered {
    /// Only these.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<DeliveryState>,
    #[serde(flatten)]
    pub page: Page,
}

impl Operation for ListUndelivered {
    type Response = List<UndeliveredView>;
    const NAME: &'static str = "outbox.list";
    const CAPABILITY: Capability = Capability::Read;

    async fn execute(
        self,
        service: &Service,
        _: &Requester,
    ) -> Result<Self::Response, ServiceError> {
        let (after, limit) = (self.page.after()?.unwrap_or(0), self.page.limit());
        let outbox = service.store().outbox();
        let mut found = outbox.undelivered(self.state, after, limit + 1).await?;
        let more = found.len() > limit as usize;
        found.truncate(limit as usize);
        let last = found.last().map(|message| message.id.to_string());
        Ok(List {
            items: found.into_iter().map(UndeliveredView::from).collect(),
            next: last.filter(|_| more),
        })
    }
}

/// What becomes of a message that was not delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Resolution {
    /// It is sent, though it may have been before.
    Resend,
    /// It is not sent any more. The session's log keeps it.
    Drop,
}

/// By whom it may be read twice, or never, is yours to weigh.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ResolveUndelivered {
    pub id: i64,
    pub action: Resolution,
}

impl Operation for ResolveUndelivered {
    type Response = ResolvedMessage;
    const NAME: &'static str = "outbox.resolve";
    const CAPABILITY: Capability = Capability::Sessions;

    async fn execute(
        self,
        service: &Service,
        _: &Requester,
    ) -> Result<Self::Response, ServiceError> {
        let ResolveUndelivered { id, action } = self;
        let outbox = service.store().outbox();
        let session = match action {
            Resolution::Resend => outbox.resend(id).await?,
            Resolution::Drop => outbox.discard(id).await?,
        };
        // Also where one is dropped: others may have waited behind it.
        if let Some(agent) = service.running_agent().cloned() {
            let session = session.clone();
            // A platform may take its time; what comes of it is in the list.
            tokio::spawn(async move { agent.deliver(&session).await });
        }
        Ok(ResolvedMessage {
            id,
            session,
            action,
        })
    }
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ResolvedMessage {
    pub id: i64,
    pub session: SessionKey,
    pub action: Resolution,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct UndeliveredView {
    pub id: i64,
    pub session: SessionKey,
    /// What of it can be said in words.
    pub text: String,
    pub state: DeliveryState,
    /// Why, where that is known.
    pub reason: Option<String>,
    /// When it was to be sent.
    #[schemars(with = "String")]
    pub since: Timestamp,
}

impl From<Undelivered> for UndeliveredView {
    fn from(message: Undelivered) -> Self {
        let words: Vec<_> = message.parts.iter().filter_map(Part::words).collect();
        UndeliveredView {
            id: message.id,
            session: message.session,
            text: words.join("\n"),
            state: message.state,
            reason: message.reason,
            since: message.since,
        }
    }
}
