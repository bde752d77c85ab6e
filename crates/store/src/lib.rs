//! Everything durable: rows in SQLite or PostgreSQL through one code path, files beneath directory
//! descriptors, and the lock that makes one process the owner of a data directory.
//! What a row *means* is decided by the gate; the store refuses only what would lose or double it.

mod approvals;
mod changes;
mod control;
mod crash;
mod database;
mod error;
pub mod files;
mod journal;
mod keys;
mod log;
mod notes;
mod open;
mod outbox;
mod owner;
mod row;
mod sessions;

use std::sync::Arc;

pub use approvals::{Approval, ApprovalState, Approvals, Ask, Decision, Rule};
pub use control::{ControlError, request};
pub use crash::{CRASH_POINTS, crash_point};
pub use error::StoreError;
pub use files::Files;
pub use journal::{CallIntent, CallOutcome, Finish, Journal, RecordedCall, Run, RunStart, Success};
pub use keys::{Key, Keys};
pub use log::{Log, LogRole, LogRow};
pub use notes::{MAX_NOTE_NAME, MAX_NOTE_TEXT, Note, Notes};
pub use open::{Durability, StoreOptions};
pub use outbox::{Deliveries, Pending, QueuedMessages};
pub use owner::{Handler, Held, Owner, OwnerError};
pub use sessions::{Session, Sessions};

use crate::database::Database;

/// The door to all of it. Clones are cheap and share one set of connections.
#[derive(Clone)]
pub struct Store {
    database: Arc<Database>,
    journal: Journal,
    files: Files,
}

impl Store {
    pub fn journal(&self) -> &Journal {
        &self.journal
    }

    pub fn files(&self) -> &Files {
        &self.files
    }

    pub fn approvals(&self) -> Approvals<'_> {
        Approvals(&self.database)
    }

    pub fn notes(&self) -> Notes<'_> {
        Notes(&self.database)
    }

    pub fn sessions(&self) -> Sessions<'_> {
        Sessions(&self.database)
    }

    pub fn outbox(&self) -> QueuedMessages<'_> {
        QueuedMessages(&self.database)
    }

    pub fn log(&self) -> Log<'_> {
        Log(&self.database)
    }

    pub fn keys(&self) -> Keys<'_> {
        Keys(&self.database)
    }
}
