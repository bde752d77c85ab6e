//! [`KeyHandle`]: a verified key, as long as something that stays open hangs on it (a stream, a
//! socket, a ticket). It tells when the key is revoked: at once where that happens in this process,
//! and within [`LOOK`] where another instance on the same database does it.

use std::{
    collections::{HashMap, HashSet},
    fmt,
    sync::{Arc, Weak},
    time::Duration,
};

use parking_lot::Mutex;
use tokio::sync::watch;

use crate::database::Database;

/// How often the database is asked which of them are still valid.
const LOOK: Duration = Duration::from_secs(1);

/// Clones are of the same key.
#[derive(Clone)]
pub struct KeyHandle(Arc<Held>);

struct Held {
    id: String,
    revoked: watch::Sender<bool>,
}

impl KeyHandle {
    pub fn id(&self) -> &str {
        &self.0.id
    }

    pub fn is_revoked(&self) -> bool {
        *self.0.revoked.borrow()
    }

    /// Returns once the key is revoked.
    pub async fn revoked(&self) {
        // The sender is ours, so it cannot go while we wait.
        let _ = self
            .0
            .revoked
            .subscribe()
            .wait_for(|revoked| *revoked)
            .await;
    }
}

impl fmt::Debug for KeyHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("KeyHandle").field(&self.0.id).finish()
    }
}

/// The keys that something hangs on. A mutex, held for a look into the map.
#[derive(Default)]
pub(crate) struct Handles(Mutex<Open>);

#[derive(Default)]
struct Open {
    keys: HashMap<String, Weak<Held>>,
    /// The one task that asks the database; there is none while nothing hangs on any key.
    asking: bool,
}

impl Handles {
    pub(super) fn revoked(&self, id: &str) {
        let held = self.0.lock().keys.get(id).and_then(Weak::upgrade);
        if let Some(held) = held {
            held.revoked.send_replace(true);
        }
    }

    /// Those that something hangs on; with none there is nothing more to ask.
    fn held(&self) -> Vec<Arc<Held>> {
        let mut open = self.0.lock();
        let held: Vec<Arc<Held>> = open.keys.values().filter_map(Weak::upgrade).collect();
        open.keys.retain(|_, held| held.strong_count() > 0);
        open.asking = !held.is_empty();
        held
    }
}

pub(super) fn open(database: &Arc<Database>, id: &str) -> KeyHandle {
    let mut open = database.key_handles.0.lock();
    let known = open.keys.get(id).and_then(Weak::upgrade);
    let held = known.unwrap_or_else(|| {
        Arc::new(Held {
            id: id.to_owned(),
            revoked: watch::Sender::new(false),
        })
    });
    open.keys.insert(id.to_owned(), Arc::downgrade(&held));
    if !std::mem::replace(&mut open.asking, true) {
        tokio::spawn(ask(Arc::downgrade(database)));
    }
    KeyHandle(held)
}

/// Until nothing hangs on any key, or the database is no longer used.
async fn ask(used: Weak<Database>) {
    loop {
        tokio::time::sleep(LOOK).await;
        let Some(database) = used.upgrade() else {
            return;
        };
        // Before the question: a key that is verified after it is no part of the answer.
        let held = database.key_handles.held();
        if held.is_empty() {
            return;
        }
        let valid = "SELECT id FROM access_key WHERE revoked_at IS NULL";
        match database.read(|tx| tx.scalars::<String>(valid, &[])).await {
            Ok(valid) => {
                let valid: HashSet<String> = valid.into_iter().collect();
                for key in held.iter().filter(|key| !valid.contains(&key.id)) {
                    key.revoked.send_replace(true);
                }
            }
            Err(error) => {
                tracing::warn!(%error, "could not read revoked keys; retrying");
            }
        }
    }
}
