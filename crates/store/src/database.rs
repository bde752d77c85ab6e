//! [`Database`]: one transaction, one closure, on either engine. Everything else in the store writes by
//! [`Database::write`] and reads by [`Database::read`].

use std::{path::PathBuf, sync::Arc, time::Duration};

use callgate_contract::{Change, SessionKey};
use tokio_postgres::Config;

use crate::{
    DatabaseError, Durability, StoreError,
    arrivals::Arrivals,
    counts::DatabaseCounters,
    database_error::no_descriptors_left,
    instance::Instance,
    job::job,
    journal::Buffer,
    keys::{Handles, Uses},
    leftovers::FoundOpen,
    outbox::HeldSessions,
    postgres::Postgres,
    row,
    settings::SettingsCache,
    shared::KnownPlaces,
    sqlite::Sqlite,
    tx::{Tx, parameters},
};

pub(crate) struct Database {
    pub(crate) engine: Engine,
    pub(crate) counts: Arc<DatabaseCounters>,
    /// What is not yet written; shared with the writes that take it along.
    pub(crate) buffer: Arc<Buffer>,
    pub(crate) arrivals: Arrivals,
    /// Of messages put on their way, by session.
    pub(crate) queued: Arrivals,
    pub(crate) held: HeldSessions,
    pub(crate) settings: SettingsCache,
    pub(crate) shared: KnownPlaces,
    pub(crate) instance: Instance,
    pub(crate) found_open: FoundOpen,
    pub(crate) key_handles: Handles,
    pub(crate) key_uses: Uses,
}

pub(crate) enum Engine {
    Sqlite(Arc<Sqlite>),
    Postgres(Postgres),
}

/// Where the database is.
pub(crate) enum Address {
    File(PathBuf),
    Server(Box<Config>),
}

impl Engine {
    pub(crate) fn open(
        address: Address,
        durability: Durability,
        term: Duration,
        counts: &Arc<DatabaseCounters>,
    ) -> Result<Self, DatabaseError> {
        let counts = Arc::clone(counts);
        Ok(match address {
            Address::File(path) => Engine::Sqlite(Sqlite::open(path, durability, counts)?),
            Address::Server(config) => {
                Engine::Postgres(Postgres::open(*config, durability, term, counts)?)
            }
        })
    }
}

impl Database {
    /// Runs `work` in a transaction and commits it unless it fails; then nothing of it is written.
    /// Buffered calls are written first. On return it is as durable as the store promises. Whoever stops
    /// waiting may have written all the same.
    pub(crate) async fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut dyn Tx) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (job, answer) = job(Some(Arc::clone(&self.buffer)), work);
        match &self.engine {
            Engine::Sqlite(sqlite) => sqlite.submit(job),
            Engine::Postgres(postgres) => postgres.submit(job),
        }
        answer.get().await
    }

    pub(crate) async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut dyn Tx) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        match &self.engine {
            Engine::Sqlite(sqlite) => sqlite.read(work),
            Engine::Postgres(postgres) => {
                let (job, answer) = job(None, work);
                postgres.submit_read(job);
                answer.get().await
            }
        }
    }

    /// After they are applied.
    pub(crate) fn tell_queued(&self, changes: &[Change]) {
        for change in changes {
            if let Change::Send { message } = change {
                self.tell_queued_in(&message.session);
            }
        }
    }

    pub(crate) fn tell_queued_in(&self, session: &SessionKey) {
        self.queued.tell(session);
    }

    /// Writes what is buffered, unless another write took it along.
    pub(crate) async fn flush_scheduled(&self) -> Result<(), StoreError> {
        self.buffer.begin_scheduled_flush();
        if self.buffer.is_written() {
            return Ok(());
        }
        self.write(|_| Ok(())).await
    }

    /// Takes what was erased out of the write-ahead log as well, where an engine has one of ours.
    pub(crate) async fn scrub(&self) -> Result<(), StoreError> {
        if let Engine::Sqlite(sqlite) = &self.engine {
            sqlite.scrub()?;
        }
        Ok(())
    }

    /// See [`Sqlite::shrink`]. Of PostgreSQL's files its own vacuum takes care.
    pub(crate) async fn give_back(&self) -> Result<(), StoreError> {
        if let Engine::Sqlite(sqlite) = &self.engine {
            let sqlite = Arc::clone(sqlite);
            let shrinking = tokio::task::spawn_blocking(move || sqlite.shrink());
            shrinking.await.unwrap_or(Err(DatabaseError::Panicked))?;
        }
        Ok(())
    }

    /// Something was written, just now, and nothing is known that will soon fail.
    pub(crate) async fn check(&self) -> Result<(), StoreError> {
        if no_descriptors_left() {
            return Err(DatabaseError::NoDescriptors.into());
        }
        if let Engine::Sqlite(sqlite) = &self.engine {
            sqlite.is_sound()?;
        }
        self.write(|tx| {
            tx.execute(
                "INSERT INTO checked (id, at) VALUES (1, ?1)
                 ON CONFLICT (id) DO UPDATE SET at = excluded.at",
                parameters![row::now()],
            )?;
            Ok(())
        })
        .await
    }
}
