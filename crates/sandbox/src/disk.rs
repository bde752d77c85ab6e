//! How much a session's shared folder holds. A run cannot make links or device nodes, so the walk
//! meets only files and folders; it stays on descriptors and follows nothing.

use std::{ffi::CStr, os::fd::OwnedFd, path::Path};

use rustix::{
    fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, openat, statat},
    io::Errno,
};

use crate::unlinked::UnlinkedFiles;

/// More entries than this count as a full disk: they cost inodes, and time to walk.
const MAX_ENTRIES: usize = 20_000;

/// Where the walk gives up. A session that holds so much can only be tidied from outside.
const UNCOUNTABLE: usize = 2 * MAX_ENTRIES;

/// Deeper folders than this are not looked into: the walk holds a descriptor for each level.
const MAX_DEPTH: usize = 32;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct DiskUsage {
    bytes: u64,
    entries: usize,
    /// There is more than was counted: folders too deep or closed to us, or files without a name.
    /// Counts as a full disk, or there would be a place to hide.
    unseen: bool,
}

impl DiskUsage {
    /// What a session may hold.
    pub(crate) fn limit(bytes: u64) -> DiskUsage {
        DiskUsage {
            bytes,
            entries: MAX_ENTRIES,
            unseen: false,
        }
    }

    pub(crate) fn exceeds(self, limit: DiskUsage) -> bool {
        self.bytes > limit.bytes
            || self.entries > limit.entries
            || self.entries >= UNCOUNTABLE
            || self.unseen && !limit.unseen
    }

    /// The larger of both, each in its own respect.
    pub(crate) fn or(self, other: DiskUsage) -> DiskUsage {
        DiskUsage {
            bytes: self.bytes.max(other.bytes),
            entries: self.entries.max(other.entries),
            unseen: self.unseen || other.unseen,
        }
    }

    /// With what the run holds outside all folders.
    pub(crate) fn and(mut self, unlinked: UnlinkedFiles) -> DiskUsage {
        self.bytes += unlinked.bytes;
        self.unseen |= unlinked.unseen;
        self
    }

    /// Bytes left until `limit`; none where it is exceeded in whatever respect.
    pub(crate) fn left(self, limit: DiskUsage) -> Option<u64> {
        (!self.exceeds(limit)).then(|| limit.bytes - self.bytes)
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
    pub(crate) fn usage(&self) -> DiskUsage {
        let mut usage = DiskUsage::default();
        let root = openat(&self.0, c".", OPEN, Mode::empty());
        // Depth first: siblings wait as entries not yet read, not as open descriptors.
        let mut path: Vec<Dir> = root.and_then(Dir::new).into_iter().collect();
        while let Some(folder) = path.last_mut() {
            match folder.read() {
                Some(Ok(entry)) => {
                    let inner = count(folder, entry.file_name(), &mut usage);
                    usage.unseen |= inner.is_some() && path.len() == MAX_DEPTH;
                    path.extend(inner.filter(|_| path.len() < MAX_DEPTH));
                }
                Some(Err(_)) | None => drop(path.pop()),
            }
            if usage.entries >= UNCOUNTABLE {
                break;
            }
        }
        usage
    }
}

/// Adds one entry; the folder it is, if it is one.
fn count(folder: &Dir, name: &CStr, usage: &mut DiskUsage) -> Option<Dir> {
    if matches!(name.to_bytes(), b"." | b"..") {
        return None;
    }
    usage.entries += 1;
    let parent = folder.fd().ok()?;
    let stat = statat(parent, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
    usage.bytes += stat.st_blocks as u64 * 512;
    if FileType::from_raw_mode(stat.st_mode) != FileType::Directory {
        return None;
    }
    let inner = openat(parent, name, OPEN, Mode::empty());
    usage.unseen |= matches!(inner, Err(Errno::ACCESS));
    inner.and_then(Dir::new).ok()
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
        assert!(usage.exceeds(DiskUsage::limit(1 << 19)));
        assert!(!usage.exceeds(DiskUsage::limit(4 << 20)));
        assert!(!usage.exceeds(DiskUsage::limit(1 << 19).or(usage)));
    }

    #[test]
    fn siblings_need_no_descriptors_and_depth_is_bounded() {
        let root = tempfile::tempdir().unwrap();
        for number in 0..1_100 {
            std::fs::create_dir(root.path().join(number.to_string())).unwrap();
        }
        std::fs::write(root.path().join("1099/file"), vec![1; 1 << 20]).unwrap();
        let folder = Folder::open(root.path()).unwrap();
        let usage = folder.usage();
        assert_eq!((usage.entries, usage.unseen), (1_101, false));
        assert!(usage.bytes >= 1 << 20);

        std::fs::create_dir_all(root.path().join("x/".repeat(40))).unwrap();
        assert!(folder.usage().exceeds(DiskUsage::limit(1 << 30)));
    }
}
