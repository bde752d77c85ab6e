//! What the agent itself costs: a turn of many tool calls, and many conversations at once, each with
//! a model that answers at once, in-process. Everything is journaled as in earnest.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::ensure;
use callgate_agent::{Agent, AgentSettings, Arrived, Override, Sessions, Watch, Wiring};
use callgate_contract::{
    BoxFuture, CallArguments, FinishReason, Message, Mode, Model, ModelError, ModelEvent,
    ModelMessage, ModelRequest, ModelStream, Models, NamedModel, Outbox, Part, ToolCall,
};
use callgate_store::{Incoming, Sender};

use crate::{goals::TOOL_STEP, scene::Scene, stats::Samples, table::Table};

/// Tool calls of one turn.
const CALLS: [usize; 4] = [1, 10, 100, 1_000];
/// Conversations at once.
const CONVERSATIONS: [usize; 3] = [1, 50, 1_000];
/// Messages of each measurement, over all conversations.
const MESSAGES: usize = 1_000;

#[derive(Default)]
pub(crate) struct Turns {
    steps: [Samples; 4],
    rates: [f64; 3],
}

/// Calls `pure` until it was called as often as the message says, then answers.
struct Caller;

impl Model for Caller {
    fn stream(&self, request: ModelRequest) -> BoxFuture<'_, Result<ModelStream, ModelError>> {
        let made = |message: &&ModelMessage| matches!(message, ModelMessage::Tool { .. });
        let made = request.messages.iter().filter(made).count();
        let wanted = wanted(&request.messages);
        let events = if made < wanted {
            let arguments = [("value".to_owned(), made.to_string().into())];
            vec![
                ModelEvent::ToolCall(ToolCall {
                    id: format!("call_{made}"),
                    name: "pure".into(),
                    arguments: CallArguments::Object(arguments.into_iter().collect()),
                    extra: None,
                }),
                ModelEvent::Finished {
                    reason: FinishReason::ToolCalls,
                },
            ]
        } else {
            vec![
                ModelEvent::TextDelta {
                    text: "Done.".into(),
                },
                ModelEvent::Finished {
                    reason: FinishReason::Stop,
                },
            ]
        };
        Box::pin(std::future::ready(Ok(ModelStream::of(events))))
    }
}

/// The number in the user's message.
fn wanted(messages: &[ModelMessage]) -> usize {
    let first = messages.iter().find_map(|message| match message {
        ModelMessage::User { parts } => parts.first(),
        _ => None,
    });
    match first {
        Some(Part::Text { text }) => text.parse().unwrap_or(0),
        _ => 0,
    }
}

struct Nowhere;

impl Outbox for Nowhere {
    fn deliver<'a>(&'a self, _: i64, _: &'a Message) -> BoxFuture<'a, Result<(), String>> {
        Box::pin(std::future::ready(Ok(())))
    }
}

fn agent(scene: &Scene) -> Agent {
    let model = NamedModel {
        id: "bench".into(),
        model: Arc::new(Caller),
    };
    Agent::new(Wiring {
        coder: scene.coder.clone(),
        models: Models::new(model, Vec::new(), None, None),
        settings: AgentSettings {
            rounds: 2_000,
            debounce: Duration::ZERO,
            keep_requests: false,
            ..AgentSettings::default()
        },
        listeners: Vec::new(),
        outbox: Arc::new(Nowhere),
        packages: Vec::new(),
        sessions: Sessions::default(),
    })
}

/// One message, answered.
async fn message(agent: &Agent, session: &str, text: String) -> anyhow::Result<()> {
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
    };
    let overrule = Override {
        mode: Some(Mode::Tools),
        ..Override::default()
    };
    let arrived = agent.arrive(incoming, overrule, Watch::default()).await?;
    ensure!(matches!(arrived, Arrived::Turn(_)), "{arrived:?}");
    Ok(())
}

impl Turns {
    pub(crate) async fn measure(scene: &Scene, quick: bool) -> anyhow::Result<Turns> {
        let agent = agent(scene);
        let mut turns = Turns::default();
        for (calls, samples) in CALLS.into_iter().zip(&mut turns.steps) {
            let times = if quick {
                1
            } else {
                (300 / calls).clamp(2, 100)
            };
            for number in 0..times {
                let session = format!("bench:FriendMessage:{calls}-{number}");
                let began = Instant::now();
                message(&agent, &session, calls.to_string()).await?;
                samples.push(began.elapsed() / calls as u32);
            }
        }
        let messages = if quick { 50 } else { MESSAGES };
        for (conversations, rate) in CONVERSATIONS.into_iter().zip(&mut turns.rates) {
            let began = Instant::now();
            let mut tasks = tokio::task::JoinSet::new();
            for number in 0..conversations.min(messages) {
                let (agent, each) = (agent.clone(), messages / conversations.min(messages));
                tasks.spawn(async move {
                    let session = format!("bench:FriendMessage:{conversations}x{number}");
                    for _ in 0..each {
                        message(&agent, &session, "0".into()).await?;
                    }
                    anyhow::Ok(())
                });
            }
            while let Some(done) = tasks.join_next().await {
                done??;
            }
            *rate = messages as f64 / began.elapsed().as_secs_f64();
        }
        Ok(turns)
    }

    pub(crate) fn report(self, table: &mut Table) {
        for (calls, samples) in CALLS.into_iter().zip(self.steps) {
            let what = format!("tool loop, a step of {calls}");
            table.times(&what, "callgate, journaled", samples, TOOL_STEP);
        }
        for (conversations, rate) in CONVERSATIONS.into_iter().zip(self.rates) {
            let what = format!("messages answered, {conversations} conversations");
            table.number(what, "callgate, journaled", (rate, "per s"), &[]);
        }
    }
}
