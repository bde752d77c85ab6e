//! The journal's statements about runs, each inside its caller's transaction.

use callgate_contract::{JournalId, Stop};
use serde_json::Value as Json;
use sqlx::{any::AnyArguments, query::Query};

use super::{RunStart, Tail};
use crate::{StoreError, approvals, connection::Connection, row};

pub(super) type Statement = Query<'static, sqlx::Any, AnyArguments>;

/// False if the run exists.
pub(super) async fn insert_run(
    connection: &mut Connection,
    run: &RunStart,
    holder: Option<String>,
) -> Result<bool, StoreError> {
    let insert = sqlx::query(
        "INSERT INTO run (journal, session, user_name, role, surface, code, methods, seed,
                          started_at, turn, round, holder)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
         ON CONFLICT (journal) DO NOTHING",
    )
    .bind(run.id.0.to_string())
    .bind(run.session.to_string())
    .bind(run.user.clone())
    .bind(row::word(run.role)?)
    .bind(row::word(run.surface)?)
    .bind(run.code.clone().map(String::into_bytes))
    .bind(row::allowed(&run.allowed)?)
    .bind(run.seed.to_vec())
    .bind(row::now())
    .bind(run.turn.map(|(turn, _)| turn.0.to_string()))
    .bind(run.turn.map(|(_, round)| i64::from(round)))
    .bind(holder);
    wrote_one(insert, connection).await
}

/// False if the run has ended, or is unknown.
pub(super) async fn finish_run(
    connection: &mut Connection,
    journal: JournalId,
    stop: Stop,
    report: &Json,
    tail: &Tail,
) -> Result<bool, StoreError> {
    let update = sqlx::query(
        "UPDATE run SET stop = $2, report = $3, finished_at = $4, clocks = $5, threaded = $6
         WHERE journal = $1 AND stop IS NULL",
    )
    .bind(journal.0.to_string())
    .bind(row::word(stop)?)
    .bind(report.to_string())
    .bind(row::now())
    .bind(clock_bytes(&tail.clocks))
    .bind(row::flag(tail.threaded));
    let first = wrote_one(update, connection).await?;
    // Code that came to its end has been answered; a run that waits is not over.
    if first && !matches!(stop, Stop::Finished | Stop::Approval) {
        approvals::withdraw(connection, journal).await?;
    }
    Ok(first)
}

/// False if another instance, which lives, has the run, or it is unknown.
pub(super) async fn reopen_run(
    connection: &mut Connection,
    journal: JournalId,
    holder: Option<String>,
    now: i64,
) -> Result<bool, StoreError> {
    let update = sqlx::query(
        "UPDATE run SET stop = NULL, report = NULL, finished_at = NULL, clocks = NULL,
                        threaded = NULL, holder = $2
         WHERE journal = $1
           AND (stop IS NOT NULL OR holder IS NULL OR holder = $2 OR NOT EXISTS (
               SELECT 1 FROM instance WHERE instance.life = run.holder AND instance.ends_at > $3))",
    )
    .bind(journal.0.to_string())
    .bind(holder)
    .bind(now);
    wrote_one(update, connection).await
}

pub(crate) fn clock_bytes(clocks: &[i64]) -> Vec<u8> {
    clocks
        .iter()
        .flat_map(|clock| clock.to_le_bytes())
        .collect()
}

pub(super) async fn wrote_one(
    statement: Statement,
    connection: &mut Connection,
) -> Result<bool, StoreError> {
    Ok(statement.execute(connection).await?.rows_affected() == 1)
}
