//! JSON documents in a folder: read whole, changed by atomic shallow merge. Two merges of one
//! document never lose each other's keys, also from two processes.

use std::{
    hash::{DefaultHasher, Hash, Hasher},
    os::fd::OwnedFd,
    time::Duration,
};

use rustix::{fs::FlockOperation, io::Errno};
use serde_json::{Map, Value as Json};
use tokio::sync::{Mutex, MutexGuard};

use super::{FileError, Files, Folder, name};

/// Bytes.
const MAX_DOCUMENT: u64 = 8 << 20;
const STRIPES: usize = 64;
/// How long another process may hold a folder, in tries of `RETRY` each.
const TRIES: u32 = 1000;
const RETRY: Duration = Duration::from_millis(10);

/// Merges within this process wait here in order, without holding a thread. Documents share a
/// fixed number of locks by hash, so the set never grows.
pub(super) struct Locks([Mutex<()>; STRIPES]);

impl Default for Locks {
    fn default() -> Self {
        Locks(std::array::from_fn(|_| Mutex::new(())))
    }
}

impl Locks {
    async fn lock(&self, folder: &Folder, name: &str) -> Result<MutexGuard<'_, ()>, FileError> {
        let stat = rustix::fs::fstat(folder).map_err(|error| FileError::of(name, error))?;
        let mut hasher = DefaultHasher::new();
        (stat.st_dev, stat.st_ino, name).hash(&mut hasher);
        let stripe = hasher.finish() as usize % STRIPES;
        Ok(self.0[stripe].lock().await)
    }
}

impl Files {
    /// The document, or `None` if there is none yet.
    pub fn read_json(
        &self,
        folder: &Folder,
        name: &str,
    ) -> Result<Option<Map<String, Json>>, FileError> {
        let bytes = match folder.read(name, MAX_DOCUMENT) {
            Ok(bytes) => bytes,
            Err(FileError::NotFound(_)) => return Ok(None),
            Err(error) => return Err(error),
        };
        let not_json = |reason: String| FileError::NotJson {
            name: name.to_owned(),
            reason,
        };
        match serde_json::from_slice(&bytes) {
            Ok(Json::Object(document)) => Ok(Some(document)),
            Ok(_) => Err(not_json("it holds another kind of value".to_owned())),
            Err(error) => Err(not_json(error.to_string())),
        }
    }

    /// Sets the keys of `changes` and leaves the others, making the document and its folders if
    /// missing. Returns the whole.
    pub async fn merge_json(
        &self,
        folder: &Folder,
        name: &str,
        changes: Map<String, Json>,
    ) -> Result<Map<String, Json>, FileError> {
        name::check(name)?;
        let _turn = self.0.locks.lock(folder, name).await?;
        if let (Some(parent), _) = name::split(name) {
            folder.create_dirs(parent)?;
        }
        let _held = lock_across_processes(folder, name).await?;
        let mut document = self.read_json(folder, name)?.unwrap_or_default();
        document.extend(changes);
        let bytes = serde_json::to_vec_pretty(&document).map_err(|error| FileError::NotJson {
            name: name.to_owned(),
            reason: error.to_string(),
        })?;
        if bytes.len() as u64 > MAX_DOCUMENT {
            return Err(FileError::TooLarge {
                name: name.to_owned(),
                limit: MAX_DOCUMENT,
            });
        }
        folder.write_atomic(name, &bytes)?;
        Ok(document)
    }
}

/// The lock is on the folder itself: it leaves no file behind, and the kernel frees it with the
/// process. Never waited for in the kernel, since code in the sandbox could hold its own folder.
async fn lock_across_processes(folder: &Folder, name: &str) -> Result<OwnedFd, FileError> {
    let fd = folder.directory("")?;
    for _ in 0..TRIES {
        match rustix::fs::flock(&fd, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(fd),
            Err(Errno::WOULDBLOCK) => tokio::time::sleep(RETRY).await,
            Err(error) => return Err(FileError::of(name, error)),
        }
    }
    Err(FileError::Busy(name.to_owned()))
}
