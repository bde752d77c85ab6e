//! Forgetting what is old or too much, where the operator says so: log, turns, spending and what nobody came
//! for. What is open stays: messages without an answer, turns that have not ended, timers that wait. The
//! journal has bounds of its own ([`crate::Keep`]), files theirs ([`crate::files::FileBounds`]).

use jiff::Timestamp;

use crate::{
    Store, StoreError, journal, row,
    tx::{Tx, parameters},
};

/// What is kept; nothing goes where there is no bound.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Retention {
    /// Messages and system rows that came later, and timers that fired later.
    pub log_since: Option<Timestamp>,
    /// Of what was said, the newest.
    pub log_bytes: Option<u64>,
    /// Turns that began later, with all that is on record of them.
    pub turns_since: Option<Timestamp>,
    /// What models were asked for and what it cost.
    pub spending_since: Option<Timestamp>,
    /// Messages that nobody came for, or that nobody settled; the log has their words.
    pub outbox_since: Option<Timestamp>,
}

/// What may go of the log: neither unanswered nor part of a turn that has not ended.
const DONE: &str = "NOT (turn IS NULL AND (offered = 1
        OR role = 'user' AND hidden = 0 AND dismissed = 0))
    AND NOT EXISTS (SELECT 1 FROM turn
        WHERE turn.id IN (log.turn, log.journal) AND turn.stop IS NULL)";
/// The newest row with which the log is more bytes than there may be.
const TOO_MUCH: &str = "SELECT id FROM (
        SELECT id, CAST(SUM(length(parts)) OVER (ORDER BY id DESC) AS BIGINT) AS total FROM log) AS sizes
    WHERE total > ?1 ORDER BY id DESC LIMIT 1";
const OLD_RECEIPTS: &str = "DELETE FROM receipt
    WHERE NOT EXISTS (SELECT 1 FROM log WHERE log.id = receipt.log)";
/// Those that newer ones share words with go later, and so do those from which others began.
const OLD_TURNS: &str = "DELETE FROM turn WHERE id <= ?1 AND stop IS NOT NULL
    AND NOT EXISTS (SELECT 1 FROM model_request
        WHERE model_request.turn = turn.id AND shared IS NOT NULL)
    AND NOT EXISTS (SELECT 1 FROM run WHERE run.turn = turn.id)
    AND NOT EXISTS (SELECT 1 FROM turn AS child WHERE child.parent = turn.id AND child.stop IS NULL)";
/// Words that newer requests share, and rounds that are on record, stay with their row.
const OLD_SPENDING: &str = "DELETE FROM model_request
    WHERE asked_at < ?1 AND round IS NULL AND shared IS NULL";

impl Store {
    /// Returns how many rows went.
    pub async fn forget(&self, retention: Retention) -> Result<u64, StoreError> {
        if retention == Retention::default() {
            return Ok(0);
        }
        self.write(move |tx| forget(tx, retention)).await
    }

    /// Space that rows have left goes back to the disk, where the database is a file of ours and much of
    /// it is unused. Others write in between.
    pub async fn give_back(&self) -> Result<(), StoreError> {
        self.database.give_back().await
    }
}

fn forget(tx: &mut dyn Tx, retention: Retention) -> Result<u64, StoreError> {
    tx.take_time()?;
    let mut gone = 0;
    let milliseconds = |time: Timestamp| time.as_millisecond();
    if let Some(since) = retention.log_since.map(milliseconds) {
        let old = format!("DELETE FROM log WHERE written_at < ?1 AND {DONE}");
        gone += tx.execute(&old, parameters![since])?;
        let old = "DELETE FROM timer WHERE state <> 'waiting' AND due_at < ?1";
        gone += tx.execute(old, parameters![since])?;
    }
    if let Some(bytes) = retention.log_bytes
        && let Some(newest) = tx.scalar::<i64>(TOO_MUCH, parameters![row::count(bytes)])?
    {
        let old = format!("DELETE FROM log WHERE id <= ?1 AND {DONE}");
        gone += tx.execute(&old, parameters![newest])?;
    }
    if retention.log_since.is_some() || retention.log_bytes.is_some() {
        gone += tx.execute(OLD_RECEIPTS, &[])?;
    }
    if let Some(since) = retention.turns_since {
        let newest = journal::first_id(since);
        journal::forget_turns(tx, newest)?;
        gone += tx.execute(OLD_TURNS, parameters![newest])?;
    }
    if let Some(since) = retention.spending_since.map(milliseconds) {
        gone += tx.execute(OLD_SPENDING, parameters![since])?;
    }
    if let Some(since) = retention.outbox_since.map(milliseconds) {
        gone += tx.execute(
            "DELETE FROM outbox WHERE queued_at < ?1",
            parameters![since],
        )?;
    }
    Ok(gone)
}
