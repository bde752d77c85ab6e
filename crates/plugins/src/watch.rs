//! Noticing that a plugin's files have changed, by looking at them: it works on every file system, and
//! a look at a few folders a second costs nothing.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    time::SystemTime,
};

/// Deepest folder that is looked into.
const DEPTH: usize = 4;

/// The Python and configuration files below a path, as they were at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileSnapshot(BTreeMap<PathBuf, (Option<SystemTime>, u64)>);

impl FileSnapshot {
    pub fn at(path: &Path) -> FileSnapshot {
        let mut files = BTreeMap::new();
        gather(path, DEPTH, &mut files);
        FileSnapshot(files)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

fn gather(path: &Path, depth: usize, files: &mut BTreeMap<PathBuf, (Option<SystemTime>, u64)>) {
    let Ok(metadata) = fs::symlink_metadata(path) else {
        return;
    };
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    if metadata.is_dir() {
        let inner = depth < DEPTH;
        if depth == 0 || name == "__pycache__" || (inner && name.starts_with('.')) {
            return;
        }
        for entry in fs::read_dir(path).into_iter().flatten().flatten() {
            gather(&entry.path(), depth - 1, files);
        }
    } else if name.ends_with(".py") || name.ends_with(".json") || name.ends_with(".yaml") {
        files.insert(path.to_owned(), (metadata.modified().ok(), metadata.len()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_of_python_files_are_seen() {
        let folder = tempfile::tempdir().unwrap();
        assert!(FileSnapshot::at(&folder.path().join("absent")).is_empty());
        let before = FileSnapshot::at(folder.path());
        fs::write(folder.path().join("a.py"), "x").unwrap();
        let after = FileSnapshot::at(folder.path());
        assert_ne!(before, after);
        fs::write(folder.path().join("a.txt"), "x").unwrap();
        assert_eq!(after, FileSnapshot::at(folder.path()));
        fs::write(folder.path().join("a.py"), "xy").unwrap();
        assert_ne!(after, FileSnapshot::at(folder.path()));
    }
}
