//! The journal's statements, each inside its caller's transaction.

use callgate_contract::{Allowed, JournalId, Stop};
use serde_json::Value as Json;
use sqlx::{AnyConnection, any::AnyArguments, query::Query};

use super::{CallIntent, CallOutcome, RunStart};
use crate::{StoreError, row};

type Statement = Query<'static, sqlx::Any, AnyArguments>;

/// False if the run exists.
pub(super) async fn insert_run(
    connection: &mut AnyConnection,
    run: &RunStart,
) -> Result<bool, StoreError> {
    let methods = match &run.allowed {
        Allowed::All => None,
        Allowed::Only(names) => Some(row::json("methods", names)?),
    };
    let insert = sqlx::query(
        "INSERT INTO run (journal, session, user_name, role, surface, code, methods, seed, started_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (journal) DO NOTHING",
    )
    .bind(run.id.0.to_string())
    .bind(run.session.to_string())
    .bind(run.user.clone())
    .bind(row::word(run.role)?)
    .bind(row::word(run.surface)?)
    .bind(run.code.clone().map(String::into_bytes))
    .bind(methods)
    .bind(run.seed.to_vec())
    .bind(row::now());
    wrote_one(insert, connection).await
}

/// False if the call is on record.
pub(super) async fn insert_intent(
    connection: &mut AnyConnection,
    call: &CallIntent,
) -> Result<bool, StoreError> {
    let insert = sqlx::query(
        "INSERT INTO call (journal, sequence, method, kind, effect, arguments, clocks, threaded)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (journal, sequence) DO NOTHING",
    );
    wrote_one(bind_intent(insert, call)?, connection).await
}

/// False if the call has an outcome, or is unknown.
pub(super) async fn update_outcome(
    connection: &mut AnyConnection,
    journal: JournalId,
    sequence: u64,
    outcome: &CallOutcome,
) -> Result<bool, StoreError> {
    let update = sqlx::query(
        "UPDATE call SET outcome = $3, value = $4, text = $5, parts = $6, error = $7, micros = $8
         WHERE journal = $1 AND sequence = $2 AND outcome IS NULL",
    )
    .bind(journal.0.to_string())
    .bind(row::count(sequence));
    wrote_one(bind_outcome(update, outcome)?, connection).await
}

/// Writes the call whole, or completes its intent. False if it has an outcome.
pub(super) async fn insert_recorded(
    connection: &mut AnyConnection,
    call: &CallIntent,
    outcome: &CallOutcome,
) -> Result<bool, StoreError> {
    let insert = sqlx::query(
        "INSERT INTO call (journal, sequence, method, kind, effect, arguments, clocks, threaded,
                           outcome, value, text, parts, error, micros)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
         ON CONFLICT (journal, sequence) DO UPDATE SET
             outcome = excluded.outcome, value = excluded.value, text = excluded.text,
             parts = excluded.parts, error = excluded.error, micros = excluded.micros
         WHERE call.outcome IS NULL",
    );
    let insert = bind_outcome(bind_intent(insert, call)?, outcome)?;
    wrote_one(insert, connection).await
}

pub(super) async fn is_known(
    connection: &mut AnyConnection,
    journal: JournalId,
    sequence: u64,
) -> Result<bool, StoreError> {
    let select = sqlx::query("SELECT method FROM call WHERE journal = $1 AND sequence = $2")
        .bind(journal.0.to_string())
        .bind(row::count(sequence));
    Ok(select.fetch_optional(connection).await?.is_some())
}

/// False if the run has ended, or is unknown.
pub(super) async fn finish_run(
    connection: &mut AnyConnection,
    journal: JournalId,
    stop: Stop,
    report: &Json,
) -> Result<bool, StoreError> {
    let update = sqlx::query(
        "UPDATE run SET stop = $2, report = $3, finished_at = $4
         WHERE journal = $1 AND stop IS NULL",
    )
    .bind(journal.0.to_string())
    .bind(row::word(stop)?)
    .bind(report.to_string())
    .bind(row::now());
    wrote_one(update, connection).await
}

pub(super) async fn reopen_run(
    connection: &mut AnyConnection,
    journal: JournalId,
) -> Result<bool, StoreError> {
    let update = sqlx::query(
        "UPDATE run SET stop = NULL, report = NULL, finished_at = NULL WHERE journal = $1",
    );
    wrote_one(update.bind(journal.0.to_string()), connection).await
}

pub(super) async fn prune(connection: &mut AnyConnection, keep: i64) -> Result<u64, StoreError> {
    // Ids are time-ordered, so everything up to the first one beyond `keep` goes.
    let newest = sqlx::query_scalar(
        "SELECT journal FROM run WHERE stop IS NOT NULL AND stop <> 'approval'
         ORDER BY journal DESC LIMIT 1 OFFSET $1",
    );
    let newest: Option<String> = newest.bind(keep).fetch_optional(&mut *connection).await?;
    let Some(newest) = newest else {
        return Ok(0);
    };
    for delete in [
        "DELETE FROM call WHERE journal IN (SELECT journal FROM run
         WHERE journal <= $1 AND stop IS NOT NULL AND stop <> 'approval')",
        "DELETE FROM approval WHERE journal IN (SELECT journal FROM run
         WHERE journal <= $1 AND stop IS NOT NULL AND stop <> 'approval')",
    ] {
        let delete = sqlx::query(delete).bind(newest.clone());
        delete.execute(&mut *connection).await?;
    }
    let delete = sqlx::query(
        "DELETE FROM run WHERE journal <= $1 AND stop IS NOT NULL AND stop <> 'approval'",
    );
    Ok(delete
        .bind(newest)
        .execute(connection)
        .await?
        .rows_affected())
}

fn bind_intent(statement: Statement, call: &CallIntent) -> Result<Statement, StoreError> {
    let clocks: Vec<u8> = call.clocks.iter().flat_map(|c| c.to_le_bytes()).collect();
    Ok(statement
        .bind(call.journal.0.to_string())
        .bind(row::count(call.sequence))
        .bind(call.method.clone())
        .bind(row::word(call.kind)?)
        .bind(row::word(call.effect)?)
        .bind(call.arguments.clone())
        .bind(clocks)
        .bind(i64::from(call.threaded)))
}

fn bind_outcome(statement: Statement, outcome: &CallOutcome) -> Result<Statement, StoreError> {
    let (word, value, text, parts, error) = match &outcome.result {
        Ok(success) => {
            let parts = match success.parts.is_empty() {
                true => None,
                false => Some(row::json("parts", &success.parts)?),
            };
            let text = success.text.clone().map(String::into_bytes);
            ("value", Some(success.value.clone()), text, parts, None)
        }
        Err(error) => ("error", None, None, None, Some(error.clone().into_bytes())),
    };
    Ok(statement
        .bind(word)
        .bind(value)
        .bind(text)
        .bind(parts)
        .bind(error)
        .bind(row::count(outcome.micros)))
}

async fn wrote_one(
    statement: Statement,
    connection: &mut AnyConnection,
) -> Result<bool, StoreError> {
    Ok(statement.execute(connection).await?.rows_affected() == 1)
}
