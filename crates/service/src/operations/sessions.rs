//! Sessions: where people speak, and what was said there.

mod details;

use std::collections::HashSet;

use callgate_contract::{Mode, SessionKey};
use callgate_store::{Persona, SessionSettings};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

pub use details::{DescribeSession, ForkSession, ForkedSession, SessionDetails, TurnSummary};

use super::{ApprovalView, List, Page, RowView};
use crate::{Capability, Listing, Operation, Requester, Service, ServiceError, config::keys};

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SessionView {
    pub session: SessionKey,
    /// What the chat is called, where its platform says so.
    pub chat_name: Option<String>,
    pub last: Option<RowView>,
    pub conversations: usize,
    pub current: Option<String>,
    pub persona: String,
    /// None where nobody chose one and models are not known yet.
    pub model: Option<String>,
    pub mode: Mode,
    /// A turn runs now.
    pub answering: bool,
    pub muted: bool,
    /// What of the sections `answer` and `pace` of callgate.toml is different here.
    pub answer: Map<String, Json>,
    pub pace: Map<String, Json>,
    /// Calls that wait for the operator's answer, oldest first; /api/events tells of new and answered
    /// ones.
    pub approvals: Vec<ApprovalView>,
}

async fn view(service: &Service, session: SessionKey) -> Result<SessionView, ServiceError> {
    let (agent, store) = (service.running_agent(), service.store());
    let settings: SessionSettings = store.settings().session(&session).await?.value;
    let persona = store.personas().default(Some(&session)).await?;
    let chosen = settings.model.clone().or(persona.model);
    let last = store.log().list(&session, 1).await?.pop();
    let conversations = store.conversations().list(Some(&session), None).await?;
    let current = store.conversations().current(&session).await?;
    let waiting = store.approvals().pending_in(&session).await?;
    Ok(SessionView {
        last: last.map(RowView::from),
        conversations: conversations.len(),
        current: current.map(|id| id.to_string()),
        persona: persona.name,
        model: match agent {
            Some(agent) => Some(agent.models().choose(chosen.as_deref()).id.clone()),
            None => chosen,
        },
        mode: settings.mode.unwrap_or(persona.mode),
        answering: agent.is_some_and(|agent| agent.is_answering(&session)),
        muted: settings.muted,
        chat_name: settings.chat_name,
        answer: own(settings.answer),
        pace: own(settings.pace),
        approvals: waiting.into_iter().map(ApprovalView::from).collect(),
        session,
    })
}

fn own(settings: Option<Json>) -> Map<String, Json> {
    match settings {
        Some(Json::Object(own)) => own,
        _ => Map::new(),
    }
}

/// The latest first.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct ListSessions {
    #[serde(flatten)]
    pub page: Page,
}

impl Operation for ListSessions {
    type Response = List<SessionView>;
    const NAME: &'static str = "sessions.list";
    const CAPABILITY: Capability = Capability::Read;

    async fn execute(
        self,
        service: &Service,
        _: &Requester,
    ) -> Result<Self::Response, ServiceError> {
        let store = service.store();
        let opened = store.sessions().list().await?;
        let conversations = store.conversations().list(None, None).await?;
        let spoken = conversations.into_iter().map(|it| it.session);
        let mut seen = HashSet::new();
        // A session has folders once code ran in it, and conversations once it was answered.
        let mut keys: Vec<SessionKey> = spoken
            .chain(opened.into_iter().rev().map(|session| session.key))
            .collect();
        keys.retain(|key| seen.insert(key.clone()));
        let page = self.page.of(keys, SessionKey::to_string)?;
        let mut items = Vec::new();
        for key in page.items {
            items.push(view(service, key).await?);
        }
        let next = page.next;
        Ok(List { items, next })
    }
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GetSession {
    pub session: SessionKey,
}

impl Operation for GetSession {
    type Response = SessionView;
    const NAME: &'static str = "sessions.get";
    const CAPABILITY: Capability = Capability::Read;

    async fn execute(
        self,
        service: &Service,
        _: &Requester,
    ) -> Result<Self::Response, ServiceError> {
        view(service, self.session).await
    }
}

/// What is not named stays; `""` goes back to the default.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UpdateSession {
    pub session: SessionKey,
    pub model: Option<String>,
    pub persona: Option<String>,
    pub mode: Option<Mode>,
    pub muted: Option<bool>,
    /// Keys of the section `answer` of callgate.toml, for this session; null goes back to what that says.
    #[serde(default)]
    pub answer: Map<String, Json>,
    /// The same of the section `pace`.
    #[serde(default)]
    pub pace: Map<String, Json>,
}

impl UpdateSession {
    fn check(&self, service: &Service) -> Result<(), ServiceError> {
        let given = |changed: &Map<String, Json>| {
            let given = changed.iter().filter(|(_, value)| !value.is_null());
            Json::Object(
                given
                    .map(|(key, value)| (key.clone(), value.clone()))
                    .collect(),
            )
        };
        let config = service.config();
        let answer = config.answer.with(&given(&self.answer)).map(drop);
        let pace = config.pace.with(&given(&self.pace)).map(drop);
        for (section, checked) in [("answer", answer), ("pace", pace)] {
            if let Err(error) = checked {
                let message = format!("{section}: {error}");
                return Err(ServiceError::invalid(message, keys::HINT));
            }
        }
        Ok(())
    }
}

/// What a session has for itself, with these changes; `None` where that is nothing.
fn changed(settings: Option<Json>, changes: Map<String, Json>) -> Option<Json> {
    let mut settings = own(settings);
    for (key, value) in changes {
        match value {
            Json::Null => drop(settings.remove(&key)),
            value => drop(settings.insert(key, value)),
        }
    }
    (!settings.is_empty()).then_some(Json::Object(settings))
}

impl Operation for UpdateSession {
    type Response = SessionView;
    const NAME: &'static str = "sessions.update";
    const CAPABILITY: Capability = Capability::Sessions;

    async fn execute(
        self,
        service: &Service,
        _: &Requester,
    ) -> Result<Self::Response, ServiceError> {
        let chosen = |text: String| (!text.is_empty()).then_some(text);
        if let Some(model) = self.model.clone().and_then(chosen)
            && service.agent().await?.models().get(&model).is_none()
        {
            let message = format!("no model '{model}'");
            return Err(ServiceError::invalid(message, Listing::Models));
        }
        if let Some(persona) = self.persona.clone().and_then(chosen)
            && persona != Persona::built_in().name
        {
            service.store().personas().get(&persona).await?;
        }
        self.check(service)?;
        let session = self.session.clone();
        let change = move |settings: &mut SessionSettings| {
            if let Some(model) = self.model {
                settings.model = chosen(model);
            }
            if let Some(persona) = self.persona {
                settings.persona = chosen(persona);
            }
            settings.mode = self.mode.or(settings.mode);
            settings.muted = self.muted.unwrap_or(settings.muted);
            settings.answer = changed(settings.answer.take(), self.answer);
            settings.pace = changed(settings.pace.take(), self.pace);
        };
        let settings = service.store().settings();
        settings.change_session(&session, change).await?;
        view(service, session).await
    }
}

/// What was said, newest first.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct ListMessages {
    pub session: SessionKey,
    #[serde(flatten)]
    pub page: Page,
}

impl Operation for ListMessages {
    type Response = List<RowView>;
    const NAME: &'static str = "sessions.messages";
    const CAPABILITY: Capability = Capability::Read;

    async fn execute(
        self,
        service: &Service,
        _: &Requester,
    ) -> Result<Self::Response, ServiceError> {
        let (before, limit) = (self.page.after()?, self.page.limit());
        let log = service.store().log();
        let mut rows = log.before(&self.session, before, limit + 1).await?;
        let more = rows.len() > limit as usize;
        rows.truncate(limit as usize);
        let next = more
            .then(|| rows.last().map(|row| row.id.to_string()))
            .flatten();
        let items = rows.into_iter().map(RowView::from).collect();
        Ok(List { items, next })
    }
}

/// The turn that runs in a session.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StopTurn {
    pub session: SessionKey,
}

impl Operation for StopTurn {
    type Response = StoppedTurn;
    const NAME: &'static str = "sessions.stop";
    const CAPABILITY: Capability = Capability::Sessions;

    async fn execute(
        self,
        service: &Service,
        _: &Requester,
    ) -> Result<Self::Response, ServiceError> {
        let agent = service.running_agent();
        let stopped = agent.is_some_and(|agent| agent.stop(&self.session));
        Ok(StoppedTurn { stopped })
    }
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct StoppedTurn {
    /// False if none ran.
    pub stopped: bool,
}
