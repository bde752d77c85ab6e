//! Which name means which method. A plain map from every spelling to its candidates, in order of
//! precedence; nothing here decides who may call.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use callgate_contract::{Method, MethodInfo, Origin};

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
            method,
        })
    }

    pub(crate) fn info(&self) -> &MethodInfo {
        self.method.info()
    }

    /// Is `name` one of the ways to write this method, whatever else it may mean?
    pub(crate) fn is_called(&self, name: &str) -> bool {
        self.spellings()
            .iter()
            .any(|(spelling, _)| *spelling == name)
    }

    /// Every way to write this method.
    fn spellings(&self) -> [(&str, Spelling); 3] {
        [
            (&self.full_name, Spelling::Full),
            (&self.tool_name, Spelling::Full),
            (&self.info().name, Spelling::Bare),
        ]
    }
}

/// A full spelling beats a bare one: nobody can take over `builtin__now` by that bare name.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Spelling {
    Full,
    Bare,
}

type Precedence = (Spelling, Origin, String);

#[derive(Default)]
pub(crate) struct Registry {
    /// Invariant: no candidate map is empty, and its first candidate is what the name means.
    names: HashMap<String, BTreeMap<Precedence, Arc<Entry>>>,
}

impl Registry {
    /// Adds `entry`, in place of one with the same origin and name, which is returned.
    pub(crate) fn insert(&mut self, entry: Entry) -> Option<Arc<Entry>> {
        let entry = Arc::new(entry);
        let mut replaced = None;
        for (name, spelling) in entry.spellings() {
            let candidates = self.names.entry(name.to_owned()).or_default();
            replaced = candidates.insert(precedence(spelling, &entry), entry.clone());
        }
        replaced
    }

    /// Removes all methods of `origin` and says how many there were.
    pub(crate) fn remove_origin(&mut self, origin: &Origin) -> usize {
        let mut removed = 0;
        self.names.retain(|_, candidates| {
            candidates.retain(|(spelling, of, _), _| {
                removed += usize::from(of == origin && *spelling == Spelling::Bare);
                of != origin
            });
            !candidates.is_empty()
        });
        removed
    }

    /// What `name` means, in any of its spellings.
    pub(crate) fn resolve(&self, name: &str) -> Option<&Arc<Entry>> {
        let candidates = self.names.get(name)?;
        candidates.first_key_value().map(|(_, entry)| entry)
    }

    /// The methods that bare names mean; those behind another of the same name are left out.
    pub(crate) fn reachable(&self) -> impl Iterator<Item = &Arc<Entry>> {
        self.names.values().filter_map(|candidates| {
            let ((spelling, ..), entry) = candidates.first_key_value()?;
            (*spelling == Spelling::Bare).then_some(entry)
        })
    }
}

fn precedence(spelling: Spelling, entry: &Entry) -> Precedence {
    let info = entry.info();
    (spelling, info.origin.clone(), info.name.clone())
}
