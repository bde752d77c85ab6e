//! [`Owner`]: the one process that may recover and run turns in a data directory. It holds
//! `DIR/lock`, which the kernel frees however the process ends, and listens on `DIR/control.sock` to
//! those who can read `DIR/control.key`.

use std::{
    fs::File,
    io::{Read, Seek, Write},
    path::{Path, PathBuf},
    sync::Arc,
};

use rustix::{
    fs::{AtFlags, FlockOperation, Mode, OFlags},
    io::Errno,
};
use serde_json::Value as Json;

use crate::{
    control::{self, Events},
    files,
};
use callgate_contract::BoxFuture;

const LOCK: &str = "lock";
pub(crate) const SOCKET: &str = "control.sock";

/// Another process owns the directory: ask it through [`crate::request`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("another callgate is running on this data directory{}", pid.map(|pid| format!(" (process {pid})")).unwrap_or_default())]
pub struct Held {
    /// `None` in the instant before the owner has written it.
    pub pid: Option<u32>,
}

#[derive(Debug, thiserror::Error)]
pub enum OwnerError {
    #[error(transparent)]
    Held(#[from] Held),
    #[error("cannot own the data directory {}: {source}", path.display())]
    Directory {
        path: PathBuf,
        source: std::io::Error,
    },
}

/// Answers one control request, and may tell events before.
pub type Handler = Arc<dyn Fn(Json, Events) -> BoxFuture<'static, Json> + Send + Sync>;

/// Ownership ends when this is dropped.
#[derive(Debug)]
pub struct Owner {
    path: PathBuf,
    directory: File,
    /// Held for its lock alone.
    _lock: File,
}

impl Owner {
    /// Takes the directory, making it if missing.
    pub fn acquire(data: &Path) -> Result<Owner, OwnerError> {
        let failed = |source: std::io::Error| OwnerError::Directory {
            path: data.to_owned(),
            source,
        };
        let directory = files::open_data(data).map_err(failed)?;
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mode = Mode::RUSR | Mode::WUSR;
        let lock = rustix::fs::openat(&directory, LOCK, flags, mode);
        let mut lock = File::from(lock.map_err(|error| failed(error.into()))?);
        match rustix::fs::flock(&lock, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {}
            Err(Errno::WOULDBLOCK) => return Err(held(&mut lock).into()),
            Err(error) => return Err(failed(error.into())),
        }
        write_pid(&mut lock).map_err(failed)?;
        Ok(Owner {
            path: data.to_owned(),
            directory,
            _lock: lock,
        })
    }

    /// Answers control requests until dropped. A socket file left by a dead owner is replaced.
    pub async fn serve(&self, handler: Handler) -> Result<(), OwnerError> {
        let listening = control::listen(&self.directory);
        let listening = listening.map_err(|source| OwnerError::Directory {
            path: self.path.clone(),
            source,
        })?;
        control::answer(listening, handler).await
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        // Only tidiness: a socket nobody listens on is told from a living one by connecting.
        let _ = rustix::fs::unlinkat(&self.directory, SOCKET, AtFlags::empty());
    }
}

fn held(lock: &mut File) -> Held {
    let mut text = String::new();
    // Who holds it is a courtesy; that it is held is known.
    let _ = lock.take(20).read_to_string(&mut text);
    Held {
        pid: text.trim().parse().ok(),
    }
}

fn write_pid(lock: &mut File) -> std::io::Result<()> {
    lock.set_len(0)?;
    lock.rewind()?;
    writeln!(lock, "{}", std::process::id())
}
