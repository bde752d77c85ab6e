//! [`Instance`]: this process among others that share its database. It says again and again that it
//! lives; what it holds is its own as long as it does, and then anybody's. With SQLite there are no
//! others, and none of this costs a query.

use std::{
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

use callgate_contract::JournalId;
use jiff::Timestamp;
use sqlx::{AnyConnection, any::AnyRow};

use crate::{
    StoreError,
    database::{Database, Engine},
    row,
};

/// Milliseconds after which nobody remembers an instance that is gone.
const FORGOTTEN: i64 = 24 * 60 * 60 * 1_000;

pub(crate) struct Instance {
    /// Of whoever owns the data directory, the same after a restart.
    pub(crate) name: String,
    /// How long it counts as alive after it has last said so.
    pub(crate) term: Duration,
    /// How far the database's clock was ahead of ours when we last asked, in milliseconds: instances
    /// whose clocks differ must agree on when a term ends.
    ahead: AtomicI64,
}

impl Instance {
    pub(crate) fn new(name: String, term: Duration) -> Self {
        Instance {
            name,
            term,
            ahead: AtomicI64::new(0),
        }
    }
}

/// The condition that the row of `$table` was left behind: by an earlier life of this instance, `$1`,
/// if it is of `$time` `$2` at the latest; or by another one that is gone at `$3`.
macro_rules! left_behind {
    ($table:literal, $time:literal) => {
        concat!(
            "((",
            $table,
            ".holder IS NULL OR ",
            $table,
            ".holder = $1) AND ",
            $table,
            ".",
            $time,
            " <= $2 OR ",
            $table,
            ".holder <> $1 AND NOT EXISTS (SELECT 1 FROM instance
                 WHERE instance.name = ",
            $table,
            ".holder AND instance.ends_at > $3))"
        )
    };
}
pub(crate) use left_behind;

impl Database {
    /// Others may work on the same database.
    pub(crate) fn is_shared(&self) -> bool {
        self.engine == Engine::Postgres
    }

    /// Under which name work is this process's own; nobody asks where it is alone.
    pub(crate) fn holder(&self) -> Option<String> {
        self.is_shared().then(|| self.instance.name.clone())
    }

    /// By the clock that instances agree on.
    pub(crate) fn shared_now(&self) -> i64 {
        row::now().saturating_add(self.instance.ahead.load(Ordering::Relaxed))
    }

    /// What [`left_behind`] selects.
    pub(crate) async fn left_behind(
        &self,
        select: &'static str,
        start: Timestamp,
    ) -> Result<Vec<AnyRow>, StoreError> {
        let rows = sqlx::query(select)
            .bind(self.instance.name.clone())
            .bind(start.as_millisecond())
            .bind(self.shared_now())
            .fetch_all(&self.readers)
            .await?;
        Ok(rows)
    }

    async fn say_alive(&self) -> Result<(), StoreError> {
        let mut writer = self.writer().await?;
        let clock = "SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)";
        let now: i64 = sqlx::query_scalar(clock)
            .fetch_one(writer.connection())
            .await?;
        let ahead = now.saturating_sub(row::now());
        self.instance.ahead.store(ahead, Ordering::Relaxed);
        let term = i64::try_from(self.instance.term.as_millis()).unwrap_or(i64::MAX);
        sqlx::query(
            "INSERT INTO instance (name, ends_at) VALUES ($1, $2)
             ON CONFLICT (name) DO UPDATE SET ends_at = excluded.ends_at",
        )
        .bind(self.instance.name.clone())
        .bind(now.saturating_add(term))
        .execute(writer.connection())
        .await?;
        writer.release();
        Ok(())
    }

    async fn forget_the_gone(&self) -> Result<(), StoreError> {
        let mut writer = self.writer().await?;
        sqlx::query("DELETE FROM instance WHERE ends_at < $1")
            .bind(self.shared_now().saturating_sub(FORGOTTEN))
            .execute(writer.connection())
            .await?;
        writer.release();
        Ok(())
    }

    /// What this instance holds is anybody's at once: it ends in good order.
    pub(crate) async fn leave(&self) -> Result<(), StoreError> {
        if !self.is_shared() {
            return Ok(());
        }
        let mut writer = self.writer().await?;
        sqlx::query("DELETE FROM instance WHERE name = $1")
            .bind(self.instance.name.clone())
            .execute(writer.connection())
            .await?;
        writer.release();
        Ok(())
    }
}

/// Says that this instance lives until the database is no longer used.
pub(crate) async fn live(database: &Arc<Database>) -> Result<(), StoreError> {
    if !database.is_shared() {
        return Ok(());
    }
    database.say_alive().await?;
    database.forget_the_gone().await?;
    let (used, pause) = (Arc::downgrade(database), database.instance.term / 4);
    tokio::spawn(async move {
        loop {
            tokio::time::sleep(pause).await;
            let Some(database) = used.upgrade() else {
                return;
            };
            if let Err(error) = database.say_alive().await {
                tracing::warn!(%error, "others may take over what this instance is doing");
            }
        }
    });
    Ok(())
}

/// Is the turn or run still for `name` to write to? In the affirmative it stays so until the
/// transaction ends.
pub(crate) async fn is_ours(
    connection: &mut AnyConnection,
    journal: JournalId,
    name: &str,
) -> Result<bool, StoreError> {
    for select in [
        "SELECT holder FROM turn WHERE id = $1 FOR UPDATE",
        "SELECT holder FROM run WHERE journal = $1 FOR UPDATE",
    ] {
        let found: Option<Option<String>> = sqlx::query_scalar(select)
            .bind(journal.0.to_string())
            .fetch_optional(&mut *connection)
            .await?;
        if let Some(holder) = found {
            return Ok(holder.is_none_or(|holder| holder == name));
        }
    }
    Ok(true)
}
