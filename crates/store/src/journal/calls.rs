//! The journal's statements about calls, each inside its caller's transaction.

use std::sync::LazyLock;

use callgate_contract::JournalId;

use super::{
    CallIntent, CallOutcome,
    rows::{Statement, clock_bytes, wrote_one},
};
use crate::{StoreError, connection::Connection, row};

/// Calls written by one statement.
const BATCH: usize = 16;
/// Of a call's row.
const COLUMNS: usize = 15;

/// False if the call is on record.
pub(super) async fn insert_intent(
    connection: &mut Connection,
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
    connection: &mut Connection,
    journal: JournalId,
    sequence: u64,
    outcome: &CallOutcome,
) -> Result<bool, StoreError> {
    let update = sqlx::query(
        "UPDATE call SET outcome = $3, value = $4, text = $5, parts = $6, error = $7, detail = $8,
             micros = $9
         WHERE journal = $1 AND sequence = $2 AND outcome IS NULL",
    )
    .bind(journal.0.to_string())
    .bind(row::count(sequence));
    wrote_one(bind_outcome(update, outcome)?, connection).await
}

/// Writes the call whole, or completes its intent. False if it has an outcome.
pub(super) async fn insert_recorded(
    connection: &mut Connection,
    call: &CallIntent,
    outcome: &CallOutcome,
) -> Result<bool, StoreError> {
    static INSERT: LazyLock<String> = LazyLock::new(|| insert_recorded_text(1));
    let insert = bind_intent(sqlx::query(&**INSERT), call)?;
    wrote_one(bind_outcome(insert, outcome)?, connection).await
}

/// The same for many, where one statement for each would cost a switch of threads for each.
/// Calls that have an outcome keep it. No call may occur twice.
pub(super) async fn insert_all_recorded(
    connection: &mut Connection,
    calls: &[(CallIntent, CallOutcome)],
) -> Result<(), StoreError> {
    static INSERT: LazyLock<String> = LazyLock::new(|| insert_recorded_text(BATCH));
    let (batches, rest) = calls.as_chunks::<BATCH>();
    for batch in batches {
        let mut insert = sqlx::query(&**INSERT);
        for (call, outcome) in batch {
            insert = bind_outcome(bind_intent(insert, call)?, outcome)?;
        }
        insert.execute(&mut *connection).await?;
    }
    for (call, outcome) in rest {
        insert_recorded(connection, call, outcome).await?;
    }
    Ok(())
}

fn insert_recorded_text(rows: usize) -> String {
    let row = |row: usize| {
        let columns = (1..=COLUMNS).map(|column| format!("${}", row * COLUMNS + column));
        format!("({})", columns.collect::<Vec<_>>().join(", "))
    };
    format!(
        "INSERT INTO call (journal, sequence, method, kind, effect, arguments, clocks, threaded,
                           outcome, value, text, parts, error, detail, micros)
         VALUES {}
         ON CONFLICT (journal, sequence) DO UPDATE SET
             outcome = excluded.outcome, value = excluded.value, text = excluded.text,
             parts = excluded.parts, error = excluded.error, detail = excluded.detail,
             micros = excluded.micros
         WHERE call.outcome IS NULL",
        (0..rows).map(row).collect::<Vec<_>>().join(", ")
    )
}

pub(super) async fn is_known(
    connection: &mut Connection,
    journal: JournalId,
    sequence: u64,
) -> Result<bool, StoreError> {
    let select = sqlx::query("SELECT method FROM call WHERE journal = $1 AND sequence = $2")
        .bind(journal.0.to_string())
        .bind(row::count(sequence));
    Ok(select.fetch_optional(connection).await?.is_some())
}

fn bind_intent(statement: Statement, call: &CallIntent) -> Result<Statement, StoreError> {
    Ok(statement
        .bind(call.journal.0.to_string())
        .bind(row::count(call.sequence))
        .bind(call.method.clone())
        .bind(row::word(call.kind)?)
        .bind(row::word(call.effect)?)
        .bind(call.arguments.clone())
        .bind(clock_bytes(&call.clocks))
        .bind(i64::from(call.threaded)))
}

fn bind_outcome(statement: Statement, outcome: &CallOutcome) -> Result<Statement, StoreError> {
    let (word, value, text, parts, error) = match &outcome.result {
        Ok(success) => {
            let parts = if success.parts.is_empty() {
                None
            } else {
                Some(row::json("parts", &success.parts)?)
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
        .bind(outcome.detail.clone().map(String::into_bytes))
        .bind(row::count(outcome.micros)))
}
