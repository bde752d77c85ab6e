//! Folders of other programs, read like everything here: beneath a descriptor and never through a link. What
//! is taken is bounded, and hashed in an order that does not depend on the disk.

use std::{fs::File, path::Path, sync::Arc};

use sha2::{Digest as _, Sha256};

use super::{EntryKind, FileError, Files, Folder, MAX_DEPTH};
use crate::{Durability, row};

/// How much of a folder is taken.
#[derive(Clone, Copy, Debug)]
pub struct TreeBounds {
    pub files: usize,
    /// Of one file, and of all together.
    pub file_bytes: u64,
    pub bytes: u64,
    /// Names that are left out wherever they are.
    pub left_out: &'static [&'static str],
}

/// A file, or a folder with all that lies in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Digest {
    pub hash: String,
    pub bytes: u64,
    /// Relative to the folder; of a file, the empty name alone.
    pub files: Vec<String>,
}

impl Digest {
    /// Of a file with this content.
    pub fn of_file(bytes: &[u8]) -> Digest {
        Digest::of_named("", bytes)
    }

    /// Of a folder that holds such a file alone.
    pub fn of_named(name: &str, bytes: &[u8]) -> Digest {
        let mut hash = Sha256::new();
        add(&mut hash, name, bytes);
        Digest {
            hash: row::hex(&hash.finalize()),
            bytes: bytes.len() as u64,
            files: vec![name.to_owned()],
        }
    }
}

fn add(hash: &mut Sha256, file: &str, bytes: &[u8]) {
    hash.update((file.len() as u64).to_le_bytes());
    hash.update(file);
    hash.update(Sha256::digest(bytes));
}

impl Folder {
    /// A folder that the operator names. Links on the way to it are theirs, those in it are not followed.
    pub fn foreign(path: &Path) -> Result<Folder, FileError> {
        let failed = |error: std::io::Error| FileError::of(&path.display().to_string(), error);
        let directory = File::open(path).map_err(failed)?;
        if !directory.metadata().map_err(failed)?.is_dir() {
            return Err(FileError::NotFolder(path.display().to_string()));
        }
        Ok(Folder {
            fd: Arc::new(directory.into()),
            owner: None,
            durability: Durability::Process,
        })
    }

    /// `None` where there is neither file nor folder.
    pub fn digest(&self, name: &str, bounds: &TreeBounds) -> Result<Option<Digest>, FileError> {
        let mut digest = Digest::default();
        match self.metadata(name) {
            Ok(entry) if entry.kind == EntryKind::Folder => {
                self.collect(name, "", bounds, 0, &mut digest)?;
            }
            Ok(entry) if entry.kind == EntryKind::File => digest.files.push(String::new()),
            Ok(_) => return Err(FileError::NotRegular(name.to_owned())),
            Err(FileError::NotFound(_)) => return Ok(None),
            Err(error) => return Err(error),
        }
        let mut hash = Sha256::new();
        for file in &digest.files {
            let bytes = self.read(&under(name, file), bounds.file_bytes)?;
            digest.bytes += bytes.len() as u64;
            if digest.bytes > bounds.bytes {
                return Err(too_large(name, bounds));
            }
            add(&mut hash, file, &bytes);
        }
        digest.hash = row::hex(&hash.finalize());
        Ok(Some(digest))
    }

    fn collect(
        &self,
        name: &str,
        above: &str,
        bounds: &TreeBounds,
        level: usize,
        digest: &mut Digest,
    ) -> Result<(), FileError> {
        let most = bounds.files.saturating_add(1);
        for entry in self.list(&under(name, above), most)? {
            if bounds.left_out.contains(&entry.name.as_str()) {
                continue;
            }
            let path = under(above, &entry.name);
            match entry.kind {
                EntryKind::File => digest.files.push(path),
                EntryKind::Folder if level < MAX_DEPTH => {
                    self.collect(name, &path, bounds, level + 1, digest)?;
                }
                EntryKind::Folder | EntryKind::Other => {}
            }
            if digest.files.len() > bounds.files {
                return Err(too_large(name, bounds));
            }
        }
        Ok(())
    }

    /// Copies the file or folder `name` to `to`, which is not there. The copy is what `digest` lists.
    pub fn copy_to(
        &self,
        name: &str,
        digest: &Digest,
        bounds: &TreeBounds,
        into: &Folder,
        to: &str,
    ) -> Result<(), FileError> {
        for file in &digest.files {
            let bytes = self.read(&under(name, file), bounds.file_bytes)?;
            let path = under(to, file);
            if let Some((folder, _)) = path.rsplit_once('/') {
                into.create_dirs(folder)?;
            }
            into.write_atomic(&path, &bytes)?;
        }
        if digest.files.is_empty() {
            into.create_dirs(to)?;
        }
        Ok(())
    }

    /// Removes a file or a folder with all that lies in it. What is not there is gone already.
    pub fn remove_tree(&self, name: &str) -> Result<(), FileError> {
        match self.remove(name) {
            Ok(()) | Err(FileError::NotFound(_)) => return Ok(()),
            Err(error) if self.directory(name).is_err() => return Err(error),
            Err(_) => {}
        }
        for entry in self.list(name, usize::MAX)? {
            self.remove_tree(&under(name, &entry.name))?;
        }
        self.remove(name)
    }
}

impl Files {
    /// All of the data directory, for what puts things in their places there.
    pub fn data(&self) -> Result<Folder, FileError> {
        let directory = self.0.directory.try_clone();
        let directory = directory.map_err(|error| FileError::of("", error))?;
        Ok(Folder {
            fd: Arc::new(directory.into()),
            owner: None,
            durability: Durability::Power,
        })
    }
}

fn under(folder: &str, name: &str) -> String {
    match (folder, name) {
        ("", name) => name.to_owned(),
        (folder, "") => folder.to_owned(),
        (folder, name) => format!("{folder}/{name}"),
    }
}

fn too_large(name: &str, bounds: &TreeBounds) -> FileError {
    FileError::TooLarge {
        name: name.to_owned(),
        limit: bounds.bytes,
    }
}
