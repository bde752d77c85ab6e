//! Opening the store: the data directory, the connections, the migrations.

use std::{
    fs::File,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use sqlx::{
    SqlSafeStr,
    any::AnyConnectOptions,
    migrate::{Migration, MigrationType, Migrator},
};
use tokio::sync::Mutex;

use crate::{
    Files, Journal, Store, StoreError,
    connection::{Connector, Engine},
    database::Database,
    instance::{self, Instance},
    readers::Readers,
};

const DATABASE_FILE: &str = "callgate.db";
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

impl Store {
    /// Creates what is missing: directory, database, tables. For the owner of the data directory: what
    /// another process had of a shared database that was opened here before is this one's now.
    pub async fn open(options: StoreOptions) -> Result<Store, StoreError> {
        Store::prepare(options, true).await
    }

    /// The same for a look, also while the directory's owner runs.
    pub async fn inspect(options: StoreOptions) -> Result<Store, StoreError> {
        Store::prepare(options, false).await
    }

    async fn prepare(options: StoreOptions, lives: bool) -> Result<Store, StoreError> {
        let files = Files::open(&options.data, options.durability)?;
        sqlx::any::install_default_drivers();
        let (engine, address) = address(&options)?;
        let alone = lock(&options.data).await?;
        let connector = Connector {
            engine,
            durability: options.durability,
            options: address,
        };
        let mut database = Database {
            readers: Readers::new(connector.clone()),
            connector,
            writer: Mutex::new(None),
            arrivals: Default::default(),
            delivered: Default::default(),
            instance: Instance::at(&options.data, options.term)?,
            key_handles: Default::default(),
        };
        migrate(&database).await?;
        if lives {
            instance::begin(&mut database, &options.data).await?;
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

fn address(options: &StoreOptions) -> Result<(Engine, AnyConnectOptions), StoreError> {
    match &options.url {
        None => {
            let file = options.data.join(DATABASE_FILE);
            let url = format!("sqlite://{}?mode=rwc", percent_encoded(&file));
            Ok((Engine::Sqlite, url.parse()?))
        }
        Some(url) => match url.split_once(':') {
            Some(("postgres" | "postgresql", _)) => Ok((Engine::Postgres, url.parse()?)),
            scheme => Err(StoreError::Engine {
                scheme: scheme.map_or("", |(scheme, _)| scheme).to_owned(),
            }),
        },
    }
}

fn percent_encoded(path: &Path) -> String {
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"/._-".contains(byte);
    path.as_os_str()
        .as_encoded_bytes()
        .iter()
        .map(|byte| {
            if plain(byte) {
                char::from(*byte).to_string()
            } else {
                format!("%{byte:02X}")
            }
        })
        .collect()
}

async fn migrate(database: &Database) -> Result<(), StoreError> {
    let migrations = [
        (1, "spine", include_str!("../migrations/0001_spine.sql")),
        (2, "turns", include_str!("../migrations/0002_turns.sql")),
        (3, "arrival", include_str!("../migrations/0003_arrival.sql")),
        (4, "plugins", include_str!("../migrations/0004_plugins.sql")),
        (7, "remote", include_str!("../migrations/0007_remote.sql")),
        (8, "rooms", include_str!("../migrations/0008_rooms.sql")),
        (10, "spent", include_str!("../migrations/0010_spent.sql")),
        (
            11,
            "statistics",
            include_str!("../migrations/0011_statistics.sql"),
        ),
        (
            12,
            "capsule",
            include_str!("../migrations/0012_capsule.sql"),
        ),
        (
            21,
            "plugin_timers",
            include_str!("../migrations/0021_plugin_timers.sql"),
        ),
        (
            22,
            "taking_over",
            include_str!("../migrations/0022_taking_over.sql"),
        ),
        (
            23,
            "turn_sums",
            include_str!("../migrations/0023_turn_sums.sql"),
        ),
        (
            24,
            "asked_for",
            include_str!("../migrations/0024_asked_for.sql"),
        ),
        (25, "lives", include_str!("../migrations/0025_lives.sql")),
        (
            26,
            "client_names",
            include_str!("../migrations/0026_client_names.sql"),
        ),
        (
            27,
            "standing_answers",
            include_str!("../migrations/0027_standing_answers.sql"),
        ),
        (
            28,
            "unfinished_answers",
            include_str!("../migrations/0028_unfinished_answers.sql"),
        ),
    ];
    let migrations = migrations.map(|(version, description, text)| {
        let (kind, sql) = (MigrationType::Simple, text.into_sql_str());
        Migration::new(version, description.into(), kind, sql, false)
    });
    let mut writer = database.writer().await?;
    let migrator = Migrator::with_migrations(migrations.into());
    migrator
        .run_direct(None, writer.without_deadline().await?, false)
        .await?;
    writer.release();
    Ok(())
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
