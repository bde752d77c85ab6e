//! A gate with the built-in methods, and a caller in a session.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use callgate_builtins::Options;
use callgate_contract::{
    Arguments, Caller, Grant, JournalId, Principal, Role, SessionKey, Surface, Value,
};
use callgate_gate::{CallError, Gate, GatePolicy, Outcome};
use callgate_store::{Store, files::SessionFolders};
use callgate_testkit::Home;

pub(crate) struct Scene {
    pub(crate) home: Home,
    pub(crate) store: Store,
    pub(crate) gate: Gate,
    pub(crate) caller: Caller,
    sequence: AtomicU64,
}

impl Scene {
    pub(crate) async fn new() -> Self {
        Scene::with(Options::default()).await
    }

    pub(crate) async fn with(options: Options) -> Self {
        let home = Home::sqlite();
        let store = home.open().await;
        let gate = Gate::new(store.clone(), GatePolicy::default());
        for method in callgate_builtins::with(store.clone(), options) {
            assert!(gate.register(method).unwrap().is_none());
        }
        Scene {
            home,
            store,
            gate,
            caller: caller("cli:FriendMessage:ada"),
            sequence: AtomicU64::new(1),
        }
    }

    /// Calls with positional arguments.
    pub(crate) async fn call<const N: usize>(
        &self,
        name: &str,
        arguments: [Value; N],
    ) -> Result<Outcome, CallError> {
        self.call_as(&self.caller, name, arguments).await
    }

    pub(crate) async fn call_as<const N: usize>(
        &self,
        caller: &Caller,
        name: &str,
        arguments: [Value; N],
    ) -> Result<Outcome, CallError> {
        let sequence = self.sequence.fetch_add(1, Ordering::Relaxed);
        let arguments = Arguments {
            positional: arguments.into(),
            named: Vec::new(),
        };
        self.gate.call(caller, sequence, name, arguments).await
    }

    pub(crate) async fn value<const N: usize>(&self, name: &str, arguments: [Value; N]) -> Value {
        self.call(name, arguments).await.unwrap().value
    }

    pub(crate) async fn refusal<const N: usize>(
        &self,
        name: &str,
        arguments: [Value; N],
    ) -> String {
        self.call(name, arguments).await.unwrap_err().to_string()
    }

    pub(crate) async fn folders(&self) -> SessionFolders {
        let session = self.store.sessions().open(&self.caller.session).await;
        self.store.files().session(&session.unwrap()).unwrap()
    }
}

pub(crate) fn caller(session: &str) -> Caller {
    let session: SessionKey = session.parse().unwrap();
    Caller {
        principal: Principal::person(&session, session.id()),
        session,
        role: Role::Member,
        surface: Surface::Code,
        journal: JournalId::fresh(),
        depth: 0,
        grant: Arc::new(Grant::everything()),
    }
}

pub(crate) fn dict<const N: usize>(entries: [(&str, Value); N]) -> Value {
    Value::Dict(
        entries
            .into_iter()
            .map(|(key, value)| (key.into(), value))
            .collect(),
    )
}
