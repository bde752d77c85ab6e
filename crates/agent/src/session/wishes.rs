//! [`Wishes`]: what is wanted of messages that listeners still have.

use std::{collections::HashMap, sync::Arc};

use callgate_contract::SessionKey;
use callgate_store::LogRow;
use parking_lot::Mutex;
use tokio::sync::OwnedMutexGuard;

use crate::{Override, Watch};

#[derive(Default)]
pub(crate) struct Wishes {
    /// By row, while a message is offered to listeners: how its sender wants it answered. A mutex held
    /// for a look.
    wished: Mutex<HashMap<i64, Wished>>,
    /// By row, while a listener's turn answers it: a lock held as long. A mutex held for a look.
    asked_for: Mutex<HashMap<i64, Arc<tokio::sync::Mutex<()>>>>,
}

/// The session of the row, and what its sender wants.
type Wished = (SessionKey, Override, Watch);

/// Forgotten when the listeners have decided.
pub(crate) struct Wish<'a>(&'a Wishes, i64);

impl Drop for Wish<'_> {
    fn drop(&mut self) {
        self.0.wished.lock().remove(&self.1);
    }
}

impl Wishes {
    pub(crate) fn wish(&self, row: &LogRow, overrule: &Override, watch: &Watch) -> Wish<'_> {
        let wished = (row.session.clone(), overrule.clone(), watch.clone());
        self.wished.lock().insert(row.id, wished);
        Wish(self, row.id)
    }

    /// How the message of this row is to be answered, where a listener asks for its turn; `None` of a
    /// row of another session.
    pub(crate) fn wished(&self, session: &SessionKey, row: i64) -> Option<(Override, Watch)> {
        let wished = self.wished.lock();
        let (of, overrule, watch) = wished.get(&row)?;
        (of == session).then(|| (overrule.clone(), watch.clone()))
    }

    /// While the guard lives, the row is being answered for a listener.
    pub(crate) async fn answers(&self, row: i64) -> OwnedMutexGuard<()> {
        let lock = {
            let mut asked_for = self.asked_for.lock();
            asked_for.retain(|_, lock| lock.try_lock().is_err());
            asked_for.entry(row).or_default().clone()
        };
        lock.lock_owned().await
    }

    /// Returns when no listener's turn answers the row any more: the turn outlives a listener that
    /// has ended over it.
    pub(crate) async fn answered(&self, row: i64) {
        let lock = self.asked_for.lock().get(&row).cloned();
        if let Some(lock) = lock {
            drop(lock.lock().await);
        }
    }
}
