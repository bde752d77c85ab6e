//! `turn_run` and `agent_loop`: a plugin asks for an answer in a session, or for a loop of its own. It
//! waits and is called back meanwhile, for its tools and for what it wants to hear.

use std::{sync::Arc, time::Duration};

use callgate_contract::{
    Allowed, ConversationId, Grant, Kind, MethodError, Mode, ModelMessage, Part, Peer, SessionKey,
    TurnStop, Value,
};
use callgate_gate::{Call, Function, method as made};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value as Json, json};

use super::{failed, gone, hosted, offered, openai, row, session, user_parts, value};
use crate::{
    Agent, Arrived, Parent, TurnAsk, TurnReport, Watch,
    arrival::TurnTrigger,
    history::to_json,
    nested::{cancel_below, to_the_end},
    turn::{Companion, SessionContext, Speakers, Turn, TurnOptions},
};

#[derive(Deserialize, JsonSchema)]
struct Loop {
    /// OpenAI's messages: all there is to ask with.
    messages: Json,
    /// `{name, description, parameters, handle}`; without a handle, the gate's method of that name.
    #[serde(default)]
    tools: Json,
    #[serde(default)]
    model: Option<String>,
    /// Handed back with every step.
    #[serde(default, rename = "ref")]
    reference: Json,
    #[serde(default)]
    session: Option<String>,
    #[serde(default)]
    max_steps: Option<u32>,
    /// What the model is told after the last step.
    #[serde(default)]
    last_words: Option<String>,
    /// Seconds, for methods of the gate.
    #[serde(default)]
    tool_timeout: Option<f64>,
    /// Pieces of the model's words come as items.
    #[serde(default)]
    stream: Option<bool>,
    /// The event it belongs to, for the plugin's own use.
    #[serde(default)]
    #[allow(dead_code, reason = "accepted so that plugins need not leave it out")]
    event: Json,
}

pub(super) fn agent_loop(agent: &Agent) -> Function {
    let agent = agent.downgrade();
    let handler = move |call: Call, asked: Loop| {
        let agent = agent.upgrade();
        async move { agent.ok_or_else(gone)?.agent_loop(call, asked).await }
    };
    let method = made("agent_loop", Kind::Tool, handler);
    hosted(method.doc("A loop of model and tools, in the plugin's own words."))
}

#[derive(Deserialize, JsonSchema)]
struct TurnRunArguments {
    /// None is where the plugin acts.
    #[serde(default)]
    session: Option<String>,
    /// The log's row that is to be answered.
    #[serde(default)]
    row: Option<i64>,
    #[serde(default, rename = "ref")]
    reference: Json,
    #[serde(default)]
    request: Option<LoopRequest>,
    /// `request`: it is shown before it is asked.
    #[serde(default)]
    hooks: Vec<String>,
    #[serde(default)]
    max_steps: Option<u32>,
    /// What the model is told after the last step.
    #[serde(default)]
    last_words: Option<String>,
    #[serde(default)]
    tool_timeout: Option<f64>,
    #[serde(default)]
    stream: Option<bool>,
    /// `worker`, which sends the answer itself, or `host`.
    #[serde(default)]
    deliver: Option<String>,
}

/// What is left out is as usual.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(default)]
struct LoopRequest {
    /// The plugin's own request, not the message's: answered in tool mode.
    own: bool,
    prompt: Option<String>,
    system_prompt: Option<String>,
    /// OpenAI's messages, in place of the history.
    contexts: Option<Json>,
    model: Option<String>,
    tools: Option<Json>,
    images: Vec<String>,
    /// Further parts of what the user says, as OpenAI has them.
    extra_user_content_parts: Json,
    /// An id, in place of the session's current one.
    conversation: Option<String>,
    /// Answered without persona and history, and kept in no conversation.
    apart: bool,
}

pub(super) fn turn_run(agent: &Agent) -> Function {
    let agent = agent.downgrade();
    let handler = move |call: Call, asked: TurnRunArguments| {
        let agent = agent.upgrade();
        async move { agent.ok_or_else(gone)?.turn_run(call, asked).await }
    };
    let method = made("turn_run", Kind::Tool, handler);
    hosted(method.doc("Has a session's message answered; what is said comes as items."))
}

impl Agent {
    async fn agent_loop(&self, call: Call, asked: Loop) -> Result<Value, MethodError> {
        let session = session(&call, asked.session.as_deref())?;
        let (caller, peer) = (call.caller, companion(call.peer)?);
        self.within_depth(caller.depth)?;
        let tools = offered(&asked.tools, &peer, &asked.reference)?;
        // Of the gate's methods those that were named, as far as the caller holds them.
        let named: Vec<String> = tools
            .iter()
            .filter(|tool| tool.ad_hoc.is_none())
            .map(|tool| tool.spec.name.clone())
            .filter(|name| match &caller.grant.methods {
                Allowed::All => true,
                Allowed::Only(held) => held.contains(name),
            })
            .collect();
        let cancel = cancel_below(&caller);
        let grant = Arc::new(Grant {
            methods: Allowed::Only(named),
            ..Grant::clone(&caller.grant)
        });
        let parent = Parent::of(&caller, grant);
        let ask = TurnAsk {
            session,
            principal: caller.principal,
            role: caller.role,
            speakers: Speakers::default(),
            parts: Vec::new(),
            rows: Vec::new(),
            conversation: None,
            history: None,
            persona: None,
            mode: Mode::Tools,
            model: asked.model.unwrap_or_default(),
            parent: Some(parent),
            options: TurnOptions {
                history: Some(openai::messages(&asked.messages).map_err(MethodError::new)?),
                bare: true,
                tools: Some(tools),
                rounds: asked.max_steps,
                last_words: asked.last_words,
                call_timeout: asked.tool_timeout.map(seconds),
                companion: Some(Companion {
                    hears_pieces: asked.stream == Some(true),
                    ..Companion::silent(peer, asked.reference)
                }),
                ..TurnOptions::default()
            },
            watch: Watch::default(),
            cancel: cancel.clone(),
            known: SessionContext::default(),
        };
        let agent = self.clone();
        let looped = async move {
            let (report, turn) = agent.loop_of(ask).await?;
            Ok(loop_result(&report, &turn))
        };
        // Boxed: a tool of the loop may ask for a loop.
        value(to_the_end(cancel, Box::pin(looped)).await?)
    }

    async fn turn_run(&self, call: Call, asked: TurnRunArguments) -> Result<Value, MethodError> {
        let session = session(&call, asked.session.as_deref())?;
        let row = match asked.row {
            Some(id) => Some(row(self, &call, id).await?),
            None => None,
        };
        // Compat(astrbot): an event may be turned toward another session, which does not answer the
        // message of this one.
        let row = row.filter(|row| row.session == session);
        let (caller, peer) = (call.caller, companion(call.peer)?);
        self.within_depth(caller.depth)?;
        if row.is_some() {
            let gathering = self.gathering(&session).await.map_err(failed)?;
            tokio::time::sleep(gathering).await;
        }
        if self.is_answering_to(&session, &caller.principal) {
            if let Some(row) = row {
                self.store().log().release(&row).await.map_err(failed)?;
                self.answer_later(row);
            }
            return value(json!({"joined": true}));
        }
        let request = asked.request;
        let mut trigger = TurnTrigger::new(session.clone(), caller.principal.clone(), caller.role);
        let answered = row.as_ref().map(|row| row.id);
        let wished = answered.and_then(|id| self.sessions().wishes.wished(&session, id));
        if let Some(wished) = wished {
            (trigger.overrule, trigger.watch) = wished;
        }
        if let Some(request) = &request {
            if request.own {
                trigger.overrule.mode = Some(Mode::Tools);
            }
            trigger.apart = request.apart;
            let conversation = request.conversation.as_deref();
            let conversation = conversation.and_then(|id| id.parse().ok());
            if let Some(id) = conversation {
                self.is_of_session(&session, id).await?;
            }
            trigger.conversation = conversation;
            if request.model.is_some() {
                trigger.overrule.model = request.model.clone();
            }
            let prompt = request.prompt.iter().map(Part::text);
            let images = request
                .images
                .iter()
                .map(|url| Part::Image { url: url.clone() });
            let extra = user_parts(&request.extra_user_content_parts);
            let extra = extra.into_iter().map(|(part, _)| part);
            let parts: Vec<Part> = prompt.chain(extra).chain(images).collect();
            trigger.prompt = (!parts.is_empty()).then_some(parts);
        }
        trigger.reserved = row;
        trigger.options = options(asked.reference, &request.unwrap_or_default(), peer)?;
        trigger.options.rounds = asked.max_steps;
        trigger.options.last_words = asked.last_words;
        trigger.options.call_timeout = asked.tool_timeout.map(seconds);
        trigger.cancel = cancel_below(&caller);
        trigger.options.budget = Some(caller.grant.budget.clone());
        if let Some(companion) = &mut trigger.options.companion {
            companion.sees_request = asked.hooks.iter().any(|hook| hook == "request");
            companion.hears_pieces = asked.stream == Some(true);
            companion.delivers = asked.deliver.as_deref() != Some("host");
        }
        let (agent, cancel) = (self.clone(), trigger.cancel.clone());
        let companion = trigger.options.companion.as_ref();
        let companion = companion.filter(|companion| companion.delivers);
        let companion = companion.map(|one| (one.peer.clone(), one.reference.clone()));
        let answers = match answered {
            Some(row) => Some(self.sessions().wishes.answers(row).await),
            None => None,
        };
        let answered = async move {
            let _answers = answers;
            Ok(match agent.answer_on(trigger).await? {
                Arrived::Turn(report) => {
                    if let Some((peer, reference)) = companion {
                        agent.see_delivered(&peer, &reference, &report).await?;
                    }
                    turn_result(&report)
                }
                _ => json!({"joined": true}),
            })
        };
        value(to_the_end(cancel, Box::pin(answered)).await?)
    }

    /// Whoever names a conversation of another session would have its history told here. Compat(astrbot):
    /// a session that was switched to one has it as its own.
    async fn is_of_session(
        &self,
        session: &SessionKey,
        id: ConversationId,
    ) -> Result<(), MethodError> {
        let conversations = self.store().conversations();
        let found = conversations.get(id).await.map_err(failed)?;
        let foreign = found.is_some_and(|found| found.session != *session);
        if foreign && conversations.current(session).await.map_err(failed)? != Some(id) {
            let text = format!("there is no conversation {id} in {session}: switch to it first");
            return Err(MethodError::new(text));
        }
        Ok(())
    }

    /// Loops within loops, and agents within agents, end somewhere.
    fn within_depth(&self, depth: u8) -> Result<(), MethodError> {
        let limit = self.settings().depth;
        if depth >= limit {
            Err(MethodError::new(format!(
                "agents may not be nested deeper than {limit}: do it yourself"
            )))
        } else {
            Ok(())
        }
    }
}

fn companion(peer: Option<Peer>) -> Result<Peer, MethodError> {
    peer.ok_or_else(|| MethodError::new("only a plugin can ask for this, and wait for it"))
}

fn seconds(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds).unwrap_or(super::LONG)
}

fn options(reference: Json, request: &LoopRequest, peer: Peer) -> Result<TurnOptions, MethodError> {
    let tools = match &request.tools {
        Some(tools) => Some(offered(tools, &peer, &reference)?),
        None => None,
    };
    let history = match &request.contexts {
        Some(contexts) => Some(openai::messages(contexts).map_err(MethodError::new)?),
        None => None,
    };
    Ok(TurnOptions {
        system: request.system_prompt.clone(),
        history,
        tools,
        companion: Some(Companion::silent(peer, reference)),
        ..TurnOptions::default()
    })
}

pub(crate) fn role(stop: Option<TurnStop>) -> &'static str {
    match stop {
        Some(TurnStop::Error | TurnStop::Budget | TurnStop::Cancelled) => "err",
        _ => "assistant",
    }
}

fn turn_result(report: &TurnReport) -> Json {
    json!({
        "joined": false,
        "role": role(report.stop),
        "stop": report.stop,
        "text": report.text,
        "turn": report.turn,
        "rounds": report.rounds,
        "calls": report.calls,
    })
}

fn loop_result(report: &TurnReport, turn: &Turn) -> Json {
    let messages = &turn.state.request.messages;
    let (reasoning, ended) = match messages.last() {
        Some(ModelMessage::Assistant { reasoning, .. }) => (reasoning.as_str(), false),
        // Its last word was a tool's.
        _ => ("", role(report.stop) == "assistant"),
    };
    json!({
        "role": role(report.stop),
        "stop": report.stop,
        "text": report.text,
        "reasoning": reasoning,
        "tool_calls": [],
        "usage": turn.progress.usage,
        "messages": messages.iter().map(to_json).collect::<Vec<_>>(),
        "ended": ended,
        "steps": report.rounds,
        "model": turn.facts.model,
        "turn": report.turn,
    })
}
