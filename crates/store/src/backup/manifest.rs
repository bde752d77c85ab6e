//! [`Manifest`]: what a backup holds. Beside it lies its own hash, as `sha256sum -c` reads it.

use std::{fs, io, path::Path};

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::BackupError;
use crate::{
    files::{LeftOut, TreeEntry},
    row,
};

const FILE: &str = "manifest.json";
const HASH_FILE: &str = "manifest.sha256";
/// Of the manifest and of how files lie in the folder.
pub(super) const FORMAT: u32 = 1;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    pub format: u32,
    /// The version that made it.
    pub callgate: String,
    pub made_at: Timestamp,
    /// The name of the instance it is of.
    pub instance: String,
    pub database: DatabaseCopy,
    pub entries: Vec<TreeEntry>,
    pub left_out: Vec<LeftOut>,
    /// Files that rows of the database name and that were gone already.
    pub absent: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "engine", rename_all = "snake_case")]
pub enum DatabaseCopy {
    Sqlite {
        /// The number of its newest migration.
        schema: i64,
        bytes: u64,
        sha256: String,
    },
    /// It is not in the backup.
    Postgresql,
}

/// How much of a manifest can be read to know what it is.
#[derive(Deserialize)]
struct Format {
    format: u32,
}

impl Manifest {
    pub(super) fn write(&self, folder: &Path) -> io::Result<()> {
        let text = serde_json::to_string_pretty(self)? + "\n";
        fs::write(folder.join(FILE), &text)?;
        let hash = format!("{}  {FILE}\n", row::hash(text.as_bytes()));
        fs::write(folder.join(HASH_FILE), hash)
    }

    pub(super) fn read(folder: &Path) -> Result<Manifest, BackupError> {
        let no_backup = |reason: String| BackupError::NotABackup {
            path: folder.to_owned(),
            reason,
        };
        let unread = |name: &str| {
            let name = name.to_owned();
            move |error: io::Error| no_backup(format!("{name}: {error}"))
        };
        let text = fs::read_to_string(folder.join(FILE)).map_err(unread(FILE))?;
        let hash = fs::read_to_string(folder.join(HASH_FILE)).map_err(unread(HASH_FILE))?;
        if hash.split(' ').next() != Some(&row::hash(text.as_bytes())) {
            return Err(no_backup(format!("{FILE} is not what was written")));
        }
        let invalid = |error: serde_json::Error| no_backup(format!("{FILE}: {error}"));
        let Format { format } = serde_json::from_str(&text).map_err(invalid)?;
        if format > FORMAT {
            return Err(no_backup(format!(
                "a newer version made it (its format is {format}, this one knows {FORMAT})"
            )));
        }
        serde_json::from_str(&text).map_err(invalid)
    }
}
