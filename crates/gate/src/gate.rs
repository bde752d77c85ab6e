//! [`Gate`]: the registry's owner. It answers what exists; what a caller may use is in `rights`, calls
//! are in `dispatch`.

use std::{
    collections::HashMap,
    sync::{Arc, OnceLock, Weak},
    time::Duration,
};

use callgate_contract::{Caller, Method, Origin, Rule};
use callgate_store::{Approval, Store};
use parking_lot::RwLock;
use tokio::sync::{broadcast, watch};

use crate::{
    error::InvalidMethod,
    observe::Observer,
    registry::{Entry, Registry, SharedName},
    rulebook::{Rulebook, asking},
    values::Confirmer,
};

/// What the operator decided for all callers.
#[derive(Clone, Debug)]
pub struct GatePolicy {
    /// Methods that need an approval, in any spelling; `*` means every method. A bare name stands
    /// for all methods of that name, so that none escapes behind another.
    pub ask: Vec<String>,
    /// Who may call what, in order. Those that are stored come first.
    pub rules: Vec<Rule>,
    /// How long a call waits for an answer before it gives up for now.
    pub approval_wait: Duration,
    /// Methods that remote callers may use besides those exposed to them, in any spelling.
    pub remote: Vec<String>,
}

impl Default for GatePolicy {
    fn default() -> Self {
        GatePolicy {
            ask: Vec::new(),
            rules: Vec::new(),
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
    rulebook: Rulebook,
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
    /// Who puts questions to people in chats. Written when an agent is wired, read when one is put.
    confirmer: RwLock<Option<Arc<dyn Confirmer>>>,
}

impl Gate {
    pub fn new(store: Store, policy: GatePolicy) -> Self {
        Gate(Arc::new(GateInner {
            store,
            rulebook: Rulebook::new({
                let mut rules = policy.rules.clone();
                rules.extend(asking(&policy.ask));
                rules
            }),
            policy,
            registry: RwLock::default(),
            answers: watch::Sender::new(0),
            approvals: broadcast::Sender::new(APPROVALS),
            absent: RwLock::default(),
            changes: watch::Sender::new(0),
            departures: broadcast::Sender::new(DEPARTURES),
            observer: OnceLock::new(),
            confirmer: RwLock::default(),
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

    pub(crate) fn explanation(&self, name: &str) -> Option<String> {
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

    /// Where several methods have the same name it means the one that is chosen here by its full name,
    /// `origin/name`; otherwise origins decide.
    pub fn set_preferred(&self, chosen: impl IntoIterator<Item = String>) {
        self.write(|registry| registry.choose(chosen.into_iter().collect()));
    }

    /// Names that several methods have as their own, sorted.
    pub fn shared_names(&self) -> Vec<SharedName> {
        self.read(Registry::shared_names)
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

    /// Puts questions to people from now on.
    pub fn set_confirmer(&self, confirmer: Arc<dyn Confirmer>) {
        *self.0.confirmer.write() = Some(confirmer);
    }

    pub(crate) fn confirmer(&self) -> Option<Arc<dyn Confirmer>> {
        self.0.confirmer.read().clone()
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

    pub(crate) fn rulebook(&self) -> &Rulebook {
        &self.0.rulebook
    }

    /// Does anybody's call of the method that `name` means wait for the operator?
    pub fn asks_for(&self, name: &str) -> bool {
        let policy = self.0.rulebook.policy();
        self.resolve(name)
            .is_some_and(|entry| policy.asks_somebody(&entry))
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

    pub(crate) fn resolve_for(&self, caller: &Caller, name: &str) -> Option<Arc<Entry>> {
        self.read(|registry| registry.resolve_for(caller, name).cloned())
    }

    pub(crate) fn resolve(&self, name: &str) -> Option<Arc<Entry>> {
        self.read(|registry| registry.resolve(name).cloned())
    }

    pub(crate) fn read<T>(&self, look: impl FnOnce(&Registry) -> T) -> T {
        look(&self.0.registry.read())
    }

    fn write<T>(&self, change: impl FnOnce(&mut Registry) -> T) -> T {
        let changed = change(&mut self.0.registry.write());
        self.tell_change();
        changed
    }

    /// What callers may use is no longer what it was.
    pub(crate) fn tell_change(&self) {
        self.0.changes.send_modify(|count| *count += 1);
    }
}
