//! An agent whose code runs in the real sandbox, with methods of the seeds written in Rust.

use std::sync::{Arc, Mutex};

use callgate_agent::{
    Agent, AgentSettings, Arrived, Coder, Override, Sessions, TurnEvent, TurnReport, Watch, Wiring,
};
use callgate_contract::{
    CallArguments, FinishReason, Limits, Listener, Mode, ModelMessage, ModelReply, Models,
    NamedModel, Part, ToolCall,
};
use callgate_gate::{Function, Gate};
use callgate_sandbox::{Jail, JailOptions, find_python};
use callgate_store::{LogRole, Store};
use callgate_testkit::Home;
use serde_json::Value as Json;

use crate::stage::{Remembering, Scripted, incoming, session, settings};

pub struct Troupe {
    pub agent: Agent,
    pub model: Scripted,
    outbox: Arc<Remembering>,
    /// What code printed, by the watcher of the turn.
    printed: Arc<Mutex<String>>,
    /// Held for its folder.
    _home: Home,
}

impl Troupe {
    pub async fn new(model: Scripted, methods: Vec<Function>) -> Self {
        Troupe::with(model, methods, settings()).await
    }

    pub async fn with(model: Scripted, methods: Vec<Function>, settings: AgentSettings) -> Self {
        Troupe::heard_by(model, methods, settings, Vec::new()).await
    }

    pub async fn heard_by(
        model: Scripted,
        methods: Vec<Function>,
        settings: AgentSettings,
        listeners: Vec<Arc<dyn Listener>>,
    ) -> Self {
        let home = Home::sqlite();
        let store = home.open().await;
        let gate = Gate::new(store.clone(), Default::default());
        for method in methods {
            gate.register(Arc::new(method)).unwrap();
        }
        let python = find_python().unwrap_or_else(|| panic!("needs Python 3.11 or newer"));
        let mut jail = JailOptions::new(python, home.data().join("sessions"));
        jail.pool = 1;
        let outbox = Arc::new(Remembering::default());
        let named = NamedModel {
            id: "script".into(),
            model: Arc::new(model.clone()),
        };
        let agent = Agent::new(Wiring {
            coder: Coder {
                gate,
                store,
                sandbox: Arc::new(Jail::new(jail)),
                limits: Limits::default(),
            },
            models: Models::new(named, Vec::new(), None, None),
            settings,
            listeners,
            outbox: outbox.clone(),
            packages: Vec::new(),
            sessions: Sessions::default(),
        });
        Troupe {
            agent,
            model,
            outbox,
            printed: Arc::default(),
            _home: home,
        }
    }

    pub fn store(&self) -> &Store {
        self.agent.store()
    }

    pub async fn hears(&self, mode: Mode, text: &str) -> TurnReport {
        let overrule = Override {
            mode: Some(mode),
            ..Override::default()
        };
        let printed = self.printed.clone();
        let watch = Watch::new(move |event| {
            if let TurnEvent::Output { text } = event {
                printed.lock().unwrap().push_str(&text);
            }
        });
        let arrived = self
            .agent
            .arrive(incoming("ann", text), overrule, watch)
            .await;
        match arrived.unwrap() {
            Arrived::Turn(report) => report,
            other => panic!("not a turn: {other:?}"),
        }
    }

    pub fn sent(&self) -> Vec<String> {
        self.outbox.0.lock().unwrap().clone()
    }

    pub fn printed(&self) -> String {
        self.printed.lock().unwrap().clone()
    }

    pub async fn system_rows(&self) -> Vec<String> {
        let rows = self.store().log().list(&session(), 99).await.unwrap();
        let system = rows.iter().filter(|row| row.role == LogRole::System);
        system.map(|row| words(&row.parts)).collect()
    }

    /// The newest message of the request that began this round.
    pub fn told(&self, round: usize) -> ModelMessage {
        let requests = self.model.requests();
        requests[round - 1].messages.last().unwrap().clone()
    }

    /// The parts of [`Troupe::told`].
    pub fn shown(&self, round: usize) -> Vec<Part> {
        match self.told(round) {
            ModelMessage::User { parts } | ModelMessage::Tool { parts, .. } => parts,
            other => panic!("{other:?}"),
        }
    }
}

pub fn words(parts: &[Part]) -> String {
    let text = |part: &Part| match part {
        Part::Text { text } => text.clone(),
        other => format!("{other:?}"),
    };
    parts.iter().map(text).collect::<Vec<_>>().join("\n")
}

/// A reply that is one tool call.
pub fn calling(name: &str, arguments: Json) -> ModelReply {
    let Json::Object(arguments) = arguments else {
        panic!("arguments are an object");
    };
    ModelReply {
        tool_calls: vec![ToolCall {
            id: format!("call_{name}"),
            name: name.into(),
            arguments: CallArguments::Object(arguments),
            extra: None,
        }],
        finish: FinishReason::ToolCalls,
        ..ModelReply::default()
    }
}
