//! `model_chat`: one question to a model, in a plugin's own words. It is a turn of one round, so that
//! it is on record and paid for; nobody else hears of it.

use callgate_contract::{Kind, MethodError, Mode, ModelRequest, TurnStop, Value};
use callgate_gate::{Call, Function, method as made};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value as Json;

use super::{gone, hosted, openai, value};
use crate::{
    Agent, Parent, TurnAsk, TurnError, Watch,
    language::Language,
    nested::{cancel_below, to_the_end},
    texts,
    turn::{Companion, NoReply, SessionContext, Speakers, TurnOptions},
};

#[derive(Deserialize, JsonSchema)]
struct Chat {
    /// An id; none is the default model.
    #[serde(default)]
    model: Option<String>,
    /// As OpenAI's chat completions take it.
    request: Json,
}

pub(super) fn method(agent: &Agent) -> Function {
    let agent = agent.downgrade();
    let handler = move |call: Call, chat: Chat| {
        let agent = agent.upgrade();
        async move { agent.ok_or_else(gone)?.chat(call, chat).await }
    };
    let method = made("model_chat", Kind::Tool, handler);
    hosted(method.doc("Asks a model; pieces of the answer come as items, then the whole of it."))
}

impl Agent {
    async fn chat(&self, call: Call, chat: Chat) -> Result<Value, MethodError> {
        let request = openai::request(chat.request).map_err(MethodError::new)?;
        let wanted = chat.model.filter(|id| !id.is_empty());
        let model = self.models().choose(wanted.as_deref()).id.clone();
        let caller = call.caller;
        let cancel = cancel_below(&caller);
        let parent = Parent::of(&caller, caller.grant.clone());
        let ask = TurnAsk {
            session: caller.session,
            principal: caller.principal,
            role: caller.role,
            speakers: Speakers::default(),
            parts: Vec::new(),
            rows: Vec::new(),
            conversation: None,
            history: None,
            persona: None,
            mode: Mode::Tools,
            model,
            parent: Some(parent),
            options: TurnOptions {
                companion: call.peer.map(|peer| Companion {
                    hears_pieces: true,
                    ..Companion::silent(peer, Json::Null)
                }),
                ..TurnOptions::default()
            },
            watch: Watch::default(),
            cancel: cancel.clone(),
            known: SessionContext::default(),
        };
        let agent = self.clone();
        let asked = async move { agent.ask_once(ask, request).await };
        to_the_end(cancel, Box::pin(asked)).await?
    }

    async fn ask_once(
        &self,
        ask: TurnAsk,
        request: ModelRequest,
    ) -> Result<Result<Value, MethodError>, TurnError> {
        let mut turn = self.begin(ask).await?;
        let tools = request.tools.clone();
        turn.state.request = request;
        turn.state.round = 1;
        Ok(match turn.ask_model(tools).await? {
            Ok(reply) => {
                turn.finish(TurnStop::Answered, reply.text.clone()).await?;
                value(openai::reply(&reply, &turn.facts.model))
            }
            Err(NoReply::Cancelled) => {
                turn.finish(TurnStop::Cancelled, String::new()).await?;
                Err(MethodError::new("stopped"))
            }
            Err(NoReply::Budget(reason)) => {
                turn.state.round = 0;
                turn.finish(TurnStop::Budget, reason.clone()).await?;
                Err(MethodError::new(reason))
            }
            Err(NoReply::Model(error)) => {
                let text = texts::model_failed(Language::default(), &error);
                turn.finish(TurnStop::Error, text).await?;
                Err(MethodError::new(error.to_string()))
            }
        })
    }
}
