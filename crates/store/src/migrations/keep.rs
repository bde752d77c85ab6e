//! Before a step changes a database, it is copied: `callgate.db.before-migration-FROM-TIME` beside it. Steps go
//! forward only, so that the copy is the way back, with the version that made it. Without a copy there is no
//! step.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use jiff::Timestamp;

use super::{newest, version};
use crate::{StoreError, open::DATABASE_FILE, sqlite::Sqlite};

/// Older copies go.
const COPIES: usize = 3;

/// Nothing where the database is new, or knows every step.
pub(crate) fn keep_before(sqlite: &Sqlite, data: &Path) -> Result<(), StoreError> {
    let known = sqlite.read(|tx| {
        let table = "SELECT name FROM sqlite_master WHERE type = 'table' AND name = 'migration'";
        match tx.query_optional(table, &[])? {
            Some(_) => version(tx).map(Some),
            None => Ok(None),
        }
    })?;
    let Some(from) = known.filter(|from| *from < newest()) else {
        return Ok(());
    };
    let prefix = format!("{DATABASE_FILE}.before-migration-");
    let stamp = Timestamp::now().strftime("%Y%m%dT%H%M%S%3f");
    let name = format!("{prefix}{from}-{stamp}");
    let unfinished = data.join(format!(".{name}"));
    sqlite.copy_to(&unfinished)?;
    let placed = fs::rename(&unfinished, data.join(&name));
    let placed = placed.and_then(|()| fs::File::open(data)?.sync_all());
    placed
        .and_then(|()| forget_old(data, &prefix))
        .map_err(|source| {
            let path = data.to_owned();
            StoreError::Directory { path, source }
        })?;
    tracing::info!(copy = name, "the database was copied before it is changed");
    Ok(())
}

fn forget_old(data: &Path, prefix: &str) -> io::Result<()> {
    let mut copies: Vec<(String, PathBuf)> = Vec::new();
    for entry in fs::read_dir(data)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if let Some(rest) = name.strip_prefix(prefix) {
            let time = rest.split_once('-').map_or(rest, |(_, time)| time);
            copies.push((time.to_owned(), entry.path()));
        }
    }
    copies.sort();
    let old = copies.len().saturating_sub(COPIES);
    copies
        .iter()
        .take(old)
        .try_for_each(|(_, path)| fs::remove_file(path))
}
