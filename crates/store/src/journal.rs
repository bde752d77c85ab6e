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

use self::buffer::Buffer;
pub(crate) use self::buffer::Write;
pub(crate) use self::rows::clock_bytes;
pub use self::statistics::{Ended, PastCall, RunCounts};
pub use self::types::{
    CallIntent, CallOutcome, Finish, RecordedCall, Run, RunStart, Success, Tail,
};
use crate::{StoreError, changes, crash_point, database::Database, instance, row};

/// Clones share the buffer of calls not yet written.
#[derive(Clone)]
pub struct Journal {
    pub(crate) database: Arc<Database>,
    buffer: Arc<Buffer>,
}

impl Journal {
    pub(crate) fn new(database: Arc<Database>) -> Self {
        Journal {
            database,
            buffer: Arc::default(),
        }
    }

    /// Durable when it returns: from here on a cut-off run is known to [`Journal::unfinished`].
    pub async fn begin(&self, run: &RunStart) -> Result<(), StoreError> {
        let mut write = match run.turn {
            Some((turn, _)) => self.write_to(turn, false).await?,
            // One that exists already is nothing that is written to.
            None => self.write(false).await?,
        };
        let holder = self.database.holder();
        let new = rows::insert_run(write.connection(), run, holder).await?;
        write.commit().await?;
        crash_point("journal.after_begin");
        new.then_some(()).ok_or(StoreError::AlreadyBegun(run.id))
    }

    /// Durable when it returns, as are all calls before it.
    pub async fn intent(&self, call: &CallIntent) -> Result<(), StoreError> {
        crash_point("journal.before_intent");
        let mut write = self.write_to(call.journal, false).await?;
        let new = calls::insert_intent(write.connection(), call).await?;
        write.commit().await?;
        crash_point("journal.after_intent");
        let (journal, sequence) = (call.journal, call.sequence);
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
        let mut write = self.write_to(journal, !changes.is_empty()).await?;
        let first = calls::update_outcome(write.connection(), journal, sequence, outcome).await?;
        if !first {
            let known = calls::is_known(write.connection(), journal, sequence).await?;
            write.rollback().await?;
            return Err(if known {
                StoreError::AlreadyRecorded { journal, sequence }
            } else {
                StoreError::NeverBegun { journal, sequence }
            });
        }
        self.apply_and_commit(write, journal, changes).await
    }

    /// Intent, outcome and changes in one transaction, for a call whose whole effect is `changes`.
    /// Also completes such a call when a crash left its intent alone.
    pub async fn record(
        &self,
        call: &CallIntent,
        outcome: &CallOutcome,
        changes: &[Change],
    ) -> Result<(), StoreError> {
        let mut write = self.write_to(call.journal, !changes.is_empty()).await?;
        if !calls::insert_recorded(write.connection(), call, outcome).await? {
            write.rollback().await?;
            return Err(StoreError::AlreadyRecorded {
                journal: call.journal,
                sequence: call.sequence,
            });
        }
        self.apply_and_commit(write, call.journal, changes).await
    }

    async fn apply_and_commit(
        &self,
        mut write: Write<'_>,
        journal: JournalId,
        changes: &[Change],
    ) -> Result<(), StoreError> {
        let holder = self.database.holder();
        changes::apply(write.connection(), journal, changes, holder).await?;
        crash_point("journal.before_outcome_commit");
        write.commit().await?;
        crash_point("journal.after_outcome");
        Ok(())
    }

    /// For a call that may be repeated: kept in memory until the next durable write,
    /// [`Journal::flush`] or [`Journal::finish`]. A call already on disk keeps its first outcome.
    pub async fn outcome_soon(
        &self,
        call: CallIntent,
        outcome: CallOutcome,
    ) -> Result<(), StoreError> {
        if self.buffer.push(call, outcome)? {
            self.flush().await
        } else {
            Ok(())
        }
    }

    pub async fn flush(&self) -> Result<(), StoreError> {
        if self.buffer.is_written() {
            return Ok(());
        }
        let write = self.write(false).await?;
        crash_point("journal.before_flush_commit");
        write.commit().await?;
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
        let mut write = self.write_to(journal, false).await?;
        let first = rows::finish_run(write.connection(), journal, stop, report, tail).await?;
        write.commit().await?;
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
        let mut write = self.write(false).await?;
        let reopened = rows::reopen_run(write.connection(), journal, holder, now).await?;
        write.commit().await?;
        if reopened {
            Ok(())
        } else {
            self.run(journal).await?;
            Err(StoreError::Elsewhere(journal))
        }
    }

    /// Erases all but the newest `keep` ended runs, with their calls and approvals, and the rounds
    /// and runs of all but the newest `keep` ended turns. What is unfinished or waits for an
    /// approval is never erased. Returns how many runs were.
    pub async fn prune(&self, keep: u64) -> Result<u64, StoreError> {
        let mut write = self.write(true).await?;
        write.without_deadline().await?;
        let pruned = prune::prune(write.connection(), row::count(keep)).await?;
        write.commit().await?;
        Ok(pruned)
    }

    async fn not_open(&self, journal: JournalId) -> Result<StoreError, StoreError> {
        self.run(journal).await?;
        Ok(StoreError::AlreadyFinished(journal))
    }

    /// The same for what belongs to a turn or run: another instance may have taken it over.
    pub(crate) async fn write_to(
        &self,
        journal: JournalId,
        transaction: bool,
    ) -> Result<Write<'_>, StoreError> {
        if !self.database.is_shared() {
            return self.write(transaction).await;
        }
        let mut write = self.write(true).await?;
        let life = &self.database.instance.life;
        if instance::is_ours(write.connection(), journal, life).await? {
            Ok(write)
        } else {
            write.rollback().await?;
            Err(StoreError::Elsewhere(journal))
        }
    }

    /// The writing connection, with every buffered call already written to it.
    pub(crate) async fn write(&self, transaction: bool) -> Result<Write<'_>, StoreError> {
        Write::begin(&self.database, &self.buffer, transaction).await
    }
}
