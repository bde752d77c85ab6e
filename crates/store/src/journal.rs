//! The journal: what each run did, written so that a crash loses nothing and doubles nothing.
//! An effectful call's intent is durable before it runs; its outcome and the rows it changes
//! commit together, once. Calls that may be repeated wait in memory for the next durable write.

mod buffer;
mod calls;
mod prune;
mod read;
mod rows;
mod statistics;
mod types;

use std::sync::Arc;

use callgate_contract::{Change, JournalId, Stop};
use serde_json::Value as Json;

pub(crate) use self::buffer::{Buffer, PendingReply, Taken, WaitingMarks};
pub use self::prune::Keep;
pub(crate) use self::prune::{first_id, forget_turns};
pub(crate) use self::rows::clock_bytes;
pub use self::statistics::{Ended, PastCall, RunCounts};
pub use self::types::{
    CallIntent, CallOutcome, DecidedBy, Finish, RecordedCall, Run, RunStart, Success, Tail,
};
use crate::{StoreError, changes, crash_point, database::Database, instance, tx::Tx};

/// Clones share one database.
#[derive(Clone)]
pub struct Journal {
    pub(crate) database: Arc<Database>,
}

impl Journal {
    pub(crate) fn new(database: Arc<Database>) -> Self {
        Journal { database }
    }

    /// Durable when it returns: from here on a cut-off run is known to [`Journal::unfinished`].
    pub async fn begin(&self, run: &RunStart) -> Result<(), StoreError> {
        let (run, holder) = (run.clone(), self.database.holder());
        let (id, turn) = (run.id, run.turn);
        let insert = move |tx: &mut dyn Tx| rows::insert_run(tx, &run, holder);
        let new = match turn {
            Some((turn, _)) => self.write_to(turn, insert).await?,
            // One that exists already is nothing that is written to.
            None => self.database.write(insert).await?,
        };
        crash_point("journal.after_begin");
        new.then_some(()).ok_or(StoreError::AlreadyBegun(id))
    }

    /// Durable when it returns, as are all calls before it.
    pub async fn intent(&self, call: &CallIntent) -> Result<(), StoreError> {
        crash_point("journal.before_intent");
        let (journal, sequence) = (call.journal, call.sequence);
        let call = call.clone();
        let insert = move |tx: &mut dyn Tx| calls::insert_intent(tx, &call);
        let new = self.write_to(journal, insert).await?;
        crash_point("journal.after_intent");
        new.then_some(())
            .ok_or(StoreError::AlreadyRecorded { journal, sequence })
    }

    /// Completes a call whose intent is on record. On an error nothing was written or changed.
    pub async fn outcome(
        &self,
        journal: JournalId,
        sequence: u64,
        outcome: &CallOutcome,
        changes: &[Change],
    ) -> Result<(), StoreError> {
        let outcome = outcome.clone();
        self.write_with_changes(journal, changes, move |tx| {
            if calls::update_outcome(tx, journal, sequence, &outcome)? {
                return Ok(());
            }
            Err(if calls::is_known(tx, journal, sequence)? {
                StoreError::AlreadyRecorded { journal, sequence }
            } else {
                StoreError::NeverBegun { journal, sequence }
            })
        })
        .await
    }

    /// Intent, outcome and changes in one transaction, for a call whose whole effect is `changes`.
    /// Also completes such a call when a crash left its intent alone.
    pub async fn record(
        &self,
        call: &CallIntent,
        outcome: &CallOutcome,
        changes: &[Change],
    ) -> Result<(), StoreError> {
        let (journal, sequence) = (call.journal, call.sequence);
        let (call, outcome) = (call.clone(), outcome.clone());
        self.write_with_changes(journal, changes, move |tx| {
            let first = calls::insert_recorded(tx, &call, &outcome)?;
            first
                .then_some(())
                .ok_or(StoreError::AlreadyRecorded { journal, sequence })
        })
        .await
    }

    async fn write_with_changes(
        &self,
        journal: JournalId,
        changes: &[Change],
        outcome: impl FnOnce(&mut dyn Tx) -> Result<(), StoreError> + Send + 'static,
    ) -> Result<(), StoreError> {
        let (applied, holder) = (changes.to_vec(), self.database.holder());
        self.write_to(journal, move |tx| {
            outcome(tx)?;
            changes::apply(tx, journal, &applied, holder)?;
            crash_point("journal.before_outcome_commit");
            Ok(())
        })
        .await?;
        self.database.tell_queued(changes);
        crash_point("journal.after_outcome");
        Ok(())
    }

    /// For a call that may be repeated, or is followed by another write at once: kept in memory until
    /// the next durable write or [`Journal::flush`]. A call whose intent is on disk is completed; one
    /// that has an outcome there keeps it.
    pub async fn outcome_soon(
        &self,
        call: CallIntent,
        outcome: CallOutcome,
    ) -> Result<(), StoreError> {
        if self.database.buffer.push(call, outcome)? {
            self.flush().await
        } else {
            Ok(())
        }
    }

    pub async fn flush(&self) -> Result<(), StoreError> {
        if self.database.buffer.is_written() {
            return Ok(());
        }
        self.database.buffer.write_marks();
        self.database.write(|_| Ok(())).await?;
        crash_point("journal.after_flush");
        Ok(())
    }

    pub async fn finish(
        &self,
        journal: JournalId,
        stop: Stop,
        report: &Json,
    ) -> Result<(), StoreError> {
        self.finish_with(journal, stop, report, &Tail::default())
            .await
    }

    /// The same for a run that can be executed again to its very end.
    pub async fn finish_with(
        &self,
        journal: JournalId,
        stop: Stop,
        report: &Json,
        tail: &Tail,
    ) -> Result<(), StoreError> {
        crash_point("journal.before_finish");
        let (report, tail) = (report.to_string(), tail.clone());
        let finish = move |tx: &mut dyn Tx| rows::finish_run(tx, journal, stop, &report, &tail);
        let first = self.write_to(journal, finish).await?;
        crash_point("journal.after_finish");
        if first {
            Ok(())
        } else {
            Err(self.not_open(journal).await?)
        }
    }

    /// Takes back the end of a run, so that it can be executed again from its record. Of instances
    /// that try at once, one does.
    pub async fn reopen(&self, journal: JournalId) -> Result<(), StoreError> {
        let (holder, now) = (self.database.holder(), self.database.shared_now());
        let reopen = move |tx: &mut dyn Tx| rows::reopen_run(tx, journal, holder, now);
        if self.database.write(reopen).await? {
            Ok(())
        } else {
            self.run(journal).await?;
            Err(StoreError::Elsewhere(journal))
        }
    }

    /// Erases ended runs that are not to be kept, with their calls and approvals, and of such turns the
    /// words of the rounds and the runs. What is unfinished or waits for an approval is never erased.
    /// Returns how many runs were.
    pub async fn prune(&self, keep: Keep) -> Result<u64, StoreError> {
        self.database
            .write(move |tx| {
                tx.take_time()?;
                prune::prune(tx, keep)
            })
            .await
    }

    async fn not_open(&self, journal: JournalId) -> Result<StoreError, StoreError> {
        self.run(journal).await?;
        Ok(StoreError::AlreadyFinished(journal))
    }

    /// A write to what belongs to a turn or run: another instance may have taken it over.
    pub(crate) async fn write_to<T: Send + 'static>(
        &self,
        journal: JournalId,
        work: impl FnOnce(&mut dyn Tx) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let life = self.database.holder();
        self.database
            .write(move |tx| match life {
                Some(life) if !instance::is_ours(tx, journal, life)? => {
                    Err(StoreError::Elsewhere(journal))
                }
                _ => work(tx),
            })
            .await
    }
}
