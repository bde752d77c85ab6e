//! Reading another system's folder: files beneath it, bounded, and never through a link.

use std::path::{Path, PathBuf};

use callgate_plugins::install::LEFT_OUT;
use callgate_store::files::{EntryKind, FileError, Folder, TreeBounds};
use serde::Serialize;
use serde_json::Value as Json;
use sha2::{Digest as _, Sha256};

use crate::ServiceError;

/// Bytes of a file of settings.
const MAX_SETTINGS: u64 = 16 << 20;
/// Of folders that are looked through.
pub(super) const MAX_ENTRIES: usize = 10_000;

/// The code of one plugin.
pub(super) const CODE: TreeBounds = TreeBounds {
    files: 20_000,
    file_bytes: 64 << 20,
    bytes: 512 << 20,
    left_out: LEFT_OUT,
};

/// The data of one plugin.
pub(super) const DATA: TreeBounds = TreeBounds {
    files: 50_000,
    file_bytes: 512 << 20,
    bytes: 4 << 30,
    left_out: &[],
};

/// The folder that things come from.
pub(super) struct Origin {
    pub(super) folder: Folder,
    /// In full, by which it is known the next time.
    pub(super) path: PathBuf,
}

impl Origin {
    /// The folder itself, or the first of `below` in it, that holds one of `signs`.
    pub(super) fn find(
        path: &Path,
        below: &[&str],
        signs: &[&str],
        no_folder_of: &str,
    ) -> Result<Origin, ServiceError> {
        let path = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let hint = "name the folder itself, such as the one that is mounted into its container";
        let mut refused = None;
        for place in std::iter::once(path.clone()).chain(below.iter().map(|it| path.join(it))) {
            let folder = match Folder::foreign(&place) {
                Ok(folder) => folder,
                Err(error) => {
                    refused.get_or_insert(error);
                    continue;
                }
            };
            if signs.iter().any(|sign| folder.metadata(sign).is_ok()) {
                return Ok(Origin {
                    folder,
                    path: place,
                });
            }
        }
        let error = match refused {
            Some(error) if !path.is_dir() => error.to_string(),
            _ => format!("{} is no data folder of {no_folder_of}", path.display()),
        };
        Err(ServiceError::invalid(error, hint))
    }

    /// `None` where it is not there.
    pub(super) fn json(&self, name: &str) -> Result<Option<Json>, String> {
        let Some(bytes) = self.bytes(name)? else {
            return Ok(None);
        };
        // Written by editors of Windows.
        let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&bytes);
        let read = serde_json::from_slice(bytes);
        read.map(Some)
            .map_err(|error| format!("{name} is no JSON: {error}"))
    }

    pub(super) fn bytes(&self, name: &str) -> Result<Option<Vec<u8>>, String> {
        match self.folder.read(name, MAX_SETTINGS) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(FileError::NotFound(_)) => Ok(None),
            Err(error) => Err(error.to_string()),
        }
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.folder.metadata(name).is_ok()
    }

    /// The names of folders in `name`, without hidden ones and links.
    pub(super) fn folders(&self, name: &str) -> Vec<String> {
        let entries = self.folder.list(name, MAX_ENTRIES).unwrap_or_default();
        let shown = |name: &str| !name.starts_with('.') && !LEFT_OUT.contains(&name);
        entries
            .into_iter()
            .filter(|entry| entry.kind == EntryKind::Folder && shown(&entry.name))
            .map(|entry| entry.name)
            .collect()
    }
}

/// Of anything, as JSON writes it.
pub(super) fn hash_of(value: &impl Serialize) -> String {
    let text = serde_json::to_vec(value).unwrap_or_default();
    let digest = Sha256::digest(text);
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}
