//! Backups of a data directory. A backup is a folder: `manifest.json` names everything that is in it, with
//! hashes; `callgate.db` is the database; `files` holds what else matters of the data directory. What a
//! process keeps for itself (lock, socket, control key, the instance's name) is not in it, nor what can be
//! made again (environments, packages, caches, logs). A folder appears under its name once it is whole.

mod manifest;
mod references;
mod restore;
mod settle;
mod take;
mod verify;

use std::{io, path::PathBuf};

pub use manifest::{DatabaseCopy, Manifest};
pub use restore::{NextTime, RestoreOptions, Restored, restore};
pub use settle::Settled;
pub use take::Backup;
pub use verify::{Problem, Verification, verify};

use crate::{DatabaseError, OwnerError, StoreError};

/// Of the data directory. All else is a process's own, or can be made again.
const KEPT: [&std::ffi::CStr; 8] = [
    c"callgate.toml",
    c"functions",
    c"imports",
    c"plugin_data",
    c"plugins",
    c"remote",
    c"sessions",
    c"workers",
];
/// In the backup, where those lie.
const FILES: &str = "files";

#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    #[error("{} is there already", .0.display())]
    Exists(PathBuf),
    #[error("{} is not empty", .0.display())]
    NotEmpty(PathBuf),
    #[error("cannot {doing} {}: {source}", path.display())]
    Io {
        doing: &'static str,
        path: PathBuf,
        source: io::Error,
    },
    #[error("{} is no backup of Callgate: {reason}", path.display())]
    NotABackup { path: PathBuf, reason: String },
    #[error("the backup is not sound: {}", .0.what)]
    Unsound(Problem),
    /// A backup of files alone, since PostgreSQL has tools of its own.
    #[error("the database of this backup is on PostgreSQL and not in it")]
    DatabaseElsewhere,
    /// It has its database in it.
    #[error("this backup has its database in it")]
    DatabaseInside,
    #[error("a running Callgate uses that database")]
    InUse,
    #[error(transparent)]
    Owner(#[from] OwnerError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl BackupError {
    fn io(doing: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> BackupError {
        let path = path.into();
        move |source| BackupError::Io {
            doing,
            path,
            source,
        }
    }
}

/// On a thread of its own: disks are slow, and others wait for this one.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, BackupError> + Send + 'static,
) -> Result<T, BackupError> {
    let panicked = |_| Err(StoreError::from(DatabaseError::Panicked).into());
    tokio::task::spawn_blocking(work)
        .await
        .unwrap_or_else(panicked)
}
