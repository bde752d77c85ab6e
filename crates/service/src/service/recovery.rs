//! What a new owner does before anything else: end, continue or repeat what the last one left.

use std::time::Duration;

use callgate_agent::RunReport;
use callgate_contract::{JournalId, Stop};
use callgate_store::{Keep, LeftBy};
use jiff::{SignedDuration, Timestamp};
use serde_json::json;

use super::Service;
use crate::{ServiceError, config::Journal};

/// How often.
const PRUNE: Duration = Duration::from_secs(30);
/// Files are looked at once in so many times: each is.
const PRUNE_FILES: u64 = 20;

/// What became of one run that the last owner left.
pub struct RecoveredRun {
    pub run: JournalId,
    /// One line.
    pub what: String,
}

impl Service {
    /// Runs that have no turn are executed again. What ends is ended before ([`Service::end_cut_off`]).
    pub async fn recover_runs(&self) -> Result<Vec<RecoveredRun>, ServiceError> {
        let mut recovered = Vec::new();
        for (run, result) in self.code.coder.recover_left(LeftBy::Earlier).await? {
            let what = match result {
                Ok(report) => told(&report),
                Err(error) => ServiceError::from(error).message,
            };
            recovered.push(RecoveredRun { run, what });
        }
        // The answer was given, and the last owner died before it could act on it.
        for run in self.store.journal().waiting_for_approval().await? {
            // Code of a turn goes on with its turn.
            if run.start.turn.is_some() {
                continue;
            }
            let run = run.start.id;
            if let Some(result) = self.continue_answered(run).await {
                let what = match result {
                    Ok(_) => "continued after its approval".to_owned(),
                    Err(failure) => failure.message,
                };
                recovered.push(RecoveredRun { run, what });
            }
        }
        self.prune().await?;
        self.prune_files().await?;
        Ok(recovered)
    }

    /// Removes rows that are too old or too many, as the configuration says now. The disk has their space
    /// back.
    pub(super) async fn prune(&self) -> Result<(), ServiceError> {
        let Journal {
            keep,
            keep_days,
            keep_megabytes,
        } = self.configured().journal.clone();
        let ago = SignedDuration::from_hours(i64::from(keep_days) * 24);
        let since = (keep_days > 0).then(|| Timestamp::now().saturating_sub(ago));
        let bytes = (keep_megabytes > 0).then(|| u64::from(keep_megabytes) << 20);
        let keep = Keep {
            newest: keep.into(),
            since: since.and_then(Result::ok),
            bytes,
        };
        self.store.journal().prune(keep).await?;
        self.store.forget(self.configured().keep.rows()).await?;
        Ok(self.store.give_back().await?)
    }

    /// The same for files of sessions.
    async fn prune_files(&self) -> Result<(), ServiceError> {
        let (files, bounds) = (self.store.files().clone(), self.configured().keep.files());
        let removing = tokio::task::spawn_blocking(move || files.forget(bounds));
        let removed = removing.await.map_err(ServiceError::internal)??;
        if removed > 0 {
            tracing::info!(removed, "files that were too old or too many were removed");
        }
        Ok(())
    }

    /// Both again and again until `stop`.
    pub async fn keep_small(&self, stop: impl Future<Output = ()>) {
        let mut stop = std::pin::pin!(stop);
        for round in 1.. {
            tokio::select! {
                () = tokio::time::sleep(PRUNE) => {}
                () = &mut stop => return,
            }
            let mut pruned = self.prune().await;
            if pruned.is_ok() && round % PRUNE_FILES == 0 {
                pruned = self.prune_files().await;
            }
            if let Err(error) = pruned {
                let error = error.message;
                tracing::warn!(error, "could not remove what is old; trying again");
            }
        }
    }

    /// Turns that were cut off go on, messages nobody took are answered.
    pub async fn recover_turns(&self) -> Result<(), ServiceError> {
        let agent = self.agent().await?;
        let recovered = agent.recover_left(LeftBy::Earlier).await?;
        for turn in recovered.turns {
            tracing::info!(turn = %turn.0, "interrupted turn resumed");
        }
        Ok(())
    }

    /// The end in good order: what waits for the next write is written, and others that share the database
    /// need not wait until they notice that we are gone.
    pub async fn leave(&self) {
        if let Err(error) = self.store.leave().await {
            tracing::warn!(%error, "could not tell the database that this process ends");
        }
    }

    /// Ends what cannot go on, or only once somebody answers.
    pub async fn end_cut_off(&self) -> Result<Vec<RecoveredRun>, ServiceError> {
        let mut ended = Vec::new();
        let journal = self.store.journal();
        for run in journal.cut_off(LeftBy::Earlier).await? {
            let id = run.start.id;
            let (stop, what) = if self.is_asked(id).await? {
                // Executing it now would only wait again; the answer will do that.
                (Stop::Approval, "waits for approval")
            } else if run.start.code.is_none() {
                (Stop::Killed, "was a direct call that was cut off")
            } else {
                continue;
            };
            if !self.store.leases().adopt(id).await? {
                continue;
            }
            journal.finish(id, stop, &json!({ "error": what })).await?;
            ended.push(RecoveredRun {
                run: id,
                what: what.to_owned(),
            });
        }
        Ok(ended)
    }
}

fn told(report: &RunReport) -> String {
    let replayed = report.calls.iter().filter(|call| call.replayed).count();
    let calls = report.calls.len();
    format!(
        "{}, {calls} calls, {replayed} of them from the record",
        report.stop
    )
}
