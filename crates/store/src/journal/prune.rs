//! Forgetting old journals. What may still be executed again is never erased: open runs, runs
//! that wait for an approval, and everything of a turn that has not ended. Of a turn its row
//! stays, with what it spent.

use sqlx::AssertSqlSafe;

use crate::{StoreError, connection::Connection};

const OLD_RUNS: &str = "SELECT journal FROM run
    WHERE turn IS NULL AND journal <= $1 AND stop IS NOT NULL AND stop <> 'approval'";
const OLD_TURNS: &str = "SELECT id FROM turn WHERE id <= $1 AND stop IS NOT NULL";
const RUNS_OF_OLD_TURNS: &str = "SELECT journal FROM run
    WHERE stop IS NOT NULL AND stop <> 'approval'
    AND turn IN (SELECT id FROM turn WHERE id <= $1 AND stop IS NOT NULL)";

/// Calls that plugins made of us have no run: they were part of a call that is on record itself.
const ORPHANS: &str = "SELECT journal FROM call WHERE journal <= $1
    AND NOT EXISTS (SELECT 1 FROM run WHERE run.journal = call.journal)
    AND NOT EXISTS (SELECT 1 FROM turn WHERE turn.id = call.journal)";

/// Returns how many runs were erased.
pub(super) async fn prune(connection: &mut Connection, keep: i64) -> Result<u64, StoreError> {
    let mut pruned = 0;
    let newest_run = "SELECT journal FROM run
        WHERE turn IS NULL AND stop IS NOT NULL AND stop <> 'approval'
        ORDER BY journal DESC LIMIT 1 OFFSET $1";
    if let Some(newest) = beyond(connection, newest_run, keep).await? {
        pruned += erase_runs(connection, OLD_RUNS, &newest).await?;
        erase(connection, "call", "journal", ORPHANS, &newest).await?;
    }
    let newest_turn =
        "SELECT id FROM turn WHERE stop IS NOT NULL ORDER BY id DESC LIMIT 1 OFFSET $1";
    if let Some(newest) = beyond(connection, newest_turn, keep).await? {
        pruned += erase_runs(connection, RUNS_OF_OLD_TURNS, &newest).await?;
        for (table, column) in [
            ("call", "journal"),
            ("approval", "journal"),
            ("round", "turn"),
            ("altered", "turn"),
        ] {
            erase(connection, table, column, OLD_TURNS, &newest).await?;
        }
        erase(connection, "call", "journal", ORPHANS, &newest).await?;
    }
    Ok(pruned)
}

/// The newest id to go. Ids are time-ordered, so everything up to it goes as well.
async fn beyond(
    connection: &mut Connection,
    select: &'static str,
    keep: i64,
) -> Result<Option<String>, StoreError> {
    let newest = sqlx::query_scalar(select).bind(keep);
    Ok(newest.fetch_optional(connection).await?)
}

async fn erase_runs(
    connection: &mut Connection,
    runs: &'static str,
    newest: &str,
) -> Result<u64, StoreError> {
    erase(connection, "call", "journal", runs, newest).await?;
    erase(connection, "approval", "journal", runs, newest).await?;
    erase(connection, "run", "journal", runs, newest).await
}

async fn erase(
    connection: &mut Connection,
    table: &'static str,
    column: &'static str,
    ids: &'static str,
    newest: &str,
) -> Result<u64, StoreError> {
    // Safe: every piece is a text of this file.
    let delete = AssertSqlSafe(format!("DELETE FROM {table} WHERE {column} IN ({ids})"));
    let deleted = sqlx::query(delete).bind(newest.to_owned());
    Ok(deleted.execute(connection).await?.rows_affected())
}
