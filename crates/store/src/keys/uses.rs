//! When each key was last used, written down at most once a minute: a statement per request would cost
//! more than it tells.

use std::{
    collections::HashMap,
    sync::Arc,
    time::{Duration, Instant},
};

use parking_lot::Mutex;

use crate::{database::Database, row, tx::parameters};

const AGAIN: Duration = Duration::from_secs(60);

/// When the use of each key was last written by this process. A mutex, held for a look.
#[derive(Default)]
pub(crate) struct Uses(Mutex<HashMap<String, Instant>>);

impl Uses {
    fn is_due(&self, key: &str) -> bool {
        let mut written = self.0.lock();
        let due = written.get(key).is_none_or(|at| at.elapsed() >= AGAIN);
        if due {
            written.insert(key.to_owned(), Instant::now());
        }
        due
    }
}

/// Nobody waits for it, and a use that could not be written is written the next time.
pub(super) fn used(database: &Arc<Database>, key: &str) {
    if !database.key_uses.is_due(key) {
        return;
    }
    let (database, key) = (Arc::clone(database), key.to_owned());
    tokio::spawn(async move {
        let update = "UPDATE access_key SET last_used_at = ?2 WHERE id = ?1";
        let written =
            database.write(move |tx| Ok(tx.execute(update, parameters![key, row::now()])?));
        if let Err(error) = written.await {
            tracing::debug!(%error, "could not write when a key was used");
        }
    });
}
