//! SQLite: one connection writes, a few read, all in this process. A write runs where it is asked for:
//! whoever finds the writing connection free commits for all that wait ([`Sqlite::combine`]), so that a
//! lone write costs no switch of threads and many at once cost one commit. Where a commit waits for the
//! disk, a thread of its own does that. Checkpoints are on another thread as well: they would make the
//! write that meets one a hundred times as slow.

mod batch;
mod connection;
mod copy;
mod examine;
mod housekeeping;
mod queue;
mod shrink;

use std::{
    path::PathBuf,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU64, Ordering},
    },
};

use parking_lot::Mutex;

pub(crate) use self::copy::{damage, look};
use self::{connection::SqliteConnection, housekeeping::Housekeeper, queue::Queue};
use crate::{DatabaseError, Durability, StoreError, counts::DatabaseCounters, job::Job, tx::Tx};

/// Readers that are kept open while nobody reads.
const IDLE_READERS: usize = 4;
/// Batches that one caller commits, of others after its own; then somebody else goes on.
const BATCHES: usize = 8;
/// Commits between two looks at the size of the write-ahead log.
const COMMITS: u64 = 256;

pub(crate) struct Sqlite {
    path: PathBuf,
    durability: Durability,
    /// A mutex held for a whole transaction, on purpose across nothing that awaits.
    writer: Mutex<SqliteConnection>,
    /// Shared with the thread that commits where a commit waits for the disk.
    queue: Arc<Queue>,
    /// Held for a push or a pop.
    readers: Mutex<Vec<SqliteConnection>>,
    counts: Arc<DatabaseCounters>,
    commits: AtomicU64,
    /// What was found on pages that nobody had asked for yet.
    damage: OnceLock<DatabaseError>,
    housekeeper: Housekeeper,
}

impl Sqlite {
    pub(crate) fn open(
        path: PathBuf,
        durability: Durability,
        counts: Arc<DatabaseCounters>,
    ) -> Result<Arc<Self>, DatabaseError> {
        let writer = SqliteConnection::writer(&path, durability, Arc::clone(&counts))?;
        let sqlite = Arc::new(Sqlite {
            writer: Mutex::new(writer),
            path,
            durability,
            queue: Arc::default(),
            readers: Mutex::default(),
            counts,
            commits: AtomicU64::new(0),
            damage: OnceLock::new(),
            housekeeper: Housekeeper::default(),
        });
        examine::begin(&sqlite)?;
        housekeeping::start(&sqlite);
        if durability == Durability::Power {
            queue::start_committing(&sqlite)?;
        }
        Ok(sqlite)
    }

    /// The job is committed, or has failed, once its answer is there; on return, or soon after it where
    /// somebody else commits.
    pub(crate) fn submit(self: &Arc<Self>, job: Box<dyn Job>) {
        self.queue.push(job);
        if self.durability == Durability::Process {
            self.combine();
        }
    }

    /// Commits what is queued unless somebody is at it: then that one looks again before it leaves.
    fn combine(self: &Arc<Self>) {
        for _ in 0..BATCHES {
            {
                let Some(mut writer) = self.writer.try_lock() else {
                    return;
                };
                self.commit_queued(&mut writer);
            }
            if self.queue.is_empty() {
                return;
            }
        }
        // The caller's own work is done; a task of its own goes on with that of others.
        let sqlite = Arc::clone(self);
        match tokio::runtime::Handle::try_current() {
            Ok(runtime) => {
                runtime.spawn(async move { sqlite.combine() });
            }
            Err(_) => sqlite.combine(),
        }
    }

    fn commit_queued(&self, writer: &mut SqliteConnection) {
        let jobs = self.queue.take();
        if jobs.is_empty() {
            return;
        }
        batch::commit(writer, jobs);
        self.counts.committed();
        if self.commits.fetch_add(1, Ordering::Relaxed) % COMMITS == COMMITS - 1 {
            self.housekeeper.wake();
        }
    }

    pub(crate) fn read<T>(
        &self,
        work: impl FnOnce(&mut dyn Tx) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let idle = self.readers.lock().pop();
        let mut reader = match idle {
            Some(reader) => reader,
            None => SqliteConnection::reader(&self.path, Arc::clone(&self.counts))?,
        };
        let result = work(&mut reader);
        let mut readers = self.readers.lock();
        if readers.len() < IDLE_READERS {
            readers.push(reader);
        }
        result
    }

    /// With the writing connection, and no transaction; nobody writes meanwhile.
    pub(crate) fn alone<T>(
        self: &Arc<Self>,
        work: impl FnOnce(&rusqlite::Connection) -> Result<T, DatabaseError>,
    ) -> Result<T, DatabaseError> {
        let result = work(self.writer.lock().inner());
        if self.durability == Durability::Process {
            // Those that came meanwhile found it taken.
            self.combine();
        }
        result
    }

    /// Takes what was erased out of the write-ahead log as well.
    pub(crate) fn scrub(self: &Arc<Self>) -> Result<(), DatabaseError> {
        self.alone(|connection| {
            let truncate = "PRAGMA wal_checkpoint(TRUNCATE)";
            Ok(connection.query_row(truncate, [], |_| Ok(()))?)
        })
    }

    /// Everything is in the database file and nothing lies beside it, unless another process has it open:
    /// that one does the same at its end. Whoever still writes here can, only more slowly.
    pub(crate) fn put_away(self: &Arc<Self>) -> Result<(), DatabaseError> {
        self.readers.lock().clear();
        let put = self.alone(|connection| {
            connection.execute_batch("PRAGMA busy_timeout = 1000")?;
            Ok(connection.query_row("PRAGMA journal_mode = DELETE", [], |_| Ok(()))?)
        });
        match put {
            Err(error) if error.is_busy() => Ok(()),
            put => put,
        }
    }
}

impl Drop for Sqlite {
    fn drop(&mut self) {
        self.queue.close();
        self.housekeeper.wake();
    }
}
