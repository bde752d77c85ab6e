//! Writing beneath a folder: whole files appear at once or not at all.

use std::{
    fs::File,
    io::Write,
    os::fd::{AsFd, OwnedFd},
};

use rustix::{
    fs::{AtFlags, FlockOperation, Gid, Mode, OFlags, Uid},
    io::Errno,
};
use uuid::Uuid;

use super::{FileError, Folder, folder::TEMPORARY, name};
use crate::{Durability, crash_point};

impl Folder {
    /// Writes or replaces the file. A reader sees the old content or the new, never a part.
    pub fn write_atomic(&self, name: &str, bytes: &[u8]) -> Result<(), FileError> {
        name::check(name)?;
        let (folder, last) = name::split(name);
        let parent = self.directory(folder.unwrap_or_default())?;
        let (temporary, file) = unfinished(&parent).map_err(|e| FileError::of(name, e))?;
        let written = self
            .fill(&file, bytes)
            .and_then(|()| self.replace(&parent, &temporary, last));
        written.map_err(|error| {
            // It may be gone; the first failure is the one to tell.
            let _ = rustix::fs::unlinkat(&parent, &*temporary, AtFlags::empty());
            FileError::of(name, error)
        })
    }

    fn fill(&self, mut file: &File, bytes: &[u8]) -> std::io::Result<()> {
        self.give(file)?;
        file.write_all(bytes)?;
        if self.durability == Durability::Power {
            file.sync_all()?;
        }
        Ok(())
    }

    fn replace(&self, parent: &OwnedFd, temporary: &str, last: &str) -> std::io::Result<()> {
        crash_point("files.before_rename");
        rustix::fs::renameat(parent, temporary, parent, last)?;
        crash_point("files.after_rename");
        if self.durability == Durability::Power {
            rustix::fs::fsync(parent)?;
        }
        Ok(())
    }

    /// Makes the folder `name` and those above it, where missing.
    pub fn create_dirs(&self, name: &str) -> Result<(), FileError> {
        name::check(name)?;
        let mut at = self.clone();
        for part in name.split('/') {
            match rustix::fs::mkdirat(&at.fd, part, Mode::RWXU) {
                Ok(()) => at
                    .give(at.directory(part)?)
                    .map_err(|e| FileError::of(name, e))?,
                Err(Errno::EXIST) => {}
                Err(error) => return Err(FileError::of(name, error)),
            }
            at.fd = at.directory(part)?.into();
        }
        Ok(())
    }

    /// To the session's own user, so that its code may use what the host has put there.
    fn give(&self, fd: impl AsFd) -> Result<(), Errno> {
        match self.owner {
            None => Ok(()),
            Some(owner) => {
                rustix::fs::fchown(fd, Some(Uid::from_raw(owner)), Some(Gid::from_raw(owner)))
            }
        }
    }
}

/// A new file under a name of ours, locked until it is closed, which tells a sweep that it is
/// being written.
fn unfinished(parent: &OwnedFd) -> Result<(String, File), Errno> {
    loop {
        let name = format!("{TEMPORARY}{}", Uuid::now_v7().simple());
        // Exclusive: whatever waits under this name, nothing is written through it.
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let file = rustix::fs::openat(parent, &*name, flags, Mode::RUSR | Mode::WUSR)?;
        // A sweep may have met it before the lock: it holds the file now, or has removed it.
        let locked = match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => true,
            Err(Errno::WOULDBLOCK) => false,
            Err(error) => return Err(error),
        };
        if locked && rustix::fs::fstat(&file)?.st_nlink > 0 {
            return Ok((name, File::from(file)));
        }
    }
}
