//! Taking a backup while everything goes on. The database is copied first: what its rows name is there by
//! then, and files that come later do no harm.

use std::{
    collections::HashSet,
    fs::{self, DirBuilder, File},
    io,
    os::unix::fs::DirBuilderExt,
    path::{Path, PathBuf},
};

use jiff::Timestamp;
use rustix::fs::{CWD, RenameFlags};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{
    BackupError, DatabaseCopy, FILES, KEPT, Manifest, blocking, manifest::FORMAT, references,
};
use crate::{
    Store,
    database::Engine,
    files::{LeftOut, TreeContent, hash_file},
    migrations,
    open::DATABASE_FILE,
    sqlite,
};

/// A backup that was made.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Backup {
    pub backup: PathBuf,
    #[schemars(with = "String")]
    pub made_at: Timestamp,
    pub database: DatabaseCopy,
    pub files: u64,
    /// With the database.
    pub bytes: u64,
    /// What could not be read.
    pub left_out: Vec<LeftOut>,
}

impl Store {
    /// Into a folder that is not there yet.
    pub async fn back_up(&self, to: &Path) -> Result<Backup, BackupError> {
        self.journal.flush().await?;
        let (store, to) = (self.clone(), to.to_owned());
        blocking(move || take(&store, &to)).await
    }
}

fn take(store: &Store, to: &Path) -> Result<Backup, BackupError> {
    if to.symlink_metadata().is_ok() {
        return Err(BackupError::Exists(to.to_owned()));
    }
    let parent = match to.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let unfinished = parent.join(format!(".callgate-backup-{}", Uuid::now_v7().simple()));
    let writing = || BackupError::io("write", to);
    DirBuilder::new()
        .mode(0o700)
        .create(&unfinished)
        .map_err(writing())?;
    let made = fill(store, &unfinished).and_then(|manifest| {
        let placed = place(&unfinished, to);
        placed.map(|()| manifest).map_err(writing())
    });
    match made {
        Ok(manifest) => Ok(told(manifest, to)),
        Err(error) => {
            // The first failure is the one to tell.
            let _ = fs::remove_dir_all(&unfinished);
            Err(error)
        }
    }
}

fn fill(store: &Store, folder: &Path) -> Result<Manifest, BackupError> {
    let made_at = Timestamp::now();
    let database = store.copy_database(&folder.join(DATABASE_FILE))?;
    let files = folder.join(FILES);
    let written = DirBuilder::new().mode(0o700).create(&files);
    let copied = written.and_then(|()| store.files.copy_into(&KEPT, &files));
    let copied = copied.map_err(BackupError::io("copy into", folder))?;
    let mut manifest = Manifest {
        format: FORMAT,
        callgate: env!("CARGO_PKG_VERSION").to_owned(),
        made_at,
        instance: store.database.instance.name().to_owned(),
        database,
        entries: copied.entries,
        left_out: copied.left_out,
        absent: Vec::new(),
    };
    if let DatabaseCopy::Sqlite { .. } = manifest.database {
        let named = sqlite::look(&folder.join(DATABASE_FILE), references::referenced)?;
        let entries = manifest.entries.iter().map(|entry| entry.path.as_str());
        let entries: HashSet<&str> = entries.collect();
        let absent = named.into_iter().filter(|path| !entries.contains(&**path));
        manifest.absent = absent.collect();
    }
    let written = manifest.write(folder);
    written.map_err(BackupError::io("write", folder))?;
    Ok(manifest)
}

impl Store {
    fn copy_database(&self, to: &Path) -> Result<DatabaseCopy, BackupError> {
        let Engine::Sqlite(sqlite) = &self.database.engine else {
            return Ok(DatabaseCopy::Postgresql);
        };
        sqlite.copy_to(to)?;
        let schema = sqlite::look(to, migrations::version)?;
        let (bytes, sha256) = hash_file(to).map_err(BackupError::io("read", to))?;
        Ok(DatabaseCopy::Sqlite {
            schema,
            bytes,
            sha256,
        })
    }
}

/// Everything is on the disk before the name is, and the name before anybody is told.
fn place(unfinished: &Path, to: &Path) -> io::Result<()> {
    rustix::fs::syncfs(File::open(unfinished)?)?;
    rustix::fs::renameat_with(CWD, unfinished, CWD, to, RenameFlags::NOREPLACE)?;
    let parent = unfinished.parent().unwrap_or(Path::new("."));
    File::open(parent)?.sync_all()
}

fn told(manifest: Manifest, to: &Path) -> Backup {
    let sizes = manifest
        .entries
        .iter()
        .filter_map(|entry| match entry.content {
            TreeContent::File { bytes, .. } => Some(bytes),
            _ => None,
        });
    let (files, bytes) = sizes.fold((0, 0), |(files, sum), bytes| (files + 1, sum + bytes));
    let of_database = match &manifest.database {
        DatabaseCopy::Sqlite { bytes, .. } => *bytes,
        DatabaseCopy::Postgresql => 0,
    };
    Backup {
        backup: to.to_owned(),
        made_at: manifest.made_at,
        database: manifest.database,
        files,
        bytes: bytes + of_database,
        left_out: manifest.left_out,
    }
}
