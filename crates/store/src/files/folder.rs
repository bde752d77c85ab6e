//! [`Folder`]: an open directory, and the reading done beneath it.

use std::{
    fs::File,
    io::Read,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    sync::Arc,
    time::{Duration, SystemTime},
};

use rustix::{
    fs::{AtFlags, Dir, FileType, Mode, OFlags, ResolveFlags, Stat},
    io::Errno,
};

use super::{FileError, name};
use crate::Durability;

const RESOLVE: ResolveFlags = ResolveFlags::BENEATH
    .union(ResolveFlags::NO_SYMLINKS)
    .union(ResolveFlags::NO_MAGICLINKS);

/// Names that begin so are ours, and not shown: unfinished writes.
pub(super) const TEMPORARY: &str = ".callgate-";

/// Clones share the descriptor. Names are relative; the empty name is the folder itself where a
/// folder is asked for.
#[derive(Clone, Debug)]
pub struct Folder {
    pub(super) fd: Arc<OwnedFd>,
    /// Who new entries are given to, where sessions have user ids of their own.
    pub(super) owner: Option<u32>,
    pub(super) durability: Durability,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    File,
    Folder,
    /// A link, pipe, socket or device: it can be removed and nothing else.
    Other,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub name: String,
    pub kind: EntryKind,
    pub size: u64,
    pub modified: SystemTime,
}

impl Folder {
    /// A regular file for reading.
    pub fn open_read(&self, name: &str) -> Result<File, FileError> {
        name::check(name)?;
        // Without waiting: opening a pipe must not hang the host until someone writes to it.
        let fd = self.open(name, OFlags::RDONLY | OFlags::NONBLOCK)?;
        regular(name, &fd)?;
        Ok(File::from(fd))
    }

    /// The whole file, unless it holds more than `limit` bytes.
    pub fn read(&self, name: &str, limit: u64) -> Result<Vec<u8>, FileError> {
        let file = self.open_read(name)?;
        let mut bytes = Vec::new();
        // The file may grow while it is read, so its size is not asked for beforehand.
        let reading = file.take(limit.saturating_add(1)).read_to_end(&mut bytes);
        let length = reading.map_err(|error| FileError::of(name, error))?;
        if length as u64 > limit {
            Err(FileError::TooLarge {
                name: name.to_owned(),
                limit,
            })
        } else {
            Ok(bytes)
        }
    }

    /// Of a link, the link's own.
    pub fn metadata(&self, name: &str) -> Result<Entry, FileError> {
        name::check(name)?;
        let fd = self.open(name, OFlags::PATH)?;
        let stat = rustix::fs::fstat(&fd).map_err(|error| FileError::of(name, error))?;
        Ok(entry(name::split(name).1.to_owned(), &stat))
    }

    /// What lies in the folder `name`, sorted. More than `limit` entries are cut off.
    pub fn list(&self, name: &str, limit: usize) -> Result<Vec<Entry>, FileError> {
        let fd = self.directory(name)?;
        let failed = |error: Errno| FileError::of(name, error);
        let mut entries = Vec::new();
        for listed in Dir::read_from(&fd).map_err(failed)? {
            let listed = listed.map_err(failed)?;
            let file_name = listed.file_name();
            let text = file_name.to_string_lossy();
            if text == "." || text == ".." || text.starts_with(TEMPORARY) {
                continue;
            }
            match rustix::fs::statat(&fd, file_name, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(stat) => entries.push(entry(text.into_owned(), &stat)),
                // Code in the sandbox may remove a file while we look.
                Err(Errno::NOENT) => continue,
                Err(error) => return Err(failed(error)),
            }
            if entries.len() == limit {
                break;
            }
        }
        entries.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(entries)
    }

    /// Removes a file of any kind, or an empty folder.
    pub fn remove(&self, name: &str) -> Result<(), FileError> {
        name::check(name)?;
        let (folder, last) = name::split(name);
        let parent = self.directory(folder.unwrap_or_default())?;
        let removed = match rustix::fs::unlinkat(&parent, last, AtFlags::empty()) {
            Err(Errno::ISDIR) => rustix::fs::unlinkat(&parent, last, AtFlags::REMOVEDIR),
            other => other,
        };
        removed.map_err(|error| FileError::of(name, error))
    }

    /// A descriptor of the folder `name`; of this one for the empty name.
    pub(super) fn directory(&self, name: &str) -> Result<OwnedFd, FileError> {
        let name = match name {
            "" => ".",
            name => {
                name::check(name)?;
                name
            }
        };
        self.open(name, OFlags::RDONLY | OFlags::DIRECTORY)
    }

    fn open(&self, name: &str, flags: OFlags) -> Result<OwnedFd, FileError> {
        let flags = flags | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        loop {
            match rustix::fs::openat2(&self.fd, name, flags, Mode::empty(), RESOLVE) {
                // A rename elsewhere in the tree raced with the kernel's check.
                Err(Errno::AGAIN | Errno::INTR) => continue,
                opened => return opened.map_err(|error| FileError::of(name, error)),
            }
        }
    }
}

impl AsFd for Folder {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

fn regular(name: &str, fd: &OwnedFd) -> Result<(), FileError> {
    let stat = rustix::fs::fstat(fd).map_err(|error| FileError::of(name, error))?;
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => Ok(()),
        _ => Err(FileError::NotRegular(name.to_owned())),
    }
}

fn entry(name: String, stat: &Stat) -> Entry {
    let seconds = Duration::from_secs(u64::try_from(stat.st_mtime).unwrap_or(0));
    let nanoseconds = Duration::from_nanos(stat.st_mtime_nsec);
    Entry {
        name,
        kind: match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => EntryKind::File,
            FileType::Directory => EntryKind::Folder,
            _ => EntryKind::Other,
        },
        size: u64::try_from(stat.st_size).unwrap_or(0),
        // Set by whoever owns the file, so any number may come.
        modified: SystemTime::UNIX_EPOCH
            .checked_add(seconds.saturating_add(nanoseconds))
            .unwrap_or(SystemTime::UNIX_EPOCH),
    }
}
