//! What every test needs: a gate on an empty store, a caller, and methods in one line.

use std::{sync::Arc, time::Duration};

use callgate_contract::{
    Allowed, Arguments, Binding, BoxFuture, Budget, CallContext, Caller, Effect, Exposure, Grant,
    JournalId, Kind, Method, MethodError, MethodInfo, Origin, Reply, Role, Surface, Trust, Value,
};
use callgate_gate::{CallError, Gate, GatePolicy, Outcome};
use callgate_store::Store;
use callgate_testkit::Home;
use serde_json::{Value as Json, json};

pub(crate) struct Scene {
    pub(crate) home: Home,
    pub(crate) store: Store,
    pub(crate) gate: Gate,
    pub(crate) caller: Caller,
}

impl Scene {
    pub(crate) async fn new() -> Self {
        Self::with(GatePolicy::default()).await
    }

    pub(crate) async fn with(policy: GatePolicy) -> Self {
        let home = Home::sqlite();
        let store = home.open().await;
        Scene {
            gate: Gate::new(store.clone(), policy),
            store,
            home,
            caller: caller(Surface::Code, Grant::everything()),
        }
    }

    pub(crate) fn add(&self, method: Closure) -> &Self {
        self.gate.register(Arc::new(method)).unwrap();
        self
    }

    pub(crate) async fn call(&self, sequence: u64, name: &str) -> Result<Outcome, CallError> {
        self.gate
            .call(&self.caller, sequence, name, Arguments::default())
            .await
    }

    /// The text of the error that calling `name` without arguments gives.
    pub(crate) async fn refusal(&self, name: &str) -> String {
        let refused = self.call(1, name).await;
        refused.unwrap_err().to_string()
    }
}

pub(crate) fn caller(surface: Surface, grant: Grant) -> Caller {
    Caller {
        session: "cli:FriendMessage:ada".parse().unwrap(),
        principal: "cli:ada".parse().unwrap(),
        role: Role::Member,
        surface,
        journal: JournalId::fresh(),
        depth: 0,
        grant: Arc::new(grant),
    }
}

pub(crate) fn only(names: &[&str]) -> Grant {
    Grant {
        methods: Allowed::Only(names.iter().map(|&name| name.to_owned()).collect()),
        budget: Budget::new(100, 100),
        ..Grant::everything()
    }
}

pub(crate) fn named<const N: usize>(arguments: [(&str, Value); N]) -> Arguments {
    Arguments {
        positional: Vec::new(),
        named: arguments
            .map(|(name, value)| (name.to_owned(), value))
            .into(),
    }
}

type Code =
    dyn Fn(Vec<(String, Value)>) -> BoxFuture<'static, Result<Reply, MethodError>> + Send + Sync;

/// A method as a worker or a client would offer it: any description, any code.
pub(crate) struct Closure {
    pub(crate) info: MethodInfo,
    code: Box<Code>,
}

/// A pure builtin tool without parameters.
pub(crate) fn answering(name: &str, reply: impl Into<Reply>) -> Closure {
    let reply = reply.into();
    doing(name, move |_| {
        let reply = reply.clone();
        async { Ok(reply) }
    })
}

pub(crate) fn doing<F, Running>(name: &str, code: F) -> Closure
where
    F: Fn(Vec<(String, Value)>) -> Running + Send + Sync + 'static,
    Running: Future<Output = Result<Reply, MethodError>> + Send + 'static,
{
    Closure {
        info: MethodInfo {
            name: name.to_owned(),
            aliases: Vec::new(),
            title: name.to_owned(),
            description: String::new(),
            doc: String::new(),
            parameters: json!({"type": "object"}),
            returns: "str".to_owned(),
            kind: Kind::Tool,
            origin: Origin::Builtin,
            exposure: Exposure::EVERYONE,
            effect: Effect::Pure,
            deadline: Duration::from_secs(30),
            binding: Binding::Strict,
            leaf: false,
            trust: Trust::default(),
        },
        code: Box::new(move |arguments| Box::pin(code(arguments))),
    }
}

impl Closure {
    pub(crate) fn taking(mut self, parameters: Json) -> Self {
        self.info.parameters = parameters;
        self
    }

    pub(crate) fn from(mut self, origin: Origin) -> Self {
        self.info.origin = origin;
        self
    }

    pub(crate) fn kind(mut self, kind: Kind) -> Self {
        self.info.kind = kind;
        self
    }

    pub(crate) fn effect(mut self, effect: Effect) -> Self {
        self.info.effect = effect;
        self
    }
}

impl Method for Closure {
    fn info(&self) -> &MethodInfo {
        &self.info
    }

    fn call<'a>(
        &'a self,
        _context: CallContext<'a>,
        arguments: Vec<(String, Value)>,
    ) -> BoxFuture<'a, Result<Reply, MethodError>> {
        (self.code)(arguments)
    }
}
