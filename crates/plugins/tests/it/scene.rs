//! A data directory with plugins written for one test, in workers of the probe flavour.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use callgate_contract::{Arguments, Caller, Grant, JournalId, Role, SessionKey, Surface, Value};
use callgate_gate::{CallError, Gate, GatePolicy, Outcome};
use callgate_plugins::{LoadedPlugin, PluginOptions, Plugins, Source, WorkerError};
use callgate_store::{RecordedCall, Store, StoreOptions};
use serde_json::Map;
use tempfile::TempDir;

pub struct Scene {
    pub gate: Gate,
    pub store: Store,
    pub plugins: Plugins,
    pub folder: TempDir,
    pub caller: Caller,
}

/// Where the probe flavour lies.
fn tests() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../python/tests")
}

impl Scene {
    pub async fn new() -> Scene {
        Scene::with(|_| ()).await
    }

    pub async fn with(change: impl FnOnce(&mut PluginOptions)) -> Scene {
        let folder = TempDir::with_prefix("callgate-plugins-").unwrap();
        let data = folder.path().join("data");
        let store = Store::open(StoreOptions::new(&data)).await.unwrap();
        let gate = Gate::new(store.clone(), GatePolicy::default());
        let mut options = PluginOptions::new(&data);
        options.paths.push(tests().canonicalize().unwrap());
        options.ping = Duration::from_millis(50);
        change(&mut options);
        let plugins = Plugins::open(gate.clone(), store.clone(), options).unwrap();
        Scene {
            caller: Caller {
                session: session(),
                principal: "cli:u1".parse().unwrap(),
                role: Role::Member,
                surface: Surface::Code,
                journal: JournalId::fresh(),
                depth: 0,
                grant: Arc::new(Grant::everything()),
            },
            gate,
            store,
            plugins,
            folder,
        }
    }

    /// A plugin of one module.
    pub fn source(&self, name: &str, code: &str) -> Source {
        let path = self.folder.path().join(format!("{name}.py"));
        std::fs::write(&path, code).unwrap();
        Source {
            path: path.canonicalize().unwrap(),
            flavour: "probe.flavour".to_owned(),
            worker: "probe".to_owned(),
            options: Map::new(),
            kept: None,
        }
    }

    pub async fn load(&self, name: &str, code: &str) -> Result<LoadedPlugin, WorkerError> {
        let source = self.source(name, code);
        let [(_, result)] = self.plugins.load(vec![source]).await.try_into().unwrap();
        result
    }

    pub async fn call(&self, method: &str, arguments: Vec<Value>) -> Result<Outcome, CallError> {
        let caller = Caller {
            journal: JournalId::fresh(),
            ..self.caller.clone()
        };
        self.call_as(&caller, method, arguments).await
    }

    pub async fn call_as(
        &self,
        caller: &Caller,
        method: &str,
        arguments: Vec<Value>,
    ) -> Result<Outcome, CallError> {
        let arguments = Arguments {
            positional: arguments,
            named: Vec::new(),
        };
        self.gate.call(caller, 1, method, arguments).await
    }

    pub async fn value(&self, method: &str, arguments: Vec<Value>) -> Value {
        self.call(method, arguments).await.unwrap().value
    }

    pub async fn refusal(&self, method: &str) -> String {
        self.call(method, Vec::new()).await.unwrap_err().to_string()
    }

    pub async fn recorded(&self, journal: JournalId) -> Vec<RecordedCall> {
        self.store.journal().recorded(journal).await.unwrap()
    }
}

pub fn session() -> SessionKey {
    "cli:FriendMessage:u1".parse().unwrap()
}
