//! An agent with a few methods that count, and its session taken elsewhere.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use callgate_agent::{
    AgentSettings, Task,
    capsule::{About, Capsule, CapsuleError, Replay, Replayed, export, read, write},
};
use callgate_contract::{
    Caller, Change, Effect, Grant, JournalId, Kind, Limits, Listener, Message, MethodError, Part,
    Reply, Role, Surface, Value, codec,
};
use callgate_gate::{Call, Function, method};
use callgate_sandbox::{Jail, JailOptions, find_python};
use callgate_store::{Session, Store};
use callgate_testkit::Home;

use crate::{
    seeds::troupe::Troupe,
    stage::{Scripted, session, settings},
};

pub const TRACEBACK: &str = "Traceback of the plugin";

pub struct Play {
    pub troupe: Troupe,
    acted: Arc<AtomicUsize>,
    store: Arc<std::sync::OnceLock<Store>>,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Text {
    text: String,
}

impl Play {
    pub async fn new(model: Scripted) -> Self {
        Play::heard_by(model, Vec::new()).await
    }

    pub async fn heard_by(model: Scripted, listeners: Vec<Arc<dyn Listener>>) -> Self {
        let acted = Arc::new(AtomicUsize::new(0));
        let store = Arc::new(std::sync::OnceLock::new());
        let methods = methods(&acted, &store);
        let troupe = Troupe::heard_by(model, methods, settings(), listeners).await;
        store.get_or_init(|| troupe.store().clone());
        Play {
            troupe,
            acted,
            store,
        }
    }

    /// How often a method really did something.
    pub fn acted(&self) -> usize {
        self.acted.load(Ordering::SeqCst)
    }

    pub async fn upload(&self, name: &str, text: &str) {
        let store = self.store.get().unwrap();
        let folders = store.files().session(&opened(store).await).unwrap();
        folders.uploads.write_atomic(name, text.as_bytes()).unwrap();
    }

    pub async fn key(&self) -> String {
        let (_, key) = self.store.get().unwrap().keys().create(&[]).await.unwrap();
        key
    }

    pub async fn run(&self, code: &str) {
        let caller = Caller {
            session: session(),
            principal: "cli:ann".parse().unwrap(),
            role: Role::Member,
            surface: Surface::Code,
            journal: JournalId::fresh(),
            depth: 0,
            grant: Arc::new(Grant::everything()),
        };
        let coder = self.troupe.agent.coder();
        coder.run(caller, Task::new(code)).await.unwrap();
    }

    pub async fn capsule(&self) -> Capsule {
        self.capsule_of(None).await
    }

    /// As it is read back from its file.
    pub async fn capsule_of(&self, turn: Option<JournalId>) -> Capsule {
        let about = About {
            callgate: "0.0.0".into(),
            packages: Vec::new(),
            settings: AgentSettings::default(),
        };
        let agent = &self.troupe.agent;
        let capsule = export(agent.store(), agent.gate(), &session(), turn, about).await;
        let mut file = Vec::new();
        write(&capsule.unwrap(), &mut file).unwrap();
        read(file.as_slice()).unwrap()
    }
}

async fn opened(store: &Store) -> Session {
    store.sessions().open(&session()).await.unwrap()
}

pub async fn again(capsule: &Capsule) -> Replayed {
    try_again(capsule).await.unwrap()
}

/// On a machine that knows none of the methods.
pub async fn try_again(capsule: &Capsule) -> Result<Replayed, CapsuleError> {
    let home = Home::sqlite();
    let python = find_python().unwrap_or_else(|| panic!("needs Python 3.11 or newer"));
    let mut jail = JailOptions::new(python, home.data().join("sessions"));
    jail.pool = 1;
    let replay = Replay {
        store: home.open().await,
        sandbox: Arc::new(Jail::new(jail)),
        limits: Limits::default(),
        packages: Vec::new(),
    };
    replay.perform(capsule).await
}

pub fn value(text: &str) -> callgate_agent::capsule::Bytes {
    callgate_agent::capsule::Bytes(codec::encode(&Value::Str(text.into())).unwrap())
}

fn methods(acted: &Arc<AtomicUsize>, store: &Arc<std::sync::OnceLock<Store>>) -> Vec<Function> {
    let saying = |prefix: &'static str| {
        let acted = acted.clone();
        move |_call: Call, arguments: Text| {
            let acted = acted.clone();
            async move {
                acted.fetch_add(1, Ordering::SeqCst);
                match arguments.text.as_str() {
                    "fail" => Err(MethodError::new("it failed").with_detail(TRACEBACK)),
                    text => Ok(format!("{prefix} {text}")),
                }
            }
        }
    };
    let say = |call: Call, arguments: Text| async move {
        let message = Message {
            session: call.caller.session,
            parts: vec![Part::text(arguments.text)],
        };
        Ok::<_, MethodError>(Reply {
            value: Value::Null,
            changes: vec![Change::Send { message }],
        })
    };
    let store = store.clone();
    let fetch = move |_call: Call, arguments: Text| {
        let store = store.get().unwrap().clone();
        async move {
            let folders = store.files().session(&opened(&store).await).unwrap();
            let written = folders.shared.write_atomic(&arguments.text, b"fetched");
            written.map_err(|error| MethodError::new(error.to_string()))?;
            Ok::<_, MethodError>(format!("/app/shared/{}", arguments.text))
        }
    };
    vec![
        method("look", Kind::Tool, saying("saw")).effect(Effect::Pure),
        method("act", Kind::Tool, saying("did")),
        method("note", Kind::Behavior, saying("noted")),
        method("search", Kind::Agent, saying("found")),
        method("say", Kind::Tool, say).effect(Effect::Rows),
        method("fetch", Kind::Tool, fetch),
    ]
}
