//! [`Housekeeper`]: the thread that moves the write-ahead log into the database file. It sleeps until it
//! is woken, and ends when the database is no longer used.

use std::{
    ffi::OsString,
    fs,
    sync::{Arc, Weak},
    thread::Thread,
};

use parking_lot::Mutex;
use rusqlite::{Connection, OpenFlags};

use super::Sqlite;
use crate::DatabaseError;

/// From this size on the log is moved, while others go on writing.
const LARGE: u64 = 4 << 20;
/// From this size on writers wait until it is empty: readers and writers have left it no moment.
const TOO_LARGE: u64 = 64 << 20;

#[derive(Default)]
pub(super) struct Housekeeper(Mutex<Option<Thread>>);

impl Housekeeper {
    pub(super) fn wake(&self) {
        if let Some(thread) = &*self.0.lock() {
            thread.unpark();
        }
    }
}

pub(super) fn start(sqlite: &Arc<Sqlite>) {
    let used = Arc::downgrade(sqlite);
    let mut log = sqlite.path.clone().into_os_string();
    log.push("-wal");
    let thread = std::thread::Builder::new().name("checkpoint".into());
    match thread.spawn(move || keep_short(&used, &log)) {
        Ok(thread) => *sqlite.housekeeper.0.lock() = Some(thread.thread().clone()),
        Err(error) => tracing::warn!(%error, "no thread for checkpoints; the database file grows"),
    }
}

fn keep_short(used: &Weak<Sqlite>, log: &OsString) {
    loop {
        std::thread::park();
        let Some(sqlite) = used.upgrade() else {
            return;
        };
        let moved = match fs::metadata(log).map_or(0, |log| log.len()) {
            ..LARGE => Ok(()),
            LARGE..TOO_LARGE => checkpoint(&sqlite),
            TOO_LARGE.. => sqlite.scrub(),
        };
        if let Err(error) = moved {
            tracing::warn!(%error, "could not move the write-ahead log into the database");
        }
    }
}

/// On a connection that is closed again: one that stayed open would keep the log from going at the end.
fn checkpoint(sqlite: &Sqlite) -> Result<(), DatabaseError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(&sqlite.path, flags)?;
    let passive = "PRAGMA wal_checkpoint(PASSIVE)";
    Ok(connection.query_row(passive, [], |_| Ok(()))?)
}
