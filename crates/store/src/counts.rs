//! [`DatabaseCounters`]: how much is asked of the database, for the operator's metrics and for tests that hold the
//! cost of a message.

use std::sync::atomic::{AtomicU64, Ordering};

#[derive(Debug, Default)]
pub(crate) struct DatabaseCounters {
    statements: AtomicU64,
    commits: AtomicU64,
}

/// Since the store was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StatementCounts {
    /// What begins and ends transactions is not counted.
    pub statements: u64,
    /// Of all that write, however many of them shared one.
    pub commits: u64,
}

impl DatabaseCounters {
    pub(crate) fn stated(&self) {
        self.statements.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn committed(&self) {
        self.commits.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn get(&self) -> StatementCounts {
        StatementCounts {
            statements: self.statements.load(Ordering::Relaxed),
            commits: self.commits.load(Ordering::Relaxed),
        }
    }
}
