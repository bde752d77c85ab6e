//! `message_send`, `message_piece` and `system_push`: what a plugin says by itself, to people and to
//! the model.
//! Pieces of a message on its way are events of that message's own watch, as a model's are; only the whole
//! message is stored.

use callgate_contract::{
    Effect, Kind, Message, MethodError, Part, Points, Provenance, Value, Verdict,
};
use callgate_gate::{Call, Function, method as made};
use callgate_store::LogRole;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{failed, gone, hosted, row, session};
use crate::{Agent, TurnEvent, Watch, arrival::TurnTrigger};

#[derive(Deserialize, JsonSchema)]
struct Say {
    /// None is where the plugin acts.
    #[serde(default)]
    session: Option<String>,
    parts: Vec<Part>,
    /// False: the log does not keep it.
    #[serde(default)]
    record: Option<bool>,
    /// The platform's id of the message that this one answers.
    #[serde(default)]
    reference: Option<String>,
}

pub(super) fn message_send(agent: &Agent) -> Function {
    let agent = agent.downgrade();
    let handler = move |call: Call, say: Say| {
        let agent = agent.upgrade();
        async move { agent.ok_or_else(gone)?.send(call, say).await }
    };
    hosted(made("message_send", Kind::Tool, handler).doc("Sends a message to a chat."))
}

#[derive(Deserialize, JsonSchema)]
struct Piece {
    /// The log's row that is being answered: whoever looks on there sees it.
    row: i64,
    text: String,
    /// How it was thought of, which is no part of the message.
    #[serde(default)]
    thought: bool,
}

pub(super) fn message_piece(agent: &Agent) -> Function {
    let agent = agent.downgrade();
    let handler = move |call: Call, piece: Piece| {
        let agent = agent.upgrade();
        async move { agent.ok_or_else(gone)?.show_piece(call, piece).await }
    };
    let method = made("message_piece", Kind::Tool, handler).effect(Effect::Idempotent);
    hosted(method.doc("Shows words of a message on its way, which follows when it is whole."))
}

#[derive(Deserialize, JsonSchema)]
struct Push {
    /// None is where the plugin acts.
    #[serde(default)]
    session: Option<String>,
    text: String,
    /// The model is to react to it now.
    #[serde(default)]
    trigger: bool,
}

pub(super) fn system_push(agent: &Agent) -> Function {
    let agent = agent.downgrade();
    let handler = move |call: Call, push: Push| {
        let agent = agent.upgrade();
        async move { agent.ok_or_else(gone)?.push(call, push).await }
    };
    let method = made("system_push", Kind::Tool, handler);
    hosted(method.doc("Leaves a system row that the model and people see."))
}

impl Agent {
    async fn send(&self, call: Call, say: Say) -> Result<Value, MethodError> {
        let session = session(&call, say.session.as_deref())?;
        let mut parts = say.parts;
        if let Some(to) = say.reference.filter(|to| !to.is_empty()) {
            parts.insert(0, Part::Reply { to, text: None });
        }
        if parts.is_empty() {
            return Ok(Value::Null);
        }
        call.caller.grant.budget.take_message().map_err(failed)?;
        let message = Message { session, parts };
        let recorded = say.record != Some(false);
        let outbox = self.store().outbox();
        outbox
            .send(call.caller.journal, &message, recorded)
            .await
            .map_err(failed)?;
        self.deliver(&message.session).await;
        Ok(Value::Null)
    }

    /// Seen by those who look on, as the model's own words are, and kept nowhere.
    async fn show_piece(&self, call: Call, piece: Piece) -> Result<Value, MethodError> {
        let session = &call.caller.session;
        let Some((_, watch)) = self.sessions().wishes.wished(session, piece.row) else {
            // Nobody looks on, or it is none of its business.
            return row(self, &call, piece.row).await.map(|_| Value::Null);
        };
        let text = piece.text;
        watch.tell(if piece.thought {
            TurnEvent::Thought { text }
        } else {
            TurnEvent::Text { text }
        });
        Ok(Value::Null)
    }

    async fn push(&self, call: Call, push: Push) -> Result<Value, MethodError> {
        let session = session(&call, push.session.as_deref())?;
        let mut verdict = Verdict::Pass;
        if !push.text.is_empty() {
            for listener in self.listeners(Points::SYSTEM_ROW) {
                verdict = verdict.max(listener.system_row(&session, &push.text).await);
            }
            if verdict == Verdict::Hide {
                return Ok(Value::Null);
            }
            let parts = [Part::text(push.text.as_str())];
            let log = self.store().log();
            let plugin = call.caller.grant.budget.payer().origin.clone();
            let from = plugin.map(Provenance::Plugin);
            log.append(&session, LogRole::System, from, &parts)
                .await
                .map_err(failed)?;
        }
        let triggers = match verdict {
            Verdict::Force => true,
            Verdict::NoTurn | Verdict::Taken => false,
            Verdict::Pass | Verdict::Hide => push.trigger,
        };
        if triggers {
            let mut trigger = TurnTrigger::new(session, call.caller.principal, call.caller.role);
            trigger.prompt = Some(vec![Part::text(push.text)]);
            trigger.watch = Watch::default();
            let agent = self.clone();
            // Nobody waits for it: the plugin may be part of the turn that runs now.
            tokio::spawn(async move {
                if let Err(error) = agent.answer_on(trigger).await {
                    tracing::warn!(%error, "turn requested by a plugin failed");
                }
            });
        }
        Ok(Value::Null)
    }
}
