//! A whole agent on a stage: a model that reads its answers from a list, a sandbox that only makes
//! calls, an outbox that remembers.

use std::{
    collections::VecDeque,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use callgate_agent::{
    Administrator, Agent, AgentSettings, Arrived, Override, Sessions, Watch, Wiring,
};
use callgate_contract::{
    Accepts, BoxFuture, CallArguments, DeliveryError, FinishReason, Listener, Model, ModelError,
    ModelEvent, ModelInfo, ModelReply, ModelRequest, ModelStream, Models, NamedModel, Outbox, Part,
    Piece, Price, Receipt, Repetition, SessionKey, ToolCall,
};
use callgate_gate::GatePolicy;
use callgate_store::{Incoming, Sender, Store};
use callgate_testkit::Home;

use crate::scene::{Ran, coder};

/// Answers in order; running out is an error.
#[derive(Clone, Default)]
pub struct Scripted {
    replies: Arc<Mutex<VecDeque<ModelReply>>>,
    /// What it was asked, in order.
    pub asked: Arc<Mutex<Vec<ModelRequest>>>,
    pub accepts: Accepts,
    /// Says nothing before it is told to.
    waits: Option<Arc<tokio::sync::Notify>>,
}

impl Scripted {
    pub fn waits(mut self, told: Arc<tokio::sync::Notify>) -> Self {
        self.waits = Some(told);
        self
    }

    pub fn says(self, text: &str) -> Self {
        self.replies(ModelReply {
            text: text.into(),
            ..ModelReply::default()
        })
    }

    /// One reply with these calls: name and the `text` argument.
    pub fn calls(self, calls: &[(&str, &str)]) -> Self {
        self.replies(ModelReply {
            tool_calls: tool_calls(calls),
            finish: FinishReason::ToolCalls,
            ..ModelReply::default()
        })
    }

    pub fn replies(self, reply: ModelReply) -> Self {
        self.replies.lock().unwrap().push_back(reply);
        self
    }

    pub fn requests(&self) -> Vec<ModelRequest> {
        self.asked.lock().unwrap().clone()
    }
}

impl Model for Scripted {
    /// What its replies cost they say themselves.
    fn about(&self) -> ModelInfo {
        ModelInfo {
            price: Some(Price::FREE),
            ..ModelInfo::default()
        }
    }

    fn accepts(&self) -> Accepts {
        self.accepts
    }

    fn stream(&self, request: ModelRequest) -> BoxFuture<'_, Result<ModelStream, ModelError>> {
        Box::pin(async move {
            self.asked.lock().unwrap().push(request);
            if let Some(told) = &self.waits {
                told.notified().await;
            }
            let reply = self.replies.lock().unwrap().pop_front();
            let reply = reply.ok_or(ModelError::Exhausted {
                message: "the script has no answer left".into(),
            })?;
            if reply.text == "!hang" {
                std::future::pending().await
            }
            let mut events = vec![ModelEvent::TextDelta { text: reply.text }];
            events.extend(reply.tool_calls.into_iter().map(ModelEvent::ToolCall));
            events.extend(reply.usage.map(ModelEvent::Usage));
            events.push(ModelEvent::Finished {
                reason: reply.finish,
            });
            Ok(ModelStream::of(events))
        })
    }
}

/// What was said; and whether it does no harm to say it twice.
#[derive(Default)]
pub struct Remembering(pub Mutex<Vec<String>>, pub AtomicBool);

impl Outbox for Remembering {
    fn deliver<'a>(&'a self, piece: Piece<'a>) -> BoxFuture<'a, Result<Receipt, DeliveryError>> {
        Box::pin(async move {
            let text = piece.parts.iter().map(|part| match part {
                Part::Text { text } => text.clone(),
                other => format!("{other:?}"),
            });
            self.0.lock().unwrap().push(text.collect());
            Ok(Receipt::default())
        })
    }

    fn repetition(&self, _: &SessionKey) -> Repetition {
        if self.1.load(Ordering::Relaxed) {
            Repetition::Harmless
        } else {
            Repetition::Recognized
        }
    }
}

pub struct Stage {
    pub agent: Agent,
    pub model: Scripted,
    pub outbox: Arc<Remembering>,
    pub ran: Ran,
    /// Held so that the store's files stay.
    _home: Option<Home>,
}

pub fn settings() -> AgentSettings {
    AgentSettings {
        debounce: Duration::ZERO,
        administrators: vec![Administrator::new(session().platform(), "root")],
        ..AgentSettings::default()
    }
}

impl Stage {
    pub fn new(store: Store, model: Scripted) -> Self {
        Stage::with(store, model, GatePolicy::default(), settings())
    }

    /// In a place of its own, which is gone with it.
    pub async fn at(home: Home, model: Scripted) -> Self {
        let stage = Stage::new(home.open().await, model);
        Stage {
            _home: Some(home),
            ..stage
        }
    }

    pub fn with(
        store: Store,
        model: Scripted,
        policy: GatePolicy,
        settings: AgentSettings,
    ) -> Self {
        Stage::wired(store, model, policy, settings, Vec::new())
    }

    pub fn heard_by(store: Store, model: Scripted, listeners: Vec<Arc<dyn Listener>>) -> Self {
        Stage::wired(store, model, GatePolicy::default(), settings(), listeners)
    }

    pub fn wired(
        store: Store,
        model: Scripted,
        policy: GatePolicy,
        settings: AgentSettings,
        listeners: Vec<Arc<dyn Listener>>,
    ) -> Self {
        let (ran, outbox) = (Ran::default(), Arc::new(Remembering::default()));
        let named = NamedModel {
            id: "script".into(),
            model: Arc::new(model.clone()),
        };
        let agent = Agent::new(Wiring {
            coder: coder(store, policy, &ran),
            models: Models::new(named, Vec::new(), None, None),
            settings,
            listeners,
            outbox: outbox.clone(),
            packages: Vec::new(),
            sessions: Sessions::default(),
        });
        Stage {
            agent,
            model,
            outbox,
            ran,
            _home: None,
        }
    }

    pub async fn hears(&self, text: &str) -> Arrived {
        self.hears_from("ann", text, None).await
    }

    pub async fn hears_from(
        &self,
        user: &str,
        text: &str,
        mode: Option<callgate_contract::Mode>,
    ) -> Arrived {
        let overrule = Override {
            mode,
            ..Override::default()
        };
        let incoming = incoming(user, text);
        self.agent
            .arrive(incoming, overrule, Watch::default())
            .await
            .unwrap()
    }

    pub fn sent(&self) -> Vec<String> {
        self.outbox.0.lock().unwrap().clone()
    }
}

pub fn session() -> SessionKey {
    "cli:FriendMessage:ann".parse().unwrap()
}

pub fn incoming(user: &str, text: &str) -> Incoming {
    Incoming {
        session: session(),
        sender: Sender {
            id: user.into(),
            name: user.to_uppercase(),
        },
        parts: vec![Part::text(text)],
        message_id: None,
        hidden: false,
        mentioned: true,
        sent_at: None,
    }
}

/// Calls of one reply: name and the `text` argument.
pub fn tool_calls(calls: &[(&str, &str)]) -> Vec<ToolCall> {
    let call = |(place, (name, text)): (usize, &(&str, &str))| ToolCall {
        id: format!("c{place}"),
        name: (*name).into(),
        arguments: CallArguments::Object(
            [("text".to_owned(), (*text).into())].into_iter().collect(),
        ),
        extra: None,
    };
    calls.iter().enumerate().map(call).collect()
}

/// Code as a model writes it.
pub fn python(code: &str) -> String {
    format!("```python\n{code}\n```")
}
