//! Files that a run has deleted and still holds. No folder shows them, yet they take room until its
//! process lets go; /proc shows them, by descriptor and by mapping.

use std::{
    collections::HashMap,
    fs,
    os::unix::{ffi::OsStrExt, fs::MetadataExt},
    path::PathBuf,
};

/// Where the run sees its session's folder, and so how the kernel names what lay in it.
const SHARED: &[u8] = b"/app/shared/";
const DELETED: &[u8] = b" (deleted)";

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct UnlinkedFiles {
    pub(crate) bytes: u64,
    /// A file is mapped and no longer open: its size is not to be seen.
    pub(crate) unseen: bool,
}

/// What `process` holds; nothing once it is gone.
pub(crate) fn unlinked(process: i32) -> UnlinkedFiles {
    let open = open_files(process);
    let mapped = mapped_files(process);
    UnlinkedFiles {
        bytes: open.values().sum(),
        unseen: mapped.iter().any(|inode| !open.contains_key(inode)),
    }
}

/// Bytes by inode: a file may be open more than once.
fn open_files(process: i32) -> HashMap<u64, u64> {
    let entries = fs::read_dir(format!("/proc/{process}/fd"));
    let size = |path: PathBuf| {
        let target = fs::read_link(&path).ok()?;
        if !is_deleted(target.as_os_str().as_bytes()) {
            return None;
        }
        // Through the descriptor, which reaches the file where its name does not.
        let file = fs::metadata(path).ok()?;
        (file.nlink() == 0).then(|| (file.ino(), file.blocks() * 512))
    };
    let entries = entries.into_iter().flatten().flatten();
    entries.filter_map(|entry| size(entry.path())).collect()
}

fn mapped_files(process: i32) -> Vec<u64> {
    let maps = fs::read(format!("/proc/{process}/maps")).unwrap_or_default();
    maps.split(|byte| *byte == b'\n')
        .filter_map(deleted_mapping)
        .collect()
}

/// The inode of a line `range permissions offset device inode path`, if its file was deleted.
fn deleted_mapping(line: &[u8]) -> Option<u64> {
    let path = line.iter().position(|byte| *byte == b'/')?;
    let (fields, path) = line.split_at_checked(path)?;
    let inode = std::str::from_utf8(fields)
        .ok()?
        .split_whitespace()
        .nth(4)?;
    is_deleted(path).then(|| inode.parse().ok())?
}

fn is_deleted(path: &[u8]) -> bool {
    path.starts_with(SHARED) && path.ends_with(DELETED)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mapping_is_read_by_its_line() {
        let line = |path: &str| format!("7f01-7f02 r--s 00000000 fe:00 41 {path}");
        let deleted = line("/app/shared/a b (deleted)");
        assert_eq!(deleted_mapping(deleted.as_bytes()), Some(41));
        for other in ["/app/shared/a", "/tmp/x (deleted)", "[heap]", ""] {
            assert_eq!(deleted_mapping(line(other).as_bytes()), None, "{other}");
        }
    }
}
