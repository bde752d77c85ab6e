//! [`KeyHandle`]: a verified key or login, as long as something that stays open hangs on it (a stream, a
//! socket, a ticket, a turn). It tells when that is over: at once where it is revoked or logged out in
//! this process, and within [`LOOK`] where it expires or another instance on the same database ends it.

use std::{
    collections::{HashMap, HashSet},
    fmt,
    sync::{Arc, Weak},
    time::Duration,
};

use parking_lot::Mutex;
use tokio::{sync::watch, task::JoinSet};

use super::VALID;
use crate::{database::Database, row, tx::parameters};

/// How often the database is asked which of them are still valid.
const LOOK: Duration = Duration::from_secs(1);

/// Clones are of the same key.
#[derive(Clone)]
pub struct KeyHandle(Arc<Held>);

struct Held {
    /// Of the key, or of the login.
    id: String,
    key: String,
    revoked: watch::Sender<bool>,
}

impl KeyHandle {
    /// The key's id, also of a login.
    pub fn key(&self) -> &str {
        &self.0.key
    }

    pub fn is_revoked(&self) -> bool {
        *self.0.revoked.borrow()
    }

    /// Returns once the key is revoked or has expired, or the login is over.
    pub async fn revoked(&self) {
        // The sender is ours, so it cannot go while we wait.
        let _ = self
            .0
            .revoked
            .subscribe()
            .wait_for(|revoked| *revoked)
            .await;
    }

    /// Calls `stop` when it is over, as long as what is returned lives.
    pub fn at_end(&self, stop: impl FnOnce() + Send + 'static) -> JoinSet<()> {
        let (mut watching, key) = (JoinSet::new(), self.clone());
        watching.spawn(async move {
            key.revoked().await;
            stop();
        });
        watching
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
    /// The key is over, and every login by it.
    pub(super) fn revoked(&self, key: &str) {
        self.end(|held| held.key == key);
    }

    pub(super) fn ended(&self, login: &str) {
        self.end(|held| held.id == login);
    }

    fn end(&self, is_over: impl Fn(&Held) -> bool) {
        let open = self.0.lock();
        let held: Vec<Arc<Held>> = open.keys.values().filter_map(Weak::upgrade).collect();
        drop(open);
        for held in held.iter().filter(|held| is_over(held)) {
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

pub(super) fn open(database: &Arc<Database>, id: &str, key: &str) -> KeyHandle {
    let mut open = database.key_handles.0.lock();
    let known = open.keys.get(id).and_then(Weak::upgrade);
    let held = known.unwrap_or_else(|| {
        Arc::new(Held {
            id: id.to_owned(),
            key: key.to_owned(),
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
        let keys = format!("SELECT id FROM access_key WHERE {VALID}");
        // Those of keys that are over are over by their key.
        let logins = "SELECT id FROM login WHERE expires_at > ?1";
        let valid = database.read(move |tx| {
            let now = row::now();
            let mut valid: Vec<String> = tx.scalars(&keys, parameters![now])?;
            valid.extend(tx.scalars::<String>(logins, parameters![now])?);
            Ok(valid)
        });
        match valid.await {
            Ok(valid) => {
                let valid: HashSet<String> = valid.into_iter().collect();
                let is_over =
                    |held: &&Arc<Held>| !valid.contains(&held.id) || !valid.contains(&held.key);
                for held in held.iter().filter(is_over) {
                    held.revoked.send_replace(true);
                }
            }
            Err(error) => {
                tracing::warn!(%error, "could not read revoked keys; retrying");
            }
        }
    }
}
