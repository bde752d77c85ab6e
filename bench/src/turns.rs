//! What the agent itself costs: a turn of many tool calls, with a model that answers at once,
//! in-process. Everything is journaled as in earnest.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::ensure;
use callgate_agent::{
    Agent, AgentSettings, Arrived, Override, Sessions, TurnReport, Watch, Wiring,
};
use callgate_contract::{
    BoxFuture, CallArguments, DeliveryError, FinishReason, Mode, Model, ModelError, ModelEvent,
    ModelMessage, ModelRequest, ModelStream, Models, NamedModel, Outbox, Part, Piece, Receipt,
    ToolCall,
};
use callgate_store::{Incoming, Sender};

use crate::{goals::TOOL_STEP, scene::Scene, stats::Samples, table::Table};

/// Tool calls of one turn.
const CALLS: [usize; 4] = [1, 10, 100, 1_000];

#[derive(Default)]
pub(crate) struct Turns {
    steps: [Samples; 4],
    /// The session had a turn before: its folders and rows are there.
    known: Samples,
}

/// Calls this method until it was called as often as the message says, then answers.
pub(crate) struct Caller(pub(crate) &'static str);

impl Model for Caller {
    fn stream(&self, request: ModelRequest) -> BoxFuture<'_, Result<ModelStream, ModelError>> {
        let made = |message: &&ModelMessage| matches!(message, ModelMessage::Tool { .. });
        let asked = |message: &ModelMessage| matches!(message, ModelMessage::User { .. });
        let begun = request.messages.iter().rposition(asked).unwrap_or(0);
        let turn = request.messages.get(begun..).unwrap_or_default();
        let made = turn.iter().filter(made).count();
        let events = if made < wanted(turn) {
            vec![
                ModelEvent::ToolCall(call(self.0, made)),
                ModelEvent::Finished {
                    reason: FinishReason::ToolCalls,
                },
            ]
        } else {
            says("Done.")
        };
        Box::pin(std::future::ready(Ok(ModelStream::of(events))))
    }
}

pub(crate) fn call(name: &str, number: usize) -> ToolCall {
    let arguments = [("value".to_owned(), number.to_string().into())];
    ToolCall {
        id: format!("call_{number}"),
        name: name.into(),
        arguments: CallArguments::Object(arguments.into_iter().collect()),
        extra: None,
    }
}

pub(crate) fn says(text: &str) -> Vec<ModelEvent> {
    vec![
        ModelEvent::TextDelta { text: text.into() },
        ModelEvent::Finished {
            reason: FinishReason::Stop,
        },
    ]
}

/// The number in the user's message.
fn wanted(turn: &[ModelMessage]) -> usize {
    match turn.first() {
        Some(ModelMessage::User { parts }) => match parts.first() {
            Some(Part::Text { text }) => text.parse().unwrap_or(0),
            _ => 0,
        },
        _ => 0,
    }
}

pub(crate) struct NullOutbox;

impl Outbox for NullOutbox {
    fn deliver<'a>(&'a self, _: Piece<'a>) -> BoxFuture<'a, Result<Receipt, DeliveryError>> {
        Box::pin(std::future::ready(Ok(Receipt::default())))
    }
}

/// The scene's store and sandbox with this model and the usual settings, but for the debounce.
pub(crate) fn agent(coder: callgate_agent::Coder, model: Arc<dyn Model>) -> Agent {
    let id = "bench".into();
    Agent::new(Wiring {
        coder,
        models: Models::new(NamedModel { id, model }, Vec::new(), None, None),
        settings: AgentSettings {
            rounds: 2_000,
            debounce: Duration::ZERO,
            ..AgentSettings::default()
        },
        listeners: Vec::new(),
        outbox: Arc::new(NullOutbox),
        packages: Vec::new(),
        sessions: Sessions::default(),
    })
}

/// One message, answered.
pub(crate) async fn message(
    agent: &Agent,
    session: &str,
    text: String,
    mode: Mode,
) -> anyhow::Result<TurnReport> {
    let incoming = Incoming {
        session: session.parse()?,
        sender: Sender {
            id: "bench".into(),
            name: String::new(),
        },
        parts: vec![Part::text(text)],
        message_id: None,
        hidden: false,
        mentioned: true,
        sent_at: None,
    };
    let overrule = Override {
        mode: Some(mode),
        ..Override::default()
    };
    match agent.arrive(incoming, overrule, Watch::default()).await? {
        Arrived::Turn(report) => Ok(report),
        other => anyhow::bail!("{other:?}"),
    }
}

impl Turns {
    pub(crate) async fn measure(scene: &Scene, quick: bool) -> anyhow::Result<Turns> {
        let agent = agent(scene.coder.clone(), Arc::new(Caller("pure")));
        let mut turns = Turns::default();
        for (calls, samples) in CALLS.into_iter().zip(&mut turns.steps) {
            let times = if quick {
                1
            } else {
                (300 / calls).clamp(2, 100)
            };
            for number in 0..times {
                let session = format!("bench:FriendMessage:{calls}-{number}");
                samples.push(steps(&agent, &session, calls).await?);
            }
        }
        for number in 0..if quick { 1 } else { 100 } {
            let session = format!("bench:FriendMessage:1-{number}");
            turns.known.push(steps(&agent, &session, 1).await?);
        }
        Ok(turns)
    }

    pub(crate) fn report(self, table: &mut Table) {
        for (calls, samples) in CALLS.into_iter().zip(self.steps) {
            let what = format!("tool loop, a step of {calls}");
            // One call is a whole message with a step in it; it is the next row's, not the goal's.
            let goals = if calls == 1 { &[][..] } else { TOOL_STEP };
            table.times(&what, "callgate, journaled", samples, goals);
        }
        let what = "message with one tool call, known session";
        table.times(what, "callgate, journaled", self.known, &[]);
    }
}

/// The time of one call with the round that asked for it.
pub(crate) async fn steps(agent: &Agent, session: &str, calls: usize) -> anyhow::Result<Duration> {
    let began = Instant::now();
    let report = message(agent, session, calls.to_string(), Mode::Tools).await?;
    ensure!(report.calls == calls as u64, "{report:?}");
    Ok(began.elapsed() / u32::try_from(calls)?)
}
