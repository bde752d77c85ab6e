//! Removing what writers that died left behind. A writer holds a lock on its unfinished file, and
//! the kernel frees it with the process: a file of ours that can be locked has no writer.

use std::{
    ffi::CStr,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
};

use rustix::{
    fs::{AtFlags, Dir, FileType, FlockOperation, Mode, OFlags},
    io::Errno,
};

use super::{Files, folder::TEMPORARY};

/// Folders deeper than this are not entered: each level holds a descriptor open.
const MAX_LEVELS: usize = 64;

impl Files {
    /// On a thread of its own, which nobody waits for and which may end with the process at any
    /// point: a store with many sessions is ready before all their folders have been seen.
    pub(crate) fn sweep_soon(&self) {
        let files = self.clone();
        let thread = std::thread::Builder::new().name("callgate-sweep".to_owned());
        let started = thread.spawn(move || {
            for folder in [files.0.sessions.as_fd(), files.remote().as_fd()] {
                if let Err(error) = sweep(folder) {
                    tracing::warn!(%error, "could not remove unfinished files");
                }
            }
        });
        if let Err(error) = started {
            tracing::warn!(%error, "could not start the thread that removes unfinished files");
        }
    }
}

fn sweep(folder: BorrowedFd<'_>) -> Result<(), Errno> {
    let mut levels = vec![Dir::read_from(folder)?];
    while let Some(level) = levels.last_mut() {
        let Some(listed) = level.read() else {
            levels.pop();
            continue;
        };
        let listed = listed?;
        let name = listed.file_name();
        if name == c"." || name == c".." {
            continue;
        }
        let at = level.fd()?;
        if name.to_bytes().starts_with(TEMPORARY.as_bytes()) {
            // What code in the sandbox has closed to us stays, for the next time.
            let _ = remove_abandoned(at, name);
            continue;
        }
        let may_be_folder = matches!(listed.file_type(), FileType::Directory | FileType::Unknown);
        // That code may also have removed or replaced it meanwhile.
        if may_be_folder
            && let Ok(fd) = open(at, name, OFlags::DIRECTORY)
            && levels.len() < MAX_LEVELS
        {
            levels.push(Dir::new(fd)?);
        }
    }
    Ok(())
}

fn remove_abandoned(at: BorrowedFd<'_>, name: &CStr) -> Result<(), Errno> {
    // Without waiting: whatever lies under the name, opening it must not hang.
    let file = open(at, name, OFlags::NONBLOCK)?;
    rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive)?;
    // While it is locked: a writer that has just made it finds it gone, and makes another.
    rustix::fs::unlinkat(at, name, AtFlags::empty())
}

fn open(at: BorrowedFd<'_>, name: &CStr, flags: OFlags) -> Result<OwnedFd, Errno> {
    let flags = flags | OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::openat(at, name, flags, Mode::empty())
}
