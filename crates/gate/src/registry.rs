//! Which name means which method. A plain map from every spelling to its candidates, in order of
//! precedence; nothing here decides who may call.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, OnceLock},
};

use callgate_contract::{Caller, Method, MethodInfo, Origin};
use sha2::{Digest, Sha256};

use crate::{check::Checker, error::InvalidMethod, python, signature::Signature};

/// A registered method with what is computed from its description once.
pub(crate) struct Entry {
    pub(crate) method: Arc<dyn Method>,
    pub(crate) signature: Signature,
    pub(crate) checker: Checker,
    /// `origin/name`.
    pub(crate) full_name: String,
    /// `origin__name`, for tool calls, whose names hold only `[A-Za-z0-9_]`.
    pub(crate) tool_name: String,
    /// Made when it is first needed, which for most methods is never.
    schema: OnceLock<String>,
}

impl Entry {
    pub(crate) fn new(method: Arc<dyn Method>) -> Result<Self, InvalidMethod> {
        let info = method.info();
        let (name, origin) = (info.name.clone(), info.origin.to_string());
        if !python::is_identifier(&name) {
            return Err(InvalidMethod::Name { name, origin });
        }
        let checker = match Checker::new(&info.parameters) {
            Ok(checker) => checker,
            Err(reason) => {
                return Err(InvalidMethod::Schema {
                    name,
                    origin,
                    reason,
                });
            }
        };
        let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
        let tool_origin: String = origin.chars().map(plain).collect();
        Ok(Entry {
            signature: Signature::new(info),
            checker,
            full_name: format!("{origin}/{name}"),
            tool_name: format!("{tool_origin}__{name}"),
            schema: OnceLock::new(),
            method,
        })
    }

    pub(crate) fn info(&self) -> &MethodInfo {
        self.method.info()
    }

    /// The hash of its parameters: an answer that was given for others holds no more.
    pub(crate) fn schema(&self) -> &str {
        self.schema.get_or_init(|| {
            let digest = Sha256::digest(self.info().parameters.to_string());
            digest.iter().map(|byte| format!("{byte:02x}")).collect()
        })
    }

    /// Is `name` one of the ways to write this method, whatever else it may mean?
    pub(crate) fn is_called(&self, name: &str) -> bool {
        self.spellings().any(|(spelling, _)| spelling == name)
    }

    /// The further bare names that could be one.
    pub(crate) fn aliases(&self) -> impl Iterator<Item = &str> {
        let aliases = self.info().aliases.iter().map(String::as_str);
        aliases.filter(|alias| python::is_identifier(alias) && *alias != self.info().name)
    }

    /// Every way to write this method.
    fn spellings(&self) -> impl Iterator<Item = (&str, Spelling)> {
        [
            (self.full_name.as_str(), Spelling::Full),
            (self.tool_name.as_str(), Spelling::Full),
            (self.info().name.as_str(), Spelling::Bare),
        ]
        .into_iter()
        .chain(self.aliases().map(|alias| (alias, Spelling::Alias)))
    }
}

/// A full spelling beats a bare one: nobody can take over `builtin__now` by that bare name.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Spelling {
    Full,
    Bare,
    /// Means its method only where nobody has the name as its own.
    Alias,
}

/// Of those that are spelled alike one that the operator chose comes first.
type Precedence = (Spelling, Chosen, Origin, String);

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Chosen {
    ByOperator,
    ByOrigin,
}

/// A name that several methods have as their own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedName {
    pub name: String,
    /// What the bare name means, in full.
    pub means: String,
    /// Those that are behind it, in full.
    pub behind: Vec<String>,
}

#[derive(Default)]
pub(crate) struct Registry {
    /// In order, so that no message need sort what it may call.
    /// Invariant: no candidate map is empty, and its first candidate is what the name means.
    names: BTreeMap<String, BTreeMap<Precedence, Arc<Entry>>>,
    /// Full names of methods that come first by their bare names.
    chosen: BTreeSet<String>,
}

impl Registry {
    /// Adds `entry`, in place of one with the same origin and name, which is returned.
    pub(crate) fn insert(&mut self, entry: Entry) -> Option<Arc<Entry>> {
        let entry = Arc::new(entry);
        let replaced = self.remove(&entry.full_name);
        for (name, spelling) in entry.spellings() {
            let candidates = self.names.entry(name.to_owned()).or_default();
            candidates.insert(precedence(spelling, &entry, &self.chosen), entry.clone());
        }
        replaced
    }

    /// These, by their full names, come first by their bare names, and no others.
    pub(crate) fn choose(&mut self, chosen: BTreeSet<String>) {
        let names = std::mem::take(&mut self.names);
        self.chosen = chosen;
        for (name, candidates) in names {
            let entries = candidates.into_iter();
            let ordered = entries
                .map(|((spelling, ..), entry)| (precedence(spelling, &entry, &self.chosen), entry));
            let ordered = ordered.collect();
            self.names.insert(name, ordered);
        }
    }

    /// Names that several methods have as their own, sorted.
    pub(crate) fn shared_names(&self) -> Vec<SharedName> {
        let of_several = |(name, candidates): (&String, &BTreeMap<Precedence, Arc<Entry>>)| {
            let bare = candidates
                .iter()
                .filter(|((spelling, ..), _)| *spelling == Spelling::Bare);
            let mut full = bare.map(|(_, entry)| entry.full_name.clone());
            let means = full.next()?;
            let behind: Vec<String> = full.collect();
            (!behind.is_empty()).then(|| SharedName {
                name: name.clone(),
                means,
                behind,
            })
        };
        self.names.iter().filter_map(of_several).collect()
    }

    /// Removes the method of this full name.
    fn remove(&mut self, full_name: &str) -> Option<Arc<Entry>> {
        let entry = self.resolve(full_name)?.clone();
        if entry.full_name != full_name {
            return None;
        }
        for (name, spelling) in entry.spellings() {
            if let Some(candidates) = self.names.get_mut(name) {
                candidates.remove(&precedence(spelling, &entry, &self.chosen));
                if candidates.is_empty() {
                    self.names.remove(name);
                }
            }
        }
        Some(entry)
    }

    pub(crate) fn count(&self) -> usize {
        let keys = self.names.values().flat_map(|candidates| candidates.keys());
        keys.filter(|(spelling, ..)| *spelling == Spelling::Bare)
            .count()
    }

    /// The names of all methods of `origin`.
    pub(crate) fn names_of(&self, origin: &Origin) -> Vec<String> {
        let named = self.names.iter().filter(|(_, candidates)| {
            let mut keys = candidates.keys();
            keys.any(|(spelling, _, of, _)| of == origin && *spelling == Spelling::Bare)
        });
        named.map(|(name, _)| name.clone()).collect()
    }

    /// Removes all methods of `origin` and says how many there were.
    pub(crate) fn remove_origin(&mut self, origin: &Origin) -> usize {
        let mut removed = 0;
        self.names.retain(|_, candidates| {
            candidates.retain(|(spelling, _, of, _), _| {
                removed += usize::from(of == origin && *spelling == Spelling::Bare);
                of != origin
            });
            !candidates.is_empty()
        });
        removed
    }

    /// What `name` means to `caller`, in any of its spellings.
    pub(crate) fn resolve_for(&self, caller: &Caller, name: &str) -> Option<&Arc<Entry>> {
        let candidates = self.names.get(name)?;
        candidates
            .values()
            .find(|entry| entry.method.serves(caller))
    }

    /// What `name` means, in any of its spellings.
    pub(crate) fn resolve(&self, name: &str) -> Option<&Arc<Entry>> {
        let candidates = self.names.get(name)?;
        candidates.first_key_value().map(|(_, entry)| entry)
    }

    /// The methods that bare names mean to `caller`, sorted by those; what is behind another of the same
    /// name is left out.
    pub(crate) fn reachable(&self, caller: &Caller) -> impl Iterator<Item = &Arc<Entry>> {
        self.names.values().filter_map(|candidates| {
            let mut served = candidates
                .iter()
                .filter(|(_, entry)| entry.method.serves(caller));
            let ((spelling, ..), entry) = served.next()?;
            (*spelling == Spelling::Bare).then_some(entry)
        })
    }

    /// All methods that exist for `caller`, each under a name that means it and no other: the bare
    /// one, or `origin__name` behind another of the same name.
    pub(crate) fn named(&self, caller: &Caller) -> impl Iterator<Item = (&str, &Arc<Entry>)> {
        self.names.iter().flat_map(|(name, candidates)| {
            let served = candidates
                .iter()
                .filter(|(_, entry)| entry.method.serves(caller));
            let named = served.enumerate().map(move |(place, (key, entry))| {
                let name = match place {
                    0 => name.as_str(),
                    _ => entry.tool_name.as_str(),
                };
                (key.0, name, entry)
            });
            let own = named.filter(|(spelling, ..)| *spelling == Spelling::Bare);
            own.map(|(_, name, entry)| (name, entry))
        })
    }
}

fn precedence(spelling: Spelling, entry: &Entry, chosen: &BTreeSet<String>) -> Precedence {
    let info = entry.info();
    let first = if chosen.contains(&entry.full_name) {
        Chosen::ByOperator
    } else {
        Chosen::ByOrigin
    };
    (spelling, first, info.origin.clone(), info.name.clone())
}
