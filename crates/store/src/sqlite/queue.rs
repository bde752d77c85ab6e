//! [`Queue`]: writes that wait for a commit, and the thread that commits them where a commit waits for
//! the disk.

use std::sync::Arc;

use parking_lot::{Condvar, Mutex};

use super::Sqlite;
use crate::{DatabaseError, job::Job};

#[derive(Default)]
pub(super) struct Queue {
    /// Held for a push or a swap.
    state: Mutex<State>,
    /// Wakes the thread that commits.
    changed: Condvar,
}

#[derive(Default)]
struct State {
    jobs: Vec<Box<dyn Job>>,
    closed: bool,
}

impl Queue {
    pub(super) fn push(&self, job: Box<dyn Job>) {
        self.state.lock().jobs.push(job);
        self.changed.notify_one();
    }

    pub(super) fn take(&self) -> Vec<Box<dyn Job>> {
        std::mem::take(&mut self.state.lock().jobs)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.state.lock().jobs.is_empty()
    }

    pub(super) fn close(&self) {
        self.state.lock().closed = true;
        self.changed.notify_all();
    }

    /// False once it is closed.
    fn wait(&self) -> bool {
        let mut state = self.state.lock();
        while state.jobs.is_empty() && !state.closed {
            self.changed.wait(&mut state);
        }
        !state.closed
    }
}

/// Commits all that wait, again and again: whoever comes while a commit waits for the disk is part of
/// the next.
pub(super) fn start_committing(sqlite: &Arc<Sqlite>) -> Result<(), DatabaseError> {
    let (used, queue) = (Arc::downgrade(sqlite), Arc::clone(&sqlite.queue));
    let thread = std::thread::Builder::new().name("commit".into());
    let started = thread.spawn(move || {
        while queue.wait() {
            let Some(sqlite) = used.upgrade() else {
                return;
            };
            let mut writer = sqlite.writer.lock();
            sqlite.commit_queued(&mut writer);
        }
    });
    started.map(|_| ()).map_err(|_| DatabaseError::Closed)
}
