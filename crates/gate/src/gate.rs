//! [`Gate`]: the registry's owner. It answers what exists and what a caller may see; calls are in
//! `dispatch`.

use std::{
    collections::HashMap,
    sync::{Arc, OnceLock, Weak},
    time::{Duration, Instant},
};

use callgate_contract::{Allowed, Caller, Effect, Exposure, Method, Origin, Stub, Surface};
use callgate_store::{Approval, Store};
use parking_lot::RwLock;
use tokio::sync::{broadcast, watch};

use crate::{
    error::{CallError, InvalidMethod},
    nearest::nearest,
    observe::Observer,
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
pub struct Gate(Arc<GateInner>);

/// A handle that does not keep the gate alive, for methods that live in it themselves.
#[derive(Clone)]
pub struct WeakGate(Weak<GateInner>);

impl WeakGate {
    pub fn upgrade(&self) -> Option<Gate> {
        self.0.upgrade().map(Gate)
    }
}

/// Approvals that may wait for one who follows them.
const APPROVALS: usize = 64;
/// Origins that may have gone before one who follows them looks.
const DEPARTURES: usize = 256;

struct GateInner {
    store: Store,
    policy: GatePolicy,
    /// The policy's, which the operator may change at any time. Read for the length of a look.
    ask: RwLock<Arc<[String]>>,
    /// Read by every call for the length of a map lookup and written only when methods come or
    /// go, never across an await: an uncontended read costs less than anything else in a call.
    registry: RwLock<Registry>,
    /// Counts answers given. A watch, since a call must not miss an answer that arrives between
    /// its look into the store and its wait; the count itself means nothing.
    answers: watch::Sender<u64>,
    /// Every approval that is asked or answered. Whoever lags misses some and reads them anew.
    approvals: broadcast::Sender<Approval>,
    /// Why an origin has no methods now, where somebody knows. Looked at only by calls of what is
    /// not there.
    absent: RwLock<HashMap<String, String>>,
    /// Counts changes of the registry, for those who show it; the count itself means nothing.
    changes: watch::Sender<u64>,
    /// Origins that have gone with all their methods.
    departures: broadcast::Sender<Origin>,
    observer: OnceLock<Observer>,
}

impl Gate {
    pub fn new(store: Store, policy: GatePolicy) -> Self {
        Gate(Arc::new(GateInner {
            store,
            ask: RwLock::new(policy.ask.clone().into()),
            policy,
            registry: RwLock::default(),
            answers: watch::Sender::new(0),
            approvals: broadcast::Sender::new(APPROVALS),
            absent: RwLock::default(),
            changes: watch::Sender::new(0),
            departures: broadcast::Sender::new(DEPARTURES),
            observer: OnceLock::new(),
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
            None => tracing::info!(method = full_name, "method registered"),
            Some(_) => tracing::warn!(method = full_name, "method registered again; replaced"),
        }
        Ok(replaced.map(|entry| entry.method.clone()))
    }

    /// Removes every method of `origin`; returns how many there were.
    pub fn unregister_origin(&self, origin: &Origin) -> usize {
        let removed = self.write(|registry| registry.remove_origin(origin));
        // Nobody may be listening.
        let _ = self.0.departures.send(origin.clone());
        removed
    }

    /// `origin` has these methods from now on and no others, all at once. Returns those that cannot
    /// be registered.
    pub fn replace_origin(
        &self,
        origin: &Origin,
        methods: impl IntoIterator<Item = Arc<dyn Method>>,
    ) -> Vec<InvalidMethod> {
        let mut invalid = Vec::new();
        let mut entries = Vec::new();
        for method in methods {
            match Entry::new(method) {
                Ok(entry) => entries.push(entry),
                Err(error) => invalid.push(error),
            }
        }
        let new: Vec<String> = self.write(|registry| {
            let names: Vec<String> = entries.iter().map(|it| it.full_name.clone()).collect();
            let new = names
                .into_iter()
                .filter(|name| registry.resolve(name).is_none());
            let new = new.collect();
            registry.remove_origin(origin);
            for entry in entries {
                registry.insert(entry);
            }
            new
        });
        for method in new {
            tracing::info!(method, "method registered");
        }
        invalid
    }

    /// What to say to who calls a method of `origin` that is not there: `origin/name` in full.
    pub fn explain(&self, origin: &Origin, why: Option<String>) {
        let mut absent = self.0.absent.write();
        match why {
            Some(why) => absent.insert(origin.to_string(), why),
            None => absent.remove(&origin.to_string()),
        };
    }

    fn explanation(&self, name: &str) -> Option<String> {
        let (origin, _) = name.split_once('/')?;
        let absent = self.0.absent.read();
        absent.get(origin).cloned()
    }

    /// Origins as they are unregistered, also those that had no methods. Whoever lags misses some.
    pub fn departures(&self) -> broadcast::Receiver<Origin> {
        self.0.departures.subscribe()
    }

    /// Told when methods come or go.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.0.changes.subscribe()
    }

    /// How many methods there are.
    pub fn count(&self) -> usize {
        self.read(Registry::count)
    }

    /// The names of all methods of `origin`, sorted.
    pub fn names_of(&self, origin: &Origin) -> Vec<String> {
        let mut names = self.read(|registry| registry.names_of(origin));
        names.sort();
        names
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

    /// All methods `caller` may use, sorted, each under the name that means it: the bare one, or
    /// `origin__name` for one behind another of the same name.
    pub fn named(&self, caller: &Caller) -> Vec<(String, Arc<dyn Method>)> {
        let mut named: Vec<(String, Arc<dyn Method>)> = self.read(|registry| {
            let usable = registry
                .named(caller)
                .filter(|(_, entry)| may_use(self, registry, caller, entry));
            usable
                .map(|(name, entry)| (name.to_owned(), entry.method.clone()))
                .collect()
        });
        named.sort_by(|one, other| one.0.cmp(&other.0));
        named
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

    pub(crate) fn observer(&self) -> Option<&Observer> {
        self.0.observer.get()
    }

    pub(crate) fn set_observer(&self, observer: Observer) {
        let _ = self.0.observer.set(observer);
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

    /// Which methods need an approval from now on, as [`GatePolicy::ask`] says it.
    pub fn set_ask(&self, ask: Vec<String>) {
        *self.0.ask.write() = ask.into();
    }

    /// Does the operator want to be asked before the method that `name` means?
    pub fn asks_for(&self, name: &str) -> bool {
        self.resolve(name)
            .is_some_and(|entry| self.must_ask(&entry))
    }

    /// May remote callers use it by the operator's word, whatever its own exposure?
    pub fn opens_to_remote(&self, name: &str) -> bool {
        let listed = |entry: &Arc<Entry>| {
            let mut names = self.0.policy.remote.iter();
            names.any(|name| entry.is_called(name))
        };
        self.resolve(name).as_ref().is_some_and(listed)
    }

    /// Approvals from now on, each when it is asked and when it is answered.
    pub fn approvals(&self) -> broadcast::Receiver<Approval> {
        self.0.approvals.subscribe()
    }

    pub(crate) fn tell_approval(&self, approval: &Approval) {
        // Nobody may follow them.
        let _ = self.0.approvals.send(approval.clone());
    }

    /// Does the operator want to be asked before this method, or does the method itself?
    pub(crate) fn must_ask(&self, entry: &Entry) -> bool {
        if entry.method.needs_approval() {
            return true;
        }
        let ask = self.0.ask.read();
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
                if let Some(message) = self.explanation(name) {
                    return Err(CallError::Failed {
                        method: written::name(None, name),
                        message,
                        detail: None,
                    });
                }
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
        look(&self.0.registry.read())
    }

    fn write<T>(&self, change: impl FnOnce(&mut Registry) -> T) -> T {
        let changed = change(&mut self.0.registry.write());
        self.0.changes.send_modify(|count| *count += 1);
        changed
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
