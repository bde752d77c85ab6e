//! Forgetting old journals, by number, age and bytes. What may still be executed again is never erased:
//! open runs, runs that wait for an approval, and everything of a turn that has not ended. Of a turn its
//! row stays, with what it spent.

use callgate_contract::JournalId;
use jiff::Timestamp;
use uuid::Uuid;

use crate::{
    StoreError, row, shared,
    tx::{Tx, parameters},
};

/// What is kept of the journal; whatever is beyond any of these goes.
#[derive(Clone, Copy, Debug)]
pub struct Keep {
    /// Ended runs, and as many ended turns.
    pub newest: u64,
    /// What began later; all of it where there is none.
    pub since: Option<Timestamp>,
    /// Of arguments and results, those of the newest.
    pub bytes: Option<u64>,
}

impl Keep {
    pub fn newest(newest: u64) -> Self {
        Keep {
            newest,
            since: None,
            bytes: None,
        }
    }
}

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

/// The newest journal with which the calls are more bytes than there may be. How long bytes are is told by
/// a row without reading them.
const TOO_MUCH: &str = "SELECT journal FROM (
        SELECT journal, CAST(SUM(bytes) OVER (ORDER BY journal DESC) AS BIGINT) AS total FROM (
            SELECT journal, SUM(length(arguments) + COALESCE(length(value), 0)
                + COALESCE(length(text), 0) + COALESCE(length(error), 0)) AS bytes
            FROM call GROUP BY journal) AS sizes) AS totals
    WHERE total > ?1 ORDER BY journal DESC LIMIT 1";

/// Returns how many runs were erased.
pub(super) fn prune(tx: &mut dyn Tx, keep: Keep) -> Result<u64, StoreError> {
    let mut pruned = 0;
    let too_old = keep.since.map(first_id);
    let too_much = match keep.bytes {
        Some(bytes) => beyond(tx, TOO_MUCH, row::count(bytes))?,
        None => None,
    };
    let floor = later(too_old, too_much);
    let keep = row::count(keep.newest);
    let newest_run = "SELECT journal FROM run
        WHERE turn IS NULL AND stop IS NOT NULL AND stop <> 'approval'
        ORDER BY journal DESC LIMIT 1 OFFSET ?1";
    if let Some(newest) = later(beyond(tx, newest_run, keep)?, floor) {
        pruned += erase_runs(tx, OLD_RUNS, newest)?;
        erase(tx, "call", "journal", ORPHANS, newest)?;
    }
    let newest_turn =
        "SELECT id FROM turn WHERE stop IS NOT NULL ORDER BY id DESC LIMIT 1 OFFSET ?1";
    if let Some(newest) = later(beyond(tx, newest_turn, keep)?, floor) {
        pruned += forget_turns(tx, newest)?;
    }
    Ok(pruned)
}

/// Of ended turns up to that one, all but their rows and what they cost. Returns how many runs were erased.
pub(crate) fn forget_turns(tx: &mut dyn Tx, newest: JournalId) -> Result<u64, StoreError> {
    let erased = erase_runs(tx, RUNS_OF_OLD_TURNS, newest)?;
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
    Ok(erased)
}

/// The newest id to go. Ids are time-ordered, so everything up to it goes as well.
fn beyond(
    tx: &mut dyn Tx,
    select: &'static str,
    keep: i64,
) -> Result<Option<JournalId>, StoreError> {
    tx.scalar(select, parameters![keep])
}

/// Of all journals that began then the first: an id begins with its milliseconds.
pub(crate) fn first_id(time: Timestamp) -> JournalId {
    let milliseconds = u128::try_from(time.as_millisecond()).unwrap_or_default();
    JournalId(Uuid::from_u128(milliseconds << 80))
}

fn later(one: Option<JournalId>, other: Option<JournalId>) -> Option<JournalId> {
    [one, other].into_iter().flatten().max_by_key(|id| id.0)
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
