//! What a model would be asked if a turn began now: the same path as a real turn, up to the point
//! where the model is asked. Nothing is asked, and nothing is written into log or conversation.

use callgate_contract::{Cancel, JournalId, Mode, ModelRequest, Principal, SessionKey, Shared};
use callgate_store::{Persona, TurnStart};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::{Turn, begin::allowed, words_of};
use crate::{Agent, Override, TurnError, Watch};

#[derive(Clone, Debug, Serialize, Deserialize, schemars::JsonSchema)]
#[schemars(rename = "PromptPreview")]
pub struct Preview {
    pub mode: Mode,
    pub model: String,
    pub request: ModelRequest,
}

impl Agent {
    /// For a message of `principal`; messages that wait for an answer are answered in it.
    pub async fn preview(
        &self,
        session: &SessionKey,
        principal: Principal,
        overrule: Override,
    ) -> Result<Preview, TurnError> {
        self.preview_with(session, principal, overrule, None).await
    }

    /// The same with a persona in the place of the one that answers there, such as one that is
    /// being written.
    pub async fn preview_with(
        &self,
        session: &SessionKey,
        principal: Principal,
        overrule: Override,
        instead: Option<Persona>,
    ) -> Result<Preview, TurnError> {
        let (conversations, personas) = (self.store().conversations(), self.store().personas());
        let current = match conversations.current(session).await? {
            Some(id) => conversations.get(id).await?,
            None => None,
        };
        let persona = match (instead, &current) {
            (Some(persona), _) => Some(persona),
            (None, Some(conversation)) => personas.answering(conversation).await?,
            (None, None) => Some(personas.default(Some(session)).await?),
        };
        let role = overrule.role.unwrap_or_else(|| self.role_of(&principal));
        let (mode, model) = self.chosen(session, persona.as_ref(), overrule).await?;
        let start = TurnStart {
            id: JournalId::fresh(),
            session: session.clone(),
            conversation: current.map(|conversation| conversation.id),
            principal,
            role,
            mode,
            model,
            persona: persona.as_ref().map(|persona| persona.name.clone()),
            allowed: allowed(persona.as_ref()),
            parent: None,
            depth: 0,
            unprompted: false,
            plan: Json::Null,
        };
        let waiting = self.store().log().unanswered(session).await?;
        let parts = words_of(waiting);
        let (watch, cancel) = (Watch::default(), Cancel::default());
        let mut turn = Turn::new(self.clone(), start, persona, None, watch, cancel);
        let prepared = turn.begin_request(parts).await?;
        turn.state.step(prepared, false);
        let tools = match mode {
            Mode::Code => {
                turn.collect().await;
                Shared::default()
            }
            Mode::Tools => {
                let methods = self.gate().catalogue(&turn.caller);
                turn.declared(&methods)
            }
        };
        let prepared = turn.prepared(tools).await?;
        Ok(Preview {
            mode,
            model: prepared.model.id,
            request: prepared.request,
        })
    }
}
