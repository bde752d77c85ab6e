//! [`Scene`]: the product as it is wired in earnest, in a temporary directory: a store on SQLite, a
//! gate with two methods, the jail, and one session with its folders.

use std::sync::Arc;

use anyhow::Context;
use callgate_agent::Coder;
use callgate_contract::{
    Caller, Effect, Grant, JournalId, Kind, Limits, MethodError, Principal, Role, RunFolders,
    RunSpec, SessionKey, Stub, Surface,
};
use callgate_gate::{Call, Gate, GatePolicy, method};
use callgate_sandbox::{Jail, JailOptions, find_python};
use callgate_store::{Durability, Store, StoreOptions};
use schemars::JsonSchema;
use serde::Deserialize;
use tempfile::TempDir;

/// As many as an ordinary installation grants.
const STUBS: usize = 10;

pub(crate) struct Scene {
    pub(crate) jail: Arc<Jail>,
    /// The same jail with nobody waiting: each child is cloned when its run begins.
    pub(crate) unpooled: Jail,
    pub(crate) coder: Coder,
    pub(crate) folders: RunFolders,
    session: SessionKey,
    /// Last, so that it is removed after everything that uses it.
    pub(crate) _home: TempDir,
}

#[derive(Deserialize, JsonSchema)]
struct Text {
    value: String,
}

async fn echo(_call: Call, text: Text) -> Result<String, MethodError> {
    Ok(text.value)
}

impl Scene {
    pub(crate) async fn new() -> anyhow::Result<Scene> {
        Scene::durable(Durability::default()).await
    }

    pub(crate) async fn durable(durability: Durability) -> anyhow::Result<Scene> {
        let home = TempDir::with_prefix("callgate-bench-")?;
        let options = StoreOptions {
            durability,
            ..StoreOptions::new(home.path())
        };
        let store = Store::open(options).await?;
        let gate = Gate::new(store.clone(), GatePolicy::default());
        for (name, effect) in [("pure", Effect::Pure), ("effectful", Effect::Effectful)] {
            gate.register(Arc::new(method(name, Kind::Tool, echo).effect(effect)))?;
        }
        let python = find_python().context("no python3 here")?;
        let options = JailOptions::new(python, store.files().sessions_path());
        let jail = Arc::new(Jail::new(options.clone()));
        jail.warm()?;
        let unpooled = Jail::new(JailOptions { pool: 0, ..options });
        unpooled.warm()?;
        let session: SessionKey = "bench:FriendMessage:1".parse()?;
        let row = store.sessions().open(&session).await?;
        store.files().session(&row)?;
        let sandbox = jail.clone();
        Ok(Scene {
            jail,
            unpooled,
            coder: Coder {
                gate,
                store,
                sandbox,
                limits: Limits::default(),
            },
            folders: RunFolders {
                id: row.id,
                number: row.number,
            },
            session,
            _home: home,
        })
    }

    /// A run with as many methods as usual; the code calls `bare`.
    pub(crate) fn spec(&self, code: &str) -> RunSpec {
        let mut spec = RunSpec::new(code, self.folders);
        spec.stubs = stubs("bare");
        spec
    }

    /// A caller with a journal of its own.
    pub(crate) fn caller(&self) -> Caller {
        Caller {
            session: self.session.clone(),
            principal: Principal::person(&self.session, "bench"),
            role: Role::Member,
            surface: Surface::Code,
            journal: JournalId::fresh(),
            depth: 0,
            grant: Arc::new(Grant::everything()),
        }
    }
}

fn stubs(name: &str) -> Vec<Stub> {
    let names = (1..STUBS).map(|number| format!("method_{number}"));
    let stub = |name| Stub {
        name,
        signature: "(value: str = \"\", limit: int = 10) -> str".into(),
        doc: "What it does, in a sentence.\n\nArgs:\n    value: What it is given.".into(),
    };
    names.chain([name.to_owned()]).map(stub).collect()
}
