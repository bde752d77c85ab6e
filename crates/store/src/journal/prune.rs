//! Forgetting old journals. What may still be executed again is never erased: open runs, runs
//! that wait for an approval, and everything of a turn that has not ended. Of a turn its row
//! stays, with what it spent.

use callgate_contract::JournalId;

use crate::{
    StoreError, shared,
    tx::{Tx, parameters},
};

const OLD_RUNS: &str = "SELECT journal FROM run
    WHERE turn IS NULL AND journal <= ?1 AND stop IS NOT NULL AND stop <> 'approval'";
const OLD_TURNS: &str = "SELECT id FROM turn WHERE id <= ?1 AND stop IS NOT NULL";
const RUNS_OF_OLD_TURNS: &str = "SELECT journal FROM run
    WHERE stop IS NOT NULL AND stop <> 'approval'
    AND turn IN (SELECT id FROM turn WHERE id <= ?1 AND stop IS NOT NULL)";

/// Calls that plugins made of us have no run: they were part of a call that is on record itself.
const ORPHANS: &str = "SELECT journal FROM call WHERE journal <= ?1
    AND NOT EXISTS (SELECT 1 FROM run WHERE run.journal = call.journal)
    AND NOT EXISTS (SELECT 1 FROM turn WHERE turn.id = call.journal)";

/// Returns how many runs were erased.
pub(super) fn prune(tx: &mut dyn Tx, keep: i64) -> Result<u64, StoreError> {
    let mut pruned = 0;
    let newest_run = "SELECT journal FROM run
        WHERE turn IS NULL AND stop IS NOT NULL AND stop <> 'approval'
        ORDER BY journal DESC LIMIT 1 OFFSET ?1";
    if let Some(newest) = beyond(tx, newest_run, keep)? {
        pruned += erase_runs(tx, OLD_RUNS, newest)?;
        erase(tx, "call", "journal", ORPHANS, newest)?;
    }
    let newest_turn =
        "SELECT id FROM turn WHERE stop IS NOT NULL ORDER BY id DESC LIMIT 1 OFFSET ?1";
    if let Some(newest) = beyond(tx, newest_turn, keep)? {
        pruned += erase_runs(tx, RUNS_OF_OLD_TURNS, newest)?;
        for (table, column) in [
            ("call", "journal"),
            ("approval", "journal"),
            ("altered", "turn"),
        ] {
            erase(tx, table, column, OLD_TURNS, newest)?;
        }
        erase(tx, "call", "journal", ORPHANS, newest)?;
        // What a round has cost stays; it is a round no longer.
        let forget = format!(
            "UPDATE model_request SET round = NULL, request = NULL, splices = NULL, reply = NULL
             WHERE turn IN ({OLD_TURNS}) AND round IS NOT NULL"
        );
        tx.execute(&forget, parameters![newest])?;
        shared::forget_unused(tx, newest)?;
    }
    Ok(pruned)
}

/// The newest id to go. Ids are time-ordered, so everything up to it goes as well.
fn beyond(
    tx: &mut dyn Tx,
    select: &'static str,
    keep: i64,
) -> Result<Option<JournalId>, StoreError> {
    tx.scalar(select, parameters![keep])
}

fn erase_runs(tx: &mut dyn Tx, runs: &'static str, newest: JournalId) -> Result<u64, StoreError> {
    erase(tx, "call", "journal", runs, newest)?;
    erase(tx, "approval", "journal", runs, newest)?;
    erase(tx, "run", "journal", runs, newest)
}

fn erase(
    tx: &mut dyn Tx,
    table: &'static str,
    column: &'static str,
    ids: &'static str,
    newest: JournalId,
) -> Result<u64, StoreError> {
    let delete = format!("DELETE FROM {table} WHERE {column} IN ({ids})");
    Ok(tx.execute(&delete, parameters![newest])?)
}
