//! How much a session's shared folder holds. A run cannot make links or device nodes, so the walk
//! meets only files and folders; it stays on descriptors and follows nothing.

use std::{
    os::fd::{AsFd, OwnedFd},
    path::Path,
};

use rustix::{
    fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, openat, statat},
    io::Errno,
};

/// More entries than this count as a full disk: they cost inodes, and time to walk.
pub(crate) const MAX_ENTRIES: usize = 20_000;

/// Deeper folders than this are not descended into; their blocks are counted by nobody, and a run
/// cannot reach them with a path either (PATH_MAX).
const MAX_DEPTH: usize = 2_048;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Usage {
    pub(crate) bytes: u64,
    pub(crate) entries: usize,
}

impl Usage {
    pub(crate) fn exceeds(self, bytes: u64) -> bool {
        self.bytes > bytes || self.entries > MAX_ENTRIES
    }
}

pub(crate) struct Folder(OwnedFd);

const OPEN: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

impl Folder {
    pub(crate) fn open(path: &Path) -> Result<Folder, Errno> {
        openat(CWD, path, OPEN, Mode::empty()).map(Folder)
    }

    /// What lies below, as far as it can be seen: entries vanish while the run goes on.
    pub(crate) fn usage(&self) -> Usage {
        let mut usage = Usage::default();
        let mut folders = vec![];
        if let Ok(root) = openat(&self.0, c".", OPEN, Mode::empty()) {
            folders.push(root);
        }
        while let Some(folder) = folders.pop() {
            if usage.entries > MAX_ENTRIES {
                break;
            }
            count(folder, &mut folders, &mut usage);
        }
        usage
    }
}

fn count(folder: OwnedFd, folders: &mut Vec<OwnedFd>, usage: &mut Usage) {
    let Ok(entries) = Dir::read_from(&folder) else {
        return;
    };
    for entry in entries.flatten() {
        if matches!(entry.file_name().to_bytes(), b"." | b"..") {
            continue;
        }
        usage.entries += 1;
        if usage.entries > MAX_ENTRIES {
            return;
        }
        let name = entry.file_name();
        let Ok(stat) = statat(folder.as_fd(), name, AtFlags::SYMLINK_NOFOLLOW) else {
            continue;
        };
        usage.bytes += stat.st_blocks as u64 * 512;
        let is_folder = FileType::from_raw_mode(stat.st_mode) == FileType::Directory;
        if is_folder
            && folders.len() < MAX_DEPTH
            && let Ok(inner) = openat(&folder, name, OPEN, Mode::empty())
        {
            folders.push(inner);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_blocks_and_entries_and_follows_nothing() {
        let root = tempfile::tempdir().unwrap();
        let outside = tempfile::tempdir().unwrap();
        std::fs::write(outside.path().join("big"), vec![1; 4 << 20]).unwrap();
        std::fs::create_dir(root.path().join("inner")).unwrap();
        std::fs::write(root.path().join("inner/file"), vec![1; 1 << 20]).unwrap();
        std::os::unix::fs::symlink(outside.path(), root.path().join("link")).unwrap();
        let usage = Folder::open(root.path()).unwrap().usage();
        assert_eq!(usage.entries, 3);
        assert!((1 << 20..2 << 20).contains(&usage.bytes), "{usage:?}");
        assert!(usage.exceeds(1 << 19) && !usage.exceeds(4 << 20));
    }
}
