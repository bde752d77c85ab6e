//! What a caller may use: exposure, grant and policy. One answer for the catalogue and for a call, so
//! that nobody is offered what a call would refuse.

use std::{sync::Arc, time::Instant};

use callgate_contract::{
    Allowed, Caller, Effect, Exposure, Method, Origin, Permission, Stub, Surface,
};
use callgate_store::DecidedBy;

use crate::{
    AdHoc, Gate,
    error::CallError,
    nearest::nearest,
    policy::CallerPolicy,
    registry::{Entry, Registry},
    signature::stub,
    written,
};

impl Gate {
    /// Can a call of `name` go unrecorded, under [`callgate_contract::JournalId::NONE`]? It changes
    /// nothing, and nobody is asked for it.
    pub fn is_passing(&self, caller: &Caller, name: &str) -> bool {
        let entry = self.resolve_for(caller, name);
        let asks = |entry: &Entry| self.permission(caller, entry).waits();
        entry.is_none_or(|entry| entry.info().effect == Effect::Pure && !asks(&entry))
    }

    /// The methods `caller` may use, by bare name, sorted. Of several with one bare name only the
    /// one that the name means is listed.
    pub fn catalogue(&self, caller: &Caller) -> Vec<Arc<dyn Method>> {
        let policy = self.rulebook().policy();
        let rights = policy.of(caller);
        self.read(|registry| {
            let usable = registry
                .reachable(caller)
                .filter(|entry| may_use(self, registry, caller, &rights, entry));
            usable.map(|entry| entry.method.clone()).collect()
        })
    }

    /// All methods `caller` may use, sorted, each under the name that means it: the bare one, or
    /// `origin__name` for one behind another of the same name.
    pub fn named(&self, caller: &Caller) -> Vec<(String, Arc<dyn Method>)> {
        let policy = self.rulebook().policy();
        let rights = policy.of(caller);
        let mut named: Vec<(String, Arc<dyn Method>)> = self.read(|registry| {
            let usable = registry
                .named(caller)
                .filter(|(_, entry)| may_use(self, registry, caller, &rights, entry));
            usable
                .map(|(name, entry)| (name.to_owned(), entry.method.clone()))
                .collect()
        });
        named.sort_by(|one, other| one.0.cmp(&other.0));
        named
    }

    /// The methods `caller` holds as code finds them: each under its name, and under the further names
    /// that are free. Those that a rule denies are there as well: a call of one is refused in words that
    /// code can catch, and code that is executed again finds what it found before.
    pub fn stubs(&self, caller: &Caller) -> Vec<Stub> {
        let mut stubs: Vec<Stub> = self.read(|registry| {
            let mut stubs = Vec::new();
            for entry in registry.reachable(caller) {
                if !is_held(self, registry, caller, entry) {
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

    /// What `name` means to `caller`, unless they may not call it.
    pub fn offer(&self, caller: &Caller, name: &str) -> Option<Arc<dyn Method>> {
        let entry = self.resolve_for(caller, name)?;
        let is_denied = self.permission(caller, &entry) == Permission::Deny;
        (!is_denied).then(|| entry.method.clone())
    }

    /// May `caller` call a method that is in no registry?
    pub fn offers(&self, caller: &Caller, method: &AdHoc) -> bool {
        self.permission(caller, method.entry()) != Permission::Deny
    }

    pub(crate) fn permission(&self, caller: &Caller, entry: &Entry) -> Permission {
        self.rulebook().policy().of(caller).decide(entry)
    }

    /// By whose word, of a call whose arguments do not matter.
    pub(crate) fn decided_by(&self, caller: &Caller, entry: &Entry) -> Option<DecidedBy> {
        self.rulebook()
            .policy()
            .of(caller)
            .decided(entry, None)
            .by()
    }

    /// By its own exposure, or by the operator's word.
    fn exposes(&self, caller: &Caller, entry: &Entry) -> bool {
        let listed = || {
            self.policy()
                .remote
                .iter()
                .any(|name| entry.is_called(name))
        };
        let surface = caller.surface;
        entry.info().exposure.admits(surface) || (surface == Surface::Remote && listed())
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
                let policy = self.rulebook().policy();
                let rights = policy.of(caller);
                let usable = registry
                    .reachable(caller)
                    .filter(|entry| may_use(self, registry, caller, &rights, entry));
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

    /// No rule denies it.
    pub(crate) async fn permit(
        &self,
        caller: &Caller,
        entry: Arc<Entry>,
    ) -> Result<Arc<Entry>, CallError> {
        let name = &entry.info().name;
        let policy = self.known_rules().await;
        let policy = policy.map_err(|source| CallError::unrecorded(name, source))?;
        match policy.of(caller).decide(&entry) {
            Permission::Deny => Err(CallError::Denied {
                method: name.clone(),
            }),
            Permission::Allow | Permission::Confirm | Permission::Ask => Ok(entry),
        }
    }
}

fn may_use(
    gate: &Gate,
    registry: &Registry,
    caller: &Caller,
    rights: &CallerPolicy<'_>,
    entry: &Arc<Entry>,
) -> bool {
    is_held(gate, registry, caller, entry) && rights.decide(entry) != Permission::Deny
}

/// By exposure and grant, whatever the rules say.
fn is_held(gate: &Gate, registry: &Registry, caller: &Caller, entry: &Arc<Entry>) -> bool {
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
