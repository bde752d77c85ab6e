//! [`Gate`]: the registry's owner. It answers what exists and what a caller may see; calls are in
//! `dispatch`.

use std::{
    sync::{Arc, PoisonError, RwLock, Weak},
    time::{Duration, Instant},
};

use callgate_contract::{Allowed, Caller, Effect, Exposure, Method, Origin, Stub, Surface};
use callgate_store::Store;
use tokio::sync::watch;

use crate::{
    error::{CallError, InvalidMethod},
    nearest::nearest,
    registry::{Entry, Registry},
    signature::stub,
    written,
};

/// What the operator decided for all callers.
#[derive(Clone, Debug)]
pub struct GatePolicy {
    /// Methods that need an approval, in any spelling; `*` means every method. A bare name stands
    /// for all methods of that name, so that none escapes behind another.
    pub ask: Vec<String>,
    /// How long a call waits for an answer before it gives up for now.
    pub approval_wait: Duration,
    /// Methods that remote callers may use besides those exposed to them, in any spelling.
    pub remote: Vec<String>,
}

impl Default for GatePolicy {
    fn default() -> Self {
        GatePolicy {
            ask: Vec::new(),
            approval_wait: Duration::from_secs(60),
            remote: Vec::new(),
        }
    }
}

/// The one door to every method. Clones share one registry.
///
/// Invariant: a method's code is reached from nowhere else.
#[derive(Clone)]
pub struct Gate(Arc<Shared>);

/// A handle that does not keep the gate alive, for methods that live in it themselves.
#[derive(Clone)]
pub struct WeakGate(Weak<Shared>);

impl WeakGate {
    pub fn upgrade(&self) -> Option<Gate> {
        self.0.upgrade().map(Gate)
    }
}

struct Shared {
    store: Store,
    policy: GatePolicy,
    /// Read by every call for the length of a map lookup and written only when methods come or
    /// go, never across an await: an uncontended read costs less than anything else in a call.
    registry: RwLock<Registry>,
    /// Counts answers given. A watch, since a call must not miss an answer that arrives between
    /// its look into the store and its wait; the count itself means nothing.
    answers: watch::Sender<u64>,
}

impl Gate {
    pub fn new(store: Store, policy: GatePolicy) -> Self {
        Gate(Arc::new(Shared {
            store,
            policy,
            registry: RwLock::default(),
            answers: watch::Sender::new(0),
        }))
    }

    pub fn downgrade(&self) -> WeakGate {
        WeakGate(Arc::downgrade(&self.0))
    }

    /// Adds a method. One of the same origin and name is replaced and returned; calls already
    /// running keep the one they began with.
    pub fn register(
        &self,
        method: Arc<dyn Method>,
    ) -> Result<Option<Arc<dyn Method>>, InvalidMethod> {
        let entry = Entry::new(method)?;
        let full_name = entry.full_name.clone();
        let replaced = self.write(|registry| registry.insert(entry));
        match replaced {
            None => tracing::info!(method = full_name, "a method was registered"),
            Some(_) => tracing::warn!(
                method = full_name,
                "a method was registered again and replaced"
            ),
        }
        Ok(replaced.map(|entry| entry.method.clone()))
    }

    /// Removes every method of `origin`; returns how many there were.
    pub fn unregister_origin(&self, origin: &Origin) -> usize {
        self.write(|registry| registry.remove_origin(origin))
    }

    /// What `name` means: a bare name by precedence, or `origin/name`, or `origin__name`.
    pub fn find(&self, name: &str) -> Option<Arc<dyn Method>> {
        self.read(|registry| registry.resolve(name).map(|entry| entry.method.clone()))
    }

    /// What `name` means to `caller`, who may or may not be let through to it.
    pub fn find_for(&self, caller: &Caller, name: &str) -> Option<Arc<dyn Method>> {
        let entry = self.resolve_for(caller, name)?;
        Some(entry.method.clone())
    }

    /// Can a call of `name` go unrecorded, under [`callgate_contract::JournalId::NONE`]? It changes
    /// nothing, and nobody is asked for it.
    pub fn is_passing(&self, caller: &Caller, name: &str) -> bool {
        let entry = self.resolve_for(caller, name);
        entry.is_none_or(|entry| entry.info().effect == Effect::Pure && !self.must_ask(&entry))
    }

    /// The methods `caller` may use, by bare name, sorted. Of several with one bare name only the
    /// one that the name means is listed.
    pub fn catalogue(&self, caller: &Caller) -> Vec<Arc<dyn Method>> {
        let mut usable: Vec<Arc<dyn Method>> = self.read(|registry| {
            let usable = registry
                .reachable(caller)
                .filter(|entry| may_use(self, registry, caller, entry));
            usable.map(|entry| entry.method.clone()).collect()
        });
        usable.sort_by(|one, other| one.info().name.cmp(&other.info().name));
        usable
    }

    /// The methods `caller` may use as code finds them: each under its name, and under the further
    /// names that are free.
    pub fn stubs(&self, caller: &Caller) -> Vec<Stub> {
        let mut stubs: Vec<Stub> = self.read(|registry| {
            let mut stubs = Vec::new();
            for entry in registry.reachable(caller) {
                if !may_use(self, registry, caller, entry) {
                    continue;
                }
                let stub = stub(entry.info());
                let meant = |alias: &&str| {
                    let found = registry.resolve_for(caller, alias);
                    found.is_some_and(|found| Arc::ptr_eq(found, entry))
                };
                stubs.extend(entry.aliases().filter(meant).map(|alias| Stub {
                    name: alias.to_owned(),
                    ..stub.clone()
                }));
                stubs.push(stub);
            }
            stubs
        });
        stubs.sort_by(|one, other| one.name.cmp(&other.name));
        stubs
    }

    pub(crate) fn store(&self) -> &Store {
        &self.0.store
    }

    pub(crate) fn policy(&self) -> &GatePolicy {
        &self.0.policy
    }

    pub(crate) fn answers(&self) -> &watch::Sender<u64> {
        &self.0.answers
    }

    /// Does the operator want to be asked before this method?
    pub(crate) fn must_ask(&self, entry: &Entry) -> bool {
        let ask = &self.0.policy.ask;
        ask.iter().any(|name| name == "*" || entry.is_called(name))
    }

    /// By its own exposure, or by the operator's word.
    fn exposes(&self, caller: &Caller, entry: &Entry) -> bool {
        let listed = || {
            self.0
                .policy
                .remote
                .iter()
                .any(|name| entry.is_called(name))
        };
        let surface = caller.surface;
        entry.info().exposure.admits(surface) || (surface == Surface::Remote && listed())
    }

    pub(crate) fn resolve_for(&self, caller: &Caller, name: &str) -> Option<Arc<Entry>> {
        self.read(|registry| registry.resolve_for(caller, name).cloned())
    }

    pub(crate) fn resolve(&self, name: &str) -> Option<Arc<Entry>> {
        self.read(|registry| registry.resolve(name).cloned())
    }

    /// The method exists, its exposure admits the caller, and the caller's grant holds it.
    pub(crate) fn admit(
        &self,
        caller: &Caller,
        name: &str,
        entry: Option<Arc<Entry>>,
    ) -> Result<Arc<Entry>, CallError> {
        self.read(|registry| {
            let Some(entry) = entry else {
                let usable = registry
                    .reachable(caller)
                    .filter(|entry| may_use(self, registry, caller, entry));
                return Err(CallError::Unknown {
                    name: written::name(None, name),
                    nearest: nearest(name, usable.map(|entry| entry.info().name.as_str())),
                });
            };
            let method = || entry.info().name.clone();
            if !self.exposes(caller, &entry) {
                return Err(CallError::NotExposed {
                    method: method(),
                    surface: caller.surface,
                });
            }
            if !grants(registry, caller, &entry) {
                return Err(CallError::NotGranted { method: method() });
            }
            let expires = caller.grant.expires;
            if expires.is_some_and(|end| end <= Instant::now()) {
                return Err(CallError::Expired { method: method() });
            }
            Ok(entry)
        })
    }

    fn read<T>(&self, look: impl FnOnce(&Registry) -> T) -> T {
        let registry = self.0.registry.read();
        look(&registry.unwrap_or_else(PoisonError::into_inner))
    }

    fn write<T>(&self, change: impl FnOnce(&mut Registry) -> T) -> T {
        let registry = self.0.registry.write();
        change(&mut registry.unwrap_or_else(PoisonError::into_inner))
    }
}

fn may_use(gate: &Gate, registry: &Registry, caller: &Caller, entry: &Arc<Entry>) -> bool {
    gate.exposes(caller, entry) && grants(registry, caller, entry)
}

fn grants(registry: &Registry, caller: &Caller, entry: &Arc<Entry>) -> bool {
    let info = entry.info();
    if caller.surface == Surface::Plugin
        && info.origin == Origin::Builtin
        && info.exposure == Exposure::PLUGINS
    {
        // Every plugin holds what the host offers to plugins: its user's grant says which methods
        // may be invoked, not what their code then needs.
        return true;
    }
    match &caller.grant.methods {
        Allowed::All => true,
        Allowed::Only(names) => names
            .iter()
            .any(|name| means(registry, caller, name, entry)),
    }
}

/// A name stands for the method it resolves to and no other: a grant of `now` does not reach
/// `client:x/now` while `now` is a builtin.
fn means(registry: &Registry, caller: &Caller, name: &str, entry: &Arc<Entry>) -> bool {
    let meant = || registry.resolve_for(caller, name);
    entry.is_called(name) && meant().is_some_and(|found| Arc::ptr_eq(found, entry))
}
