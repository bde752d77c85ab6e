//! Opening the store: the data directory, the connections, the migrations. The only place that
//! makes pools.

use std::{
    fs::File,
    io::ErrorKind,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use sqlx::{
    AnyPool, SqlSafeStr,
    any::{AnyConnectOptions, AnyPoolOptions},
    migrate::{Migration, MigrationType, Migrator},
};
use tokio::sync::Mutex;
use uuid::Uuid;

use crate::{
    Files, Journal, Store, StoreError,
    database::{Database, Engine},
    instance::{self, Instance},
};

const DATABASE_FILE: &str = "callgate.db";
const INSTANCE_FILE: &str = "instance";
const READERS: u32 = 4;
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
    /// Creates what is missing: directory, database, tables.
    pub async fn open(options: StoreOptions) -> Result<Store, StoreError> {
        let files = Files::open(&options.data, options.durability)?;
        sqlx::any::install_default_drivers();
        let (engine, connect) = address(&options)?;
        let alone = lock(&options.data).await?;
        let database = Database {
            engine,
            durability: options.durability,
            readers: readers(engine, connect.clone()),
            options: connect,
            writer: Mutex::new(None),
            arrivals: Default::default(),
            instance: Instance::new(instance_name(&options.data)?, options.term),
            key_handles: Default::default(),
        };
        migrate(&database).await?;
        drop(alone);
        files.sweep_soon();
        let database = Arc::new(database);
        instance::live(&database).await?;
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
        .map(|byte| match plain(byte) {
            true => char::from(*byte).to_string(),
            false => format!("%{byte:02X}"),
        })
        .collect()
}

/// Connects when first used: a command that only writes needs no reader.
#[allow(clippy::disallowed_methods, reason = "this is the one place")]
fn readers(engine: Engine, options: AnyConnectOptions) -> AnyPool {
    let settings: &[&str] = match engine {
        Engine::Sqlite => &["PRAGMA busy_timeout = 10000", "PRAGMA query_only = 1"],
        Engine::Postgres => &["SET default_transaction_read_only = on"],
    };
    AnyPoolOptions::new()
        .max_connections(READERS)
        .after_connect(move |connection, _| {
            Box::pin(async move {
                for statement in settings {
                    sqlx::query(*statement).execute(&mut *connection).await?;
                }
                Ok(())
            })
        })
        .connect_lazy_with(options)
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
        .run_direct(None, writer.connection(), false)
        .await?;
    writer.release();
    Ok(())
}

/// The name under which whoever owns this directory claims work that it shares with other instances.
/// Called under the lock.
fn instance_name(data: &Path) -> Result<String, StoreError> {
    let failed = |source| StoreError::Directory {
        path: data.to_owned(),
        source,
    };
    let file = data.join(INSTANCE_FILE);
    match std::fs::read_to_string(&file) {
        Ok(name) if !name.is_empty() => return Ok(name),
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(failed(error)),
        _ => {}
    }
    let name = Uuid::now_v7().to_string();
    std::fs::write(&file, &name).map_err(failed)?;
    Ok(name)
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
