//! How much of the disk a folder uses, counted within bounds that code in the sandbox cannot
//! stretch.

use rustix::{
    fs::{AtFlags, Dir, FileType, Mode, OFlags},
    io::Errno,
};

use super::{FileError, Folder};

/// Folders deeper than this are not entered: each level holds a descriptor open.
const MAX_LEVELS: usize = 64;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Allocated on the disk, not the length of files, which may have holes.
    pub bytes: u64,
    pub entries: u64,
    /// False if a bound was met first: there is at least this much.
    pub complete: bool,
}

impl Folder {
    /// Counts everything beneath, at most `limit` entries of it.
    pub fn usage(&self, limit: u64) -> Result<Usage, FileError> {
        let failed = |error: Errno| FileError::of("", error);
        let mut usage = Usage {
            complete: true,
            ..Usage::default()
        };
        let mut levels = vec![Dir::new(self.directory("")?).map_err(failed)?];
        while let Some(level) = levels.last_mut() {
            let Some(listed) = level.read() else {
                levels.pop();
                continue;
            };
            let listed = listed.map_err(failed)?;
            let name = listed.file_name();
            if name == c"." || name == c".." {
                continue;
            }
            if usage.entries == limit {
                usage.complete = false;
                break;
            }
            let at = level.fd().map_err(failed)?;
            let stat = match rustix::fs::statat(at, name, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(stat) => stat,
                Err(Errno::NOENT) => continue,
                Err(error) => return Err(failed(error)),
            };
            usage.entries += 1;
            usage.bytes += u64::try_from(stat.st_blocks).unwrap_or(0) * 512;
            if FileType::from_raw_mode(stat.st_mode) == FileType::Directory {
                let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
                match rustix::fs::openat(at, name, flags, Mode::empty()) {
                    Ok(fd) if levels.len() < MAX_LEVELS => {
                        levels.push(Dir::new(fd).map_err(failed)?);
                    }
                    // Too deep, or closed to us, or replaced while we look.
                    _ => usage.complete = false,
                }
            }
        }
        Ok(usage)
    }
}
