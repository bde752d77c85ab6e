//! Putting a backup back, into a directory that is empty or new: what is there is never written over. Until
//! all of it is there, a mark keeps anybody from using it. The restored directory is an instance of its own:
//! it has another name than the original, and goes on with nothing that was under way there.

use std::{
    collections::HashMap,
    fs::{self, DirBuilder, File, Permissions},
    io,
    os::unix::fs::{DirBuilderExt, PermissionsExt, lchown, symlink},
    path::{Path, PathBuf},
};

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use super::settle::NextTime;
use super::{
    BackupError, DatabaseCopy, FILES, Manifest, blocking, settle::Settled, verify::examine,
};
use crate::{
    Owner, Store, StoreOptions,
    files::{TreeContent, jail_uid},
    open::{DATABASE_FILE, Entering, RESTORING},
};

pub struct RestoreOptions {
    pub backup: PathBuf,
    /// Where to. Its database is the one of the backup, or of `url` where that has none.
    pub store: StoreOptions,
    /// A directory that is there is moved aside.
    pub replace: bool,
    pub next: NextTime,
}

/// A backup that was put back.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Restored {
    pub data: PathBuf,
    /// Of the backup.
    #[schemars(with = "String")]
    pub made_at: Timestamp,
    pub files: u64,
    /// Where the directory that was there before lies now.
    pub kept: Option<PathBuf>,
    /// What was under way in the copy and has ended.
    pub ended: Settled,
}

pub async fn restore(options: RestoreOptions) -> Result<Restored, BackupError> {
    let RestoreOptions {
        backup,
        store,
        replace,
        next,
    } = options;
    let data = store.data.clone();
    let has_url = store.url.is_some();
    let (manifest, kept, owner) = blocking(move || {
        let (verification, manifest) = examine(&backup)?;
        if let Some(problem) = verification.problems.into_iter().next() {
            return Err(BackupError::Unsound(problem));
        }
        match (&manifest.database, has_url) {
            (DatabaseCopy::Postgresql, false) => return Err(BackupError::DatabaseElsewhere),
            (DatabaseCopy::Sqlite { .. }, true) => return Err(BackupError::DatabaseInside),
            _ => {}
        }
        let kept = make_room(&data, replace)?;
        let owner = Owner::acquire(&data)?;
        let written = write(&backup, &manifest, &data);
        written.map_err(BackupError::io("restore into", data))?;
        Ok((manifest, kept, owner))
    })
    .await?;
    let data = store.data.clone();
    let ended = open_and_settle(store, &manifest, next).await?;
    finish(&data).map_err(BackupError::io("restore into", &data))?;
    drop(owner);
    let is_file = |content: &TreeContent| matches!(content, TreeContent::File { .. });
    let files = manifest
        .entries
        .iter()
        .filter(|entry| is_file(&entry.content));
    Ok(Restored {
        files: files.count() as u64,
        made_at: manifest.made_at,
        data,
        kept,
        ended,
    })
}

/// Where the directory went that was there.
fn make_room(data: &Path, replace: bool) -> Result<Option<PathBuf>, BackupError> {
    let looking = BackupError::io("look into", data);
    let is_empty = match fs::read_dir(data) {
        Ok(mut entries) => entries.next().is_none(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => true,
        Err(error) => return Err(looking(error)),
    };
    if is_empty {
        return Ok(None);
    }
    if !replace {
        return Err(BackupError::NotEmpty(data.to_owned()));
    }
    // Nobody may be at work in it.
    drop(Owner::acquire(data)?);
    let name = data.file_name().unwrap_or_default().to_string_lossy();
    let stamp = Timestamp::now().strftime("%Y%m%dT%H%M%S");
    let kept = data.with_file_name(format!("{name}.before-restore-{stamp}"));
    if kept.symlink_metadata().is_ok() {
        return Err(BackupError::Exists(kept));
    }
    fs::rename(data, &kept).map_err(BackupError::io("move aside", data))?;
    Ok(Some(kept))
}

fn write(backup: &Path, manifest: &Manifest, data: &Path) -> io::Result<()> {
    File::create_new(data.join(RESTORING))?.sync_all()?;
    File::open(data)?.sync_all()?;
    let files = backup.join(FILES);
    for entry in &manifest.entries {
        let to = data.join(&entry.path);
        match &entry.content {
            TreeContent::Folder => DirBuilder::new().mode(0o700).create(to)?,
            TreeContent::File { .. } => copy_new(&files.join(&entry.path), &to)?,
            TreeContent::Link { .. } => {}
        }
    }
    // After all files: nothing is written through a link.
    for entry in &manifest.entries {
        if let TreeContent::Link { target } = &entry.content {
            symlink(target, data.join(&entry.path))?;
        }
    }
    if let DatabaseCopy::Sqlite { .. } = manifest.database {
        copy_new(&backup.join(DATABASE_FILE), &data.join(DATABASE_FILE))?;
    }
    Ok(())
}

fn copy_new(from: &Path, to: &Path) -> io::Result<()> {
    let (mut from, mut to) = (File::open(from)?, File::create_new(to)?);
    to.set_permissions(Permissions::from_mode(0o600))?;
    io::copy(&mut from, &mut to).map(drop)
}

async fn open_and_settle(
    options: StoreOptions,
    manifest: &Manifest,
    next: NextTime,
) -> Result<Settled, BackupError> {
    let data = options.data.clone();
    let store = Store::prepare(options, Entering::Restore).await?;
    if store.is_in_use().await? {
        return Err(BackupError::InUse);
    }
    let settled = store.settle(manifest.made_at, next).await?;
    let sessions = store.sessions().list().await?;
    let owners = sessions
        .iter()
        .map(|session| (session.id.to_string(), jail_uid(session.number)));
    let owners: HashMap<String, u32> = owners.collect();
    let entries = manifest.clone();
    blocking(move || {
        let given = give(&entries, &data, &owners);
        given.map_err(BackupError::io("restore into", data))
    })
    .await?;
    store.leave().await?;
    Ok(settled)
}

/// Permissions as they were. As root, what code in the sandbox uses is its session's; all else is ours.
fn give(manifest: &Manifest, data: &Path, owners: &HashMap<String, u32>) -> io::Result<()> {
    let root = rustix::process::geteuid().is_root();
    // Folders after what lies in them: some let nobody in.
    for entry in manifest.entries.iter().rev() {
        let path = data.join(&entry.path);
        if let Some(owner) = of_session(&entry.path, owners).filter(|_| root) {
            lchown(&path, Some(owner), Some(owner))?;
        }
        if !matches!(entry.content, TreeContent::Link { .. }) {
            fs::set_permissions(&path, Permissions::from_mode(entry.mode))?;
        }
    }
    Ok(())
}

fn of_session(path: &str, owners: &HashMap<String, u32>) -> Option<u32> {
    let (session, rest) = path.strip_prefix("sessions/")?.split_once('/')?;
    let folder = rest.split('/').next()?;
    matches!(folder, "shared" | "uploads")
        .then(|| owners.get(session).copied())
        .flatten()
}

/// Everything is on the disk before the mark goes.
fn finish(data: &Path) -> io::Result<()> {
    let directory = File::open(data)?;
    rustix::fs::syncfs(&directory)?;
    fs::remove_file(data.join(RESTORING))?;
    directory.sync_all()
}
