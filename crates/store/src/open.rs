//! Opening the store: the data directory, the connections, the migrations.

use std::{
    fs::File,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use tokio_postgres::Config;

use crate::{
    Files, Journal, Store, StoreError,
    database::{Address, Database, Engine},
    instance::{self, Instance},
    leftovers::FoundOpen,
    migrations::{self, Dialect, migrate},
};

pub(crate) const DATABASE_FILE: &str = "callgate.db";
/// Says that the database was made, so that one that is gone is missed.
const MADE: &str = "database";
/// Lies in a data directory that a backup is being put into.
pub(crate) const RESTORING: &str = "restoring";
/// Until others take over what an instance that is gone was doing. Longer than a server restarts and
/// a machine stutters; what is taken over from one that lives still is lost to it, never done twice.
const TERM: Duration = Duration::from_secs(15);

/// What a write that has returned survives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// The death of our process.
    #[default]
    Process,
    /// A power cut, at the price of waiting for the disk.
    Power,
}

#[derive(Clone, Debug)]
pub struct StoreOptions {
    /// `postgres://...`; `None` is SQLite in the data directory.
    pub url: Option<String>,
    pub data: PathBuf,
    pub durability: Durability,
    /// For instances that share a database: how long one counts as alive that no longer says so.
    pub term: Duration,
}

impl StoreOptions {
    pub fn new(data: impl Into<PathBuf>) -> Self {
        StoreOptions {
            url: None,
            data: data.into(),
            durability: Durability::default(),
            term: TERM,
        }
    }
}

/// What somebody wants who opens a store.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Entering {
    /// To work on it, as the owner of its directory.
    Own,
    Look,
    /// To make a directory of a backup.
    Restore,
}

impl Store {
    /// Creates what is missing: directory, database, tables. For the owner of the data directory: what
    /// another process had of a shared database that was opened here before is this one's now.
    pub async fn open(options: StoreOptions) -> Result<Store, StoreError> {
        Store::prepare(options, Entering::Own).await
    }

    /// The same for a look, also while the directory's owner runs.
    pub async fn inspect(options: StoreOptions) -> Result<Store, StoreError> {
        Store::prepare(options, Entering::Look).await
    }

    pub(crate) async fn prepare(
        options: StoreOptions,
        entering: Entering,
    ) -> Result<Store, StoreError> {
        if entering != Entering::Restore && options.data.join(RESTORING).exists() {
            return Err(StoreError::HalfRestored(options.data));
        }
        let lives = entering == Entering::Own;
        let files = Files::open(&options.data, options.durability)?;
        let address = address(&options)?;
        let alone = lock(&options.data).await?;
        if let Address::File(path) = &address {
            miss(path, &options.data)?;
        }
        let counts = Arc::default();
        let mut database = Database {
            engine: Engine::open(address, options.durability, options.term, &counts)?,
            counts,
            buffer: Arc::default(),
            arrivals: Default::default(),
            queued: Default::default(),
            held: Default::default(),
            settings: Default::default(),
            shared: Default::default(),
            instance: Instance::at(&options.data, options.term)?,
            found_open: Default::default(),
            key_handles: Default::default(),
            key_uses: Default::default(),
        };
        let dialect = Dialect::of(&database.engine);
        if let Engine::Sqlite(sqlite) = &database.engine {
            migrations::keep_before(sqlite, &options.data)?;
        }
        database.write(move |tx| migrate(tx, dialect)).await?;
        if let Engine::Sqlite(_) = &database.engine {
            mark(&options.data)?;
        }
        if lives {
            instance::begin(&mut database, &options.data).await?;
            database.found_open = database.read(FoundOpen::look).await?;
        }
        drop(alone);
        files.sweep_soon();
        let database = Arc::new(database);
        if lives {
            instance::live(&database);
        }
        Ok(Store {
            journal: Journal::new(Arc::clone(&database)),
            database,
            files,
        })
    }
}

/// Fails where there was a database and is none.
fn miss(path: &Path, data: &Path) -> Result<(), StoreError> {
    let is_there = path.metadata().is_ok_and(|file| file.len() > 0);
    let log = path.with_file_name(format!("{DATABASE_FILE}-wal"));
    let was_there = data.join(MADE).exists() || log.metadata().is_ok_and(|log| log.len() > 0);
    if was_there && !is_there {
        return Err(StoreError::Vanished(path.to_owned()));
    }
    Ok(())
}

fn mark(data: &Path) -> Result<(), StoreError> {
    let file = data.join(MADE);
    if file.exists() {
        return Ok(());
    }
    let written = std::fs::write(&file, format!("{DATABASE_FILE}\n"));
    written.map_err(|source| StoreError::Directory { path: file, source })
}

fn address(options: &StoreOptions) -> Result<Address, StoreError> {
    let Some(url) = &options.url else {
        return Ok(Address::File(options.data.join(DATABASE_FILE)));
    };
    match url.split_once(':') {
        Some(("postgres" | "postgresql", _)) => {
            let config: Config = url
                .parse()
                .map_err(|error: tokio_postgres::Error| StoreError::Address(error.to_string()))?;
            Ok(Address::Server(Box::new(config)))
        }
        scheme => Err(StoreError::Engine {
            scheme: scheme.map_or("", |(scheme, _)| scheme).to_owned(),
        }),
    }
}

/// Two processes that open a new SQLite database at once would both make its tables. The lock is
/// on the directory itself, and ends with the returned file.
async fn lock(data: &Path) -> Result<File, StoreError> {
    let failed = |source| StoreError::Directory {
        path: data.to_owned(),
        source,
    };
    let directory = File::open(data).map_err(failed)?;
    // A thread of its own, as it may wait for the other process.
    let locking = tokio::task::spawn_blocking(move || directory.lock().map(|()| directory));
    let locked = locking.await.map_err(|error| failed(error.into()))?;
    locked.map_err(failed)
}
