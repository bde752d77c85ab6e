//! The connections: one that writes, a few that read. Everything else in the store asks here for
//! one of them, so that no write ever waits behind a pool or another writer's transaction.

use sqlx::{AnyConnection, AnyPool, ConnectOptions, any::AnyConnectOptions};
use tokio::sync::{Mutex, MutexGuard};

use crate::{Durability, StoreError, arrivals::Arrivals, instance::Instance, keys::Handles};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Engine {
    Sqlite,
    Postgres,
}

pub(crate) struct Database {
    pub(crate) engine: Engine,
    pub(crate) durability: Durability,
    pub(crate) options: AnyConnectOptions,
    pub(crate) readers: AnyPool,
    /// A mutex, since a transaction holds the connection across awaits. `None` while it is lent
    /// out and after a failure: then the next writer connects anew.
    pub(crate) writer: Mutex<Option<AnyConnection>>,
    pub(crate) arrivals: Arrivals,
    pub(crate) instance: Instance,
    pub(crate) key_handles: Handles,
}

impl Database {
    pub(crate) async fn writer(&self) -> Result<Writer<'_>, StoreError> {
        let mut slot = self.writer.lock().await;
        let connection = match slot.take() {
            Some(connection) => connection,
            None => self.connect().await?,
        };
        Ok(Writer {
            engine: self.engine,
            slot,
            connection,
        })
    }

    /// Takes what was erased out of the write-ahead file as well, where an engine has one of ours.
    pub(crate) async fn scrub(&self) -> Result<(), StoreError> {
        if self.engine == Engine::Sqlite {
            let mut writer = self.writer().await?;
            let checkpoint = sqlx::query("PRAGMA wal_checkpoint(TRUNCATE)");
            checkpoint.execute(writer.connection()).await?;
            writer.release();
        }
        Ok(())
    }

    /// A connection prepared for writing.
    pub(crate) async fn connect(&self) -> Result<AnyConnection, StoreError> {
        let mut connection = self.options.connect().await?;
        for statement in self.engine.writer_settings(self.durability) {
            sqlx::query(*statement).execute(&mut connection).await?;
        }
        Ok(connection)
    }
}

impl Engine {
    fn writer_settings(self, durability: Durability) -> &'static [&'static str] {
        match (self, durability) {
            (Engine::Sqlite, Durability::Process) => &[
                "PRAGMA busy_timeout = 10000",
                "PRAGMA journal_mode = WAL",
                "PRAGMA synchronous = NORMAL",
                "PRAGMA secure_delete = ON",
            ],
            (Engine::Sqlite, Durability::Power) => &[
                "PRAGMA busy_timeout = 10000",
                "PRAGMA journal_mode = WAL",
                "PRAGMA synchronous = FULL",
                "PRAGMA secure_delete = ON",
            ],
            // How a server meets a power cut is its operator's setting unless we must be sure.
            (Engine::Postgres, Durability::Process) => &[],
            (Engine::Postgres, Durability::Power) => &["SET synchronous_commit = on"],
        }
    }

    /// On SQLite a transaction takes the write lock at once: upgrading later can fail.
    fn begin(self) -> &'static str {
        match self {
            Engine::Sqlite => "BEGIN IMMEDIATE",
            Engine::Postgres => "BEGIN",
        }
    }
}

/// The writing connection, lent. Dropped without [`Writer::release`] or [`Writer::commit`] (an
/// error, a cancelled future) it closes, which rolls back whatever was open.
pub(crate) struct Writer<'a> {
    engine: Engine,
    slot: MutexGuard<'a, Option<AnyConnection>>,
    connection: AnyConnection,
}

impl Writer<'_> {
    pub(crate) fn connection(&mut self) -> &mut AnyConnection {
        &mut self.connection
    }

    pub(crate) async fn begin(&mut self) -> Result<(), StoreError> {
        let begin = sqlx::query(self.engine.begin());
        begin.execute(&mut self.connection).await?;
        Ok(())
    }

    /// Ends the transaction and gives the connection back.
    pub(crate) async fn commit(mut self) -> Result<(), StoreError> {
        self.commit_and_keep().await?;
        self.release();
        Ok(())
    }

    /// Ends the transaction; nobody else writes until the connection is given back.
    pub(crate) async fn commit_and_keep(&mut self) -> Result<(), StoreError> {
        sqlx::query("COMMIT").execute(&mut self.connection).await?;
        Ok(())
    }

    pub(crate) async fn rollback(mut self) -> Result<(), StoreError> {
        let rollback = sqlx::query("ROLLBACK");
        rollback.execute(&mut self.connection).await?;
        self.release();
        Ok(())
    }

    /// Gives the connection back; no transaction may be open.
    pub(crate) fn release(mut self) {
        *self.slot = Some(self.connection);
    }
}

/// The next id of a named sequence, inside the caller's transaction.
pub(crate) async fn next_id(
    connection: &mut AnyConnection,
    name: &'static str,
) -> Result<i64, StoreError> {
    let next = sqlx::query_scalar(
        "INSERT INTO counter (name, value) VALUES ($1, 1)
         ON CONFLICT (name) DO UPDATE SET value = counter.value + 1 RETURNING value",
    );
    Ok(next.bind(name).fetch_one(connection).await?)
}
