//! Backups that no running service is asked for: looking at one, and making a data directory of it.

use std::path::{Path, PathBuf};

use callgate_store::{
    StoreOptions,
    backup::{self, BackupError, RestoreOptions, Restored, Verification},
};
use toml::Value;

use crate::{
    ServiceError,
    config::{Config, Edit},
};

pub async fn verify(folder: &Path) -> Result<Verification, ServiceError> {
    Ok(backup::verify(folder).await?)
}

/// `url` names the database where it is not in the backup, and is written into the restored
/// configuration: the one that stands there is the original's.
pub async fn restore(
    folder: PathBuf,
    data: PathBuf,
    replace: bool,
    url: Option<String>,
) -> Result<Restored, ServiceError> {
    let restored = backup::restore(RestoreOptions {
        backup: folder,
        store: StoreOptions {
            url: url.clone(),
            ..StoreOptions::new(&data)
        },
        replace,
        next: callgate_plugins::next_time,
    })
    .await?;
    if let Some(url) = url {
        let mut edit = Edit::open(&Config::file(&data, None))?;
        edit.set("database", "url", Some(&Value::String(url)))?;
        edit.save()?;
    }
    Ok(restored)
}

impl From<BackupError> for ServiceError {
    fn from(error: BackupError) -> Self {
        let text = error.to_string();
        let hint = match error {
            BackupError::Store(error) => return error.into(),
            BackupError::Owner(_) => "end the other process first",
            BackupError::Exists(_) => "name one that is not there yet",
            BackupError::NotEmpty(_) => {
                "choose a directory that is empty or new with --data DIR; --replace moves this one \
                 aside first"
            }
            BackupError::Io { .. } => "check the space and the permissions there",
            BackupError::NotABackup { .. } => "name a folder that `callgate backup` made",
            BackupError::Unsound(problem) => return ServiceError::refused(text, problem.hint),
            BackupError::DatabaseElsewhere => {
                "restore its dump into a new database with pg_restore, then give that one's address \
                 with --database URL"
            }
            BackupError::DatabaseInside => "leave out --database",
            BackupError::InUse => {
                "--database names the copy that pg_restore made, never the original; of a fresh copy \
                 try again in a minute"
            }
        };
        ServiceError::refused(text, hint)
    }
}
