//! Looking for damage at the start. SQLite notices a damaged page when somebody asks for it, which may be in
//! the middle of a turn, or never; what is known at the start can be mended before anything is lost.

use std::{fs, sync::Arc};

use rusqlite::{Connection, OpenFlags};

use super::Sqlite;
use crate::DatabaseError;

/// Bytes. A larger database is looked at while others use it: reading it takes longer than anybody waits.
const AT_ONCE: u64 = 16 << 20;

impl Sqlite {
    pub(crate) fn is_sound(&self) -> Result<(), DatabaseError> {
        self.damage.get().cloned().map_or(Ok(()), Err)
    }
}

/// Fails where the database is small and damaged. Of a larger one, [`Sqlite::is_sound`] tells later.
pub(super) fn begin(sqlite: &Arc<Sqlite>) -> Result<(), DatabaseError> {
    let bytes = fs::metadata(&sqlite.path).map_or(0, |file| file.len());
    if bytes <= AT_ONCE {
        return sqlite.alone(examine);
    }
    let (path, used) = (sqlite.path.clone(), Arc::downgrade(sqlite));
    let thread = std::thread::Builder::new().name("examine".into());
    let started = thread.spawn(move || {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let opened = Connection::open_with_flags(&path, flags).map_err(DatabaseError::from);
        let found = opened.and_then(|connection| examine(&connection));
        if let (Err(error), Some(sqlite)) = (found, used.upgrade())
            && error.is_damage()
        {
            tracing::error!(%error, "restore a backup: `callgate doctor` says more");
            let _ = sqlite.damage.set(error);
        }
    });
    if let Err(error) = started {
        tracing::warn!(%error, "no thread to look for damage in the database");
    }
    Ok(())
}

fn examine(connection: &Connection) -> Result<(), DatabaseError> {
    let mut statement = connection.prepare("PRAGMA quick_check(3)")?;
    let found = statement.query_map([], |row| row.get(0))?;
    let found: Vec<String> = found.collect::<Result<_, _>>()?;
    if found == ["ok"] {
        return Ok(());
    }
    Err(DatabaseError::Sqlite {
        code: rusqlite::ffi::SQLITE_CORRUPT,
        message: format!("the database file is damaged: {}", found.join("; ")),
    })
}
