//! Writing beneath a folder: whole files appear at once or not at all.

use std::{
    fs::File,
    io::Write,
    os::fd::{AsFd, OwnedFd},
};

use rustix::{
    fs::{AtFlags, Gid, Mode, OFlags, Uid},
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
        let temporary = format!("{TEMPORARY}{}", Uuid::now_v7().simple());
        let written = self
            .write_new(&parent, &temporary, bytes)
            .and_then(|()| self.replace(&parent, &temporary, last));
        written.map_err(|error| {
            // The file may not exist; the first failure is the one to tell.
            let _ = rustix::fs::unlinkat(&parent, &*temporary, AtFlags::empty());
            FileError::of(name, error)
        })
    }

    fn write_new(&self, parent: &OwnedFd, name: &str, bytes: &[u8]) -> std::io::Result<()> {
        // Exclusive: whatever waits under this name, nothing is written through it.
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let mode = Mode::RUSR | Mode::WUSR;
        let mut file = File::from(rustix::fs::openat(parent, name, flags, mode)?);
        self.give(&file)?;
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
