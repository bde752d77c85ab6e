//! The database as a file: a copy of it taken while others write, and a look at one that nobody uses.

use std::{fs::File, path::Path, sync::Arc};

use rusqlite::{Connection, OpenFlags};

use super::{Sqlite, connection::SqliteConnection};
use crate::{DatabaseError, StoreError, tx::Tx};

impl Sqlite {
    /// As it is at one moment, without what was erased, on the disk when this returns. It reads every
    /// row, so that a damaged database is not copied in silence.
    pub(crate) fn copy_to(&self, path: &Path) -> Result<(), StoreError> {
        copy(&self.path, path)
    }
}

pub(crate) fn copy(from: &Path, to: &Path) -> Result<(), StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(from, flags).map_err(DatabaseError::from)?;
    let name = to
        .to_str()
        .ok_or_else(|| unusable(to, "its name is not UTF-8"))?;
    let copied = connection
        .execute_batch("PRAGMA busy_timeout = 10000")
        .and_then(|()| connection.execute("VACUUM INTO ?1", [name]));
    copied.map_err(DatabaseError::from)?;
    let file = File::open(to).and_then(|file| file.sync_all());
    file.map_err(|error| unusable(to, error))
}

fn unusable(path: &Path, reason: impl ToString) -> StoreError {
    StoreError::Directory {
        path: path.to_owned(),
        source: std::io::Error::other(reason.to_string()),
    }
}

/// Looks at a database that nobody writes to, and leaves nothing beside it.
pub(crate) fn look<T>(
    path: &Path,
    work: impl FnOnce(&mut dyn Tx) -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags).map_err(DatabaseError::from)?;
    work(&mut SqliteConnection::new(connection, Arc::default()))
}

/// What is wrong with its pages, tables and indexes; empty where nothing is.
pub(crate) fn damage(tx: &mut dyn Tx) -> Result<Vec<String>, StoreError> {
    let mut found: Vec<String> = tx.scalars("PRAGMA integrity_check(20)", &[])?;
    found.retain(|line| line != "ok");
    Ok(found)
}
