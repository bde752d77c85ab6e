//! [`Instance`]: this process among others that share its database. What it holds belongs to its *life*,
//! which begins with the process: it says again and again that it lives; what it holds is its own as
//! long as it does, and then anybody's. The next life in the same data directory has at once what the
//! one before held. With SQLite there are no others, and none of this costs a query.
//! `DIR/instance` keeps the instance's name. A copy of the directory is told by where it lies, and takes a
//! name of its own. Sessions do not pass to the next life: those are anybody's, who is told that they were left.

use std::{
    fs,
    io::{self, ErrorKind},
    os::unix::fs::MetadataExt,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

use callgate_contract::JournalId;
use uuid::Uuid;

use crate::{
    StoreError,
    database::{Database, Engine},
    row::{self, get},
    tx::{Tx, parameters},
};

/// Milliseconds after which nobody remembers an instance that is gone.
const FORGOTTEN: i64 = 24 * 60 * 60 * 1_000;

/// Where a data directory keeps its instance's name.
const NAME_FILE: &str = "instance";

/// What a life that is over held goes to the next one of its data directory.
const INHERIT: [&str; 4] = [
    "UPDATE turn SET holder = ?2 WHERE holder = ?1 AND stop IS NULL",
    "UPDATE run SET holder = ?2 WHERE holder = ?1 AND stop IS NULL",
    "UPDATE log SET holder = ?2 WHERE holder = ?1 AND turn IS NULL
     AND (role = 'user' AND hidden = 0 AND dismissed = 0 OR offered = 1)",
    "UPDATE outbox SET claimed_by = ?2 WHERE claimed_by = ?1",
];
/// Nothing of it runs any more, so that nobody need wait for its sessions. Its leases stay: whoever takes
/// one over has to know that a turn may have been under way.
const BURY: &str = "DELETE FROM instance WHERE life = ?1";

pub(crate) struct Instance {
    /// Of this process alone: what it holds is held by it.
    pub(crate) life: Uuid,
    /// Of the data directory, the same after a restart.
    name: String,
    /// The data directory itself. Whoever finds a life here that is not its own knows that it is over:
    /// one process at a time owns a directory.
    place: String,
    /// How long it counts as alive after it has last said so.
    pub(crate) term: Duration,
    /// How far the database's clock was ahead of ours when we last asked, in milliseconds: instances
    /// whose clocks differ must agree on when a term ends.
    ahead: AtomicI64,
}

impl Instance {
    /// Called under the directory's lock.
    pub(crate) fn at(data: &Path, term: Duration) -> Result<Self, StoreError> {
        Ok(Instance {
            life: Uuid::now_v7(),
            name: name_at(data)?,
            place: place_of(data)?,
            term,
            ahead: AtomicI64::new(0),
        })
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }
}

fn unusable(data: &Path) -> impl Fn(io::Error) -> StoreError {
    move |source| StoreError::Directory {
        path: data.to_owned(),
        source,
    }
}

fn name_at(data: &Path) -> Result<String, StoreError> {
    match fs::read_to_string(data.join(NAME_FILE)) {
        Ok(name) if !name.is_empty() => Ok(name),
        Err(error) if error.kind() != ErrorKind::NotFound => Err(unusable(data)(error)),
        _ => new_name(data),
    }
}

fn new_name(data: &Path) -> Result<String, StoreError> {
    let name = Uuid::now_v7().to_string();
    fs::write(data.join(NAME_FILE), &name).map_err(unusable(data))?;
    Ok(name)
}

/// Neither a copy of the directory nor the same one after a reboot is at the same place; then nothing
/// is known of the life before, and its term is waited for.
fn place_of(data: &Path) -> Result<String, StoreError> {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id");
    let boot = boot.unwrap_or_else(|_| Uuid::now_v7().to_string());
    let folder = fs::metadata(data).map_err(unusable(data))?;
    let (device, number) = (folder.dev(), folder.ino());
    Ok(format!("{}/{device}/{number}", boot.trim()))
}

impl Database {
    /// Others may work on the same database.
    pub(crate) fn is_shared(&self) -> bool {
        matches!(self.engine, Engine::Postgres(_))
    }

    /// By what work is this process's own; nobody asks where it is alone.
    pub(crate) fn holder(&self) -> Option<Uuid> {
        self.is_shared().then_some(self.instance.life)
    }

    /// By the clock that instances agree on.
    pub(crate) fn shared_now(&self) -> i64 {
        row::now().saturating_add(self.instance.ahead.load(Ordering::Relaxed))
    }

    /// The first word of this life. It inherits from those that were here before; where another one
    /// lives under our name, the directory is a copy of its, and we take a new name.
    async fn begin_life(&mut self, data: &Path) -> Result<(), StoreError> {
        let Instance {
            life, name, place, ..
        } = &self.instance;
        let (life, name, place) = (*life, name.clone(), place.clone());
        let copied = self
            .write(move |tx| {
                let now = ask_time(tx)?;
                let known = "SELECT * FROM instance WHERE name = ?1 OR place = ?2";
                let mut copied = false;
                for other in tx.query(known, parameters![name, place])? {
                    if get::<String>(&other, "place")? != place {
                        copied |= get::<i64>(&other, "ends_at")? > now;
                        continue;
                    }
                    let before: Uuid = get(&other, "life")?;
                    for inherit in INHERIT {
                        tx.execute(inherit, parameters![before, life])?;
                    }
                    tx.execute(BURY, parameters![before])?;
                }
                Ok(copied)
            })
            .await?;
        if copied {
            let name = new_name(data)?;
            tracing::warn!(
                data = %data.display(), %name,
                "another instance runs under the name of this data directory, as of one that was \
                 copied while in use: it has a name of its own from now on"
            );
            self.instance.name = name;
        }
        self.say_alive().await
    }

    async fn say_alive(&self) -> Result<(), StoreError> {
        let Instance {
            life, name, place, ..
        } = &self.instance;
        let (life, name, place) = (*life, name.clone(), place.clone());
        let term = i64::try_from(self.instance.term.as_millis()).unwrap_or(i64::MAX);
        let now = self
            .write(move |tx| {
                let now = ask_time(tx)?;
                tx.execute(
                    "INSERT INTO instance (life, name, place, ends_at) VALUES (?1, ?2, ?3, ?4)
                     ON CONFLICT (life) DO UPDATE SET ends_at = excluded.ends_at",
                    parameters![life, name, place, now.saturating_add(term)],
                )?;
                Ok(now)
            })
            .await?;
        let ahead = now.saturating_sub(row::now());
        self.instance.ahead.store(ahead, Ordering::Relaxed);
        Ok(())
    }

    async fn forget_the_gone(&self) -> Result<(), StoreError> {
        let gone = self.shared_now().saturating_sub(FORGOTTEN);
        self.write(move |tx| {
            let forget = "DELETE FROM instance WHERE ends_at < ?1";
            tx.execute(forget, parameters![gone])?;
            Ok(())
        })
        .await
    }

    /// What this instance holds is anybody's at once: it ends in good order. A database that is its own
    /// is one file then.
    pub(crate) async fn leave(&self) -> Result<(), StoreError> {
        if let Engine::Sqlite(sqlite) = &self.engine {
            return Ok(sqlite.put_away()?);
        }
        let life = self.instance.life;
        self.write(move |tx| {
            tx.execute("DELETE FROM instance WHERE life = ?1", parameters![life])?;
            Ok(())
        })
        .await
    }
}

/// By the database's clock.
fn ask_time(tx: &mut dyn Tx) -> Result<i64, StoreError> {
    let clock = "SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)";
    tx.query_one(clock, &[])?.at(0)
}

/// Begins this process's life. Called under the directory's lock.
pub(crate) async fn begin(database: &mut Database, data: &Path) -> Result<(), StoreError> {
    if !database.is_shared() {
        return Ok(());
    }
    database.begin_life(data).await?;
    database.forget_the_gone().await
}

/// Says that this instance lives until the database is no longer used.
pub(crate) fn live(database: &Arc<Database>) {
    if !database.is_shared() {
        return;
    }
    let (used, pause) = (Arc::downgrade(database), database.instance.term / 4);
    tokio::spawn(async move {
        loop {
            tokio::time::sleep(pause).await;
            let Some(database) = used.upgrade() else {
                return;
            };
            if let Err(error) = database.say_alive().await {
                tracing::warn!(%error, "could not renew leases; other instances may take over");
            }
        }
    });
}

/// Is the turn or run still for `life` to write to? In the affirmative it stays so until the
/// transaction ends. Only where instances share the database.
pub(crate) fn is_ours(tx: &mut dyn Tx, journal: JournalId, life: Uuid) -> Result<bool, StoreError> {
    for select in [
        "SELECT holder FROM turn WHERE id = ?1 FOR UPDATE",
        "SELECT holder FROM run WHERE journal = ?1 FOR UPDATE",
    ] {
        let found: Option<Option<Uuid>> = tx.scalar(select, parameters![journal])?;
        if let Some(holder) = found {
            return Ok(holder.is_none_or(|holder| holder == life));
        }
    }
    Ok(true)
}
