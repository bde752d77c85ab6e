//! Removing files of sessions that are old, or more than there may be, the oldest first. Age is told by
//! when a file was last changed as the system saw it: code can claim any other time.

use std::time::SystemTime;

use rustix::{
    fs::{AtFlags, Dir, FileType, Mode, OFlags, Stat},
    io::Errno,
};

use super::{FileError, Files, Folder};
use crate::Durability;

/// Folders deeper than this are not entered: each level holds a descriptor open.
const MAX_LEVELS: usize = 64;

/// What is kept of the `shared` and `uploads` folders of all sessions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileBounds {
    /// Changed later.
    pub since: Option<SystemTime>,
    /// The newest, as many as these bytes on the disk hold.
    pub bytes: Option<u64>,
}

struct Found {
    /// Seconds since 1970, and nanoseconds.
    changed: (i64, u64),
    bytes: u64,
    /// Beneath the folder of sessions.
    path: String,
}

impl Files {
    /// Returns how many files went.
    pub fn forget(&self, bounds: FileBounds) -> Result<u64, FileError> {
        if bounds == FileBounds::default() {
            return Ok(0);
        }
        let sessions = Folder {
            fd: std::sync::Arc::new(
                self.0
                    .sessions
                    .try_clone()
                    .map_err(|error| FileError::of("", error))?,
            ),
            owner: None,
            durability: Durability::Process,
        };
        let mut found = Vec::new();
        for session in sessions.list("", usize::MAX)? {
            for folder in ["shared", "uploads"] {
                let path = format!("{}/{folder}", session.name);
                match collect(&sessions, &path, &mut found) {
                    // Not there yet, or no session.
                    Ok(()) | Err(FileError::NotFound(_) | FileError::NotFolder(_)) => {}
                    Err(error) => return Err(error),
                }
            }
        }
        found.sort_by_key(|file| std::cmp::Reverse(file.changed));
        let since = bounds.since.map(|since| {
            let since = since
                .duration_since(SystemTime::UNIX_EPOCH)
                .unwrap_or_default();
            (i64::try_from(since.as_secs()).unwrap_or(i64::MAX), 0)
        });
        let (mut sum, mut gone) = (0, 0);
        for file in found {
            sum += file.bytes;
            let is_old = since.is_some_and(|since| file.changed < since);
            let is_too_much = bounds.bytes.is_some_and(|bytes| sum > bytes);
            // Code may have removed it, or given it a name that we do not touch.
            if (is_old || is_too_much) && sessions.remove(&file.path).is_ok() {
                gone += 1;
            }
        }
        Ok(gone)
    }
}

fn collect(sessions: &Folder, path: &str, found: &mut Vec<Found>) -> Result<(), FileError> {
    let failed = |error: Errno| FileError::of(path, error);
    let first = Dir::new(sessions.directory(path)?).map_err(failed)?;
    let mut levels = vec![(path.to_owned(), first)];
    while let Some((above, level)) = levels.last_mut() {
        let Some(listed) = level.read() else {
            levels.pop();
            continue;
        };
        let listed = listed.map_err(failed)?;
        let name = listed.file_name();
        let Ok(text) = name.to_str() else { continue };
        if text == "." || text == ".." {
            continue;
        }
        let (at, path) = (level.fd().map_err(failed)?, format!("{above}/{text}"));
        let stat: Stat = match rustix::fs::statat(at, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => stat,
            Err(Errno::NOENT) => continue,
            Err(error) => return Err(failed(error)),
        };
        if FileType::from_raw_mode(stat.st_mode) == FileType::Directory {
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            // Closed to us, or replaced while we look.
            if let Ok(fd) = rustix::fs::openat(at, name, flags, Mode::empty())
                && levels.len() < MAX_LEVELS
            {
                levels.push((path, Dir::new(fd).map_err(failed)?));
            }
        } else {
            found.push(Found {
                changed: (stat.st_ctime, stat.st_ctime_nsec),
                bytes: u64::try_from(stat.st_blocks).unwrap_or(0) * 512,
                path,
            });
        }
    }
    Ok(())
}
