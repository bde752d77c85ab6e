//! The connections: one that writes, a few that read. Everything else in the store asks here for
//! one of them, so that no write ever waits behind a pool or another writer's transaction.

use sqlx::AnyConnection;
use tokio::sync::{Mutex, MutexGuard};

use crate::{
    StoreError,
    arrivals::Arrivals,
    connection::{Connection, Connector, Engine, is_lost},
    instance::Instance,
    keys::Handles,
    outbox::Delivered,
    readers::Readers,
    row,
};

pub(crate) struct Database {
    pub(crate) connector: Connector,
    pub(crate) readers: Readers,
    /// A mutex, since a transaction holds the connection across awaits. `None` while it is lent
    /// out and after a failure: then the next writer connects anew.
    pub(crate) writer: Mutex<Option<Connection>>,
    pub(crate) arrivals: Arrivals,
    pub(crate) delivered: Delivered,
    pub(crate) instance: Instance,
    pub(crate) key_handles: Handles,
}

impl Database {
    pub(crate) async fn writer(&self) -> Result<Writer<'_>, StoreError> {
        let mut slot = self.writer.lock().await;
        let mut known = slot.take();
        if let Some(connection) = &mut known
            && !connection.is_alive().await
        {
            known = None;
        }
        Ok(Writer {
            untouched: known.is_some(),
            connection: match known {
                Some(connection) => connection,
                None => self.connector.writer().await?,
            },
            connector: &self.connector,
            slot,
        })
    }

    /// Takes what was erased out of the write-ahead file as well, where an engine has one of ours.
    pub(crate) async fn scrub(&self) -> Result<(), StoreError> {
        if self.connector.engine == Engine::Sqlite {
            let mut writer = self.writer().await?;
            let checkpoint = sqlx::query("PRAGMA wal_checkpoint(TRUNCATE)");
            checkpoint.execute(writer.connection()).await?;
            writer.release();
        }
        Ok(())
    }

    /// Something was written, just now. Begun like any write: a connection that was cut while nobody used
    /// it is no sign that the database cannot be used.
    pub(crate) async fn check(&self) -> Result<(), StoreError> {
        let mut writer = self.writer().await?;
        writer.begin().await?;
        sqlx::query(
            "INSERT INTO counter (name, value) VALUES ('checked', $1)
             ON CONFLICT (name) DO UPDATE SET value = excluded.value",
        )
        .bind(row::now())
        .execute(writer.connection())
        .await?;
        writer.commit().await
    }
}

impl Engine {
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
    connector: &'a Connector,
    slot: MutexGuard<'a, Option<Connection>>,
    connection: Connection,
    /// It was there before, and nothing has been asked of it yet.
    untouched: bool,
}

impl Writer<'_> {
    pub(crate) fn connection(&mut self) -> &mut Connection {
        self.untouched = false;
        &mut self.connection
    }

    pub(crate) async fn begin(&mut self) -> Result<(), StoreError> {
        let begin = self.connector.engine.begin();
        let begun = sqlx::query(begin).execute(&mut self.connection).await;
        let untouched = std::mem::take(&mut self.untouched);
        match begun {
            // The server ended it while nobody used it, and nothing is lost with it.
            Err(error) if untouched && is_lost(&error) => {
                self.connection = self.connector.writer().await?;
                sqlx::query(begin).execute(&mut self.connection).await?;
            }
            begun => {
                begun?;
            }
        }
        Ok(())
    }

    /// For what may take its time. The connection is closed afterwards.
    pub(crate) async fn without_deadline(&mut self) -> Result<&mut AnyConnection, StoreError> {
        self.untouched = false;
        Ok(self.connection.without_deadline().await?)
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
        *self.slot = Some(self.connection).filter(Connection::is_ordinary);
    }
}

/// The next id of a named sequence, inside the caller's transaction.
pub(crate) async fn next_id(
    connection: &mut Connection,
    name: &'static str,
) -> Result<i64, StoreError> {
    let next = sqlx::query_scalar(
        "INSERT INTO counter (name, value) VALUES ($1, 1)
         ON CONFLICT (name) DO UPDATE SET value = counter.value + 1 RETURNING value",
    );
    Ok(next.bind(name).fetch_one(connection).await?)
}
