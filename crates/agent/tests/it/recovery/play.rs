//! The turns that are cut off: one per scenario, with a model, methods and an outbox that tell a
//! witness what they do. All of it is the same before and after the crash, and none of it
//! remembers anything: what is known after a restart is known from the store.

use std::{path::Path, sync::Arc};

use callgate_agent::{Agent, Override, Sessions, Watch, Wiring};
use callgate_contract::{
    BoxFuture, Change, DeliveryError, Effect, Kind, Message, MethodError, Mode, Model, ModelError,
    ModelEvent, ModelMessage, ModelRequest, ModelStream, Models, NamedModel, Outbox, Part, Piece,
    Receipt, Reply,
};
use callgate_gate::{Call, Gate, method};
use callgate_store::Store;
use callgate_testkit::Witness;

use crate::{
    scene::Reader,
    stage::{incoming, python, session, settings, tool_calls},
};

/// Longer than what goes into the context, so that a file is written.
const LONG: usize = 300;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scenario {
    Code,
    Tools,
    /// The code has spoken for itself: the words around it are not said.
    Spoken,
    /// Another message comes in meanwhile and joins the second round.
    JoinedCode,
    JoinedTools,
}

/// A call of the script: name, argument, the round it is made in.
pub type Step = (&'static str, &'static str, usize);

impl Scenario {
    pub const ALL: [Scenario; 5] = [
        Scenario::Code,
        Scenario::Tools,
        Scenario::Spoken,
        Scenario::JoinedCode,
        Scenario::JoinedTools,
    ];

    pub fn mode(self) -> Mode {
        match self {
            Scenario::Tools | Scenario::JoinedTools => Mode::Tools,
            Scenario::Code | Scenario::Spoken | Scenario::JoinedCode => Mode::Code,
        }
    }

    pub fn steps(self) -> &'static [Step] {
        const MANY: &[Step] = &[
            ("look", "a", 1),
            ("act", "b", 1),
            ("note", "c", 1),
            ("tell", "d", 1),
            ("search", "e", 1),
            ("look", "f", 2),
            ("look", "g", 2),
            ("act", "h", 2),
            ("search", "i", 2),
        ];
        match self {
            Scenario::Code | Scenario::Tools => MANY,
            Scenario::Spoken => &[("tell", "d", 1), ("act", "h", 1)],
            Scenario::JoinedCode | Scenario::JoinedTools => &[
                ("hear", "x", 1),
                ("search", "e", 1),
                ("act", "h", 2),
                ("search", "i", 2),
            ],
        }
    }

    /// The words of the last round; none where the code has spoken.
    pub fn answer(self) -> Option<&'static str> {
        (self != Scenario::Spoken).then_some("Done.")
    }

    fn reply(self, round: usize) -> Vec<ModelEvent> {
        let steps = || self.steps().iter().filter(move |step| step.2 == round);
        let text = |text: String| vec![ModelEvent::TextDelta { text }];
        if steps().next().is_none() {
            return text(self.answer().unwrap_or_default().to_owned());
        }
        let lines = steps().map(|(name, argument, _)| format!("{name} {argument}"));
        let code = python(&lines.collect::<Vec<_>>().join("\n"));
        match self {
            Scenario::Code | Scenario::JoinedCode => text(code),
            Scenario::Spoken => text(format!("I will tell her.\n{code}")),
            Scenario::Tools | Scenario::JoinedTools => {
                let calls: Vec<_> = steps().map(|step| (step.0, step.1)).collect();
                let calls = tool_calls(&calls).into_iter();
                calls.map(ModelEvent::ToolCall).collect()
            }
        }
    }
}

struct Scripted {
    scenario: Scenario,
    witness: Arc<Witness>,
}

impl Model for Scripted {
    fn stream(&self, request: ModelRequest) -> BoxFuture<'_, Result<ModelStream, ModelError>> {
        let is_reply = |message: &&ModelMessage| matches!(message, ModelMessage::Assistant { .. });
        let round = 1 + request.messages.iter().filter(is_reply).count();
        self.witness.saw(&format!("asked {round}"));
        let news = format!(
            "{:?}",
            request.messages.iter().rev().take(9).collect::<Vec<_>>()
        );
        let mut events = if news.contains("is unknown") {
            self.witness.saw("told that an outcome is unknown");
            vec![ModelEvent::TextDelta {
                text: super::UNCLEAR.into(),
            }]
        } else {
            self.scenario.reply(round)
        };
        events.push(ModelEvent::Finished {
            reason: Default::default(),
        });
        Box::pin(async { Ok(ModelStream::of(events)) })
    }
}

struct Delivering(Arc<Witness>);

impl Outbox for Delivering {
    fn deliver<'a>(&'a self, piece: Piece<'a>) -> BoxFuture<'a, Result<Receipt, DeliveryError>> {
        let [Part::Text { text }] = piece.parts else {
            panic!("{piece:?}");
        };
        self.0.saw(&format!("sent {text} as {}", piece.id));
        Box::pin(std::future::ready(Ok(Receipt::default())))
    }
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Text {
    text: String,
}

fn methods(gate: &Gate, witness: &Arc<Witness>, store: &Store) {
    let make = |name: &'static str, kind, effect| {
        let witness = witness.clone();
        let handler = move |call: Call, Text { text }: Text| {
            witness.saw(&format!("{name} {text}"));
            std::future::ready(Ok::<_, MethodError>(reply(name, call, text)))
        };
        gate.register(Arc::new(method(name, kind, handler).effect(effect)))
            .unwrap();
    };
    make("look", Kind::Tool, Effect::Pure);
    make("act", Kind::Tool, Effect::Effectful);
    make("note", Kind::Behavior, Effect::Effectful);
    make("tell", Kind::Tool, Effect::Rows);
    make("search", Kind::Agent, Effect::Effectful);
    let store = store.clone();
    let hear = move |_: Call, Text { text }: Text| {
        let store = store.clone();
        async move {
            let mut message = incoming("ann", "one thing more");
            message.message_id = Some(text);
            let stored = store.log().append_incoming(&message).await;
            let stored = stored.map_err(|error| MethodError::new(error.to_string()))?;
            Ok::<_, MethodError>(format!("heard row {}", stored.row.id))
        }
    };
    let hear = method("hear", Kind::Tool, hear).effect(Effect::Idempotent);
    gate.register(Arc::new(hear)).unwrap();
}

fn reply(name: &str, call: Call, text: String) -> Reply {
    match name {
        "tell" => Reply {
            value: "told".into(),
            changes: vec![Change::Send {
                message: Message {
                    session: call.caller.session,
                    parts: vec![Part::text(text)],
                },
            }],
        },
        "search" => format!("found {}", text.repeat(LONG)).into(),
        _ => format!("{name}: {text}").into(),
    }
}

pub fn agent(store: Store, scenario: Scenario, witness: &Path) -> Agent {
    let witness = Arc::new(Witness::at(witness));
    let gate = Gate::new(store.clone(), Default::default());
    methods(&gate, &witness, &store);
    let mut settings = settings();
    settings.observation = LONG / 2;
    let named = NamedModel {
        id: "script".into(),
        model: Arc::new(Scripted {
            scenario,
            witness: witness.clone(),
        }),
    };
    Agent::new(Wiring {
        coder: callgate_agent::Coder {
            gate,
            store,
            sandbox: Arc::new(Reader),
            limits: Default::default(),
        },
        models: Models::new(named, Vec::new(), None, None),
        settings,
        listeners: Vec::new(),
        outbox: Arc::new(Delivering(witness)),
        packages: Vec::new(),
        sessions: Sessions::default(),
    })
}

/// The message that begins it all.
pub async fn begin(agent: &Agent, scenario: Scenario) {
    let mode = Some(scenario.mode());
    let store = agent.store().settings();
    // A setting, since what a caller overrules is not known to the process after the crash.
    let session = session();
    let changed = store.change_session(&session, move |settings| settings.mode = mode);
    changed.await.unwrap();
    let arrived = agent.arrive(
        incoming("ann", "please"),
        Override::default(),
        Watch::default(),
    );
    arrived.await.unwrap();
}
