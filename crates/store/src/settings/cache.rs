//! [`SettingsCache`]: settings and limits as they were last read. Every message asks for them several times,
//! and people change them seldom. Whoever changes one has it read anew; where other instances may, what is
//! known holds for a moment only.

use std::{
    collections::HashMap,
    sync::Arc,
    time::{Duration, Instant},
};

use parking_lot::Mutex;

use super::{SessionSettings, Versioned};
use crate::StoredLimit;

/// For how long another instance's change may go unseen.
const SHARED: Duration = Duration::from_secs(1);
/// Settings kept; beyond it all are read anew.
const MOST: usize = 10_000;

#[derive(Default)]
pub(crate) struct SettingsCache {
    pub(super) sessions: Cache<Versioned<SessionSettings>>,
    pub(super) operator: Cache<Option<String>>,
    pub(crate) limits: Cache<Arc<[StoredLimit]>>,
}

/// By name. A mutex held for a look.
pub(crate) struct Cache<T>(Mutex<Entries<T>>);

struct Entries<T> {
    known: HashMap<String, (T, Instant)>,
    /// How often something was changed: what was read before a change is not kept after it.
    changes: u64,
}

impl<T> Default for Cache<T> {
    fn default() -> Self {
        Cache(Mutex::new(Entries {
            known: HashMap::new(),
            changes: 0,
        }))
    }
}

impl<T: Clone> Cache<T> {
    /// What is known of `name`, or what [`Cache::put`] is to be told with what was read.
    pub(crate) fn get(&self, name: &str, shared: bool) -> Result<T, u64> {
        let entries = self.0.lock();
        match entries.known.get(name) {
            Some((value, read_at)) if !shared || read_at.elapsed() < SHARED => Ok(value.clone()),
            _ => Err(entries.changes),
        }
    }

    pub(crate) fn put(&self, name: String, value: T, before: u64) {
        let mut entries = self.0.lock();
        if entries.changes == before {
            if entries.known.len() >= MOST {
                entries.known.clear();
            }
            entries.known.insert(name, (value, Instant::now()));
        }
    }

    pub(crate) fn forget(&self, name: &str) {
        let mut entries = self.0.lock();
        entries.changes += 1;
        entries.known.remove(name);
    }
}
