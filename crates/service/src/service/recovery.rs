//! What a new owner does before anything else: end, continue or repeat what the last one left.

use callgate_agent::RunReport;
use callgate_contract::{JournalId, Stop};
use serde_json::json;

use super::Service;
use crate::ServiceError;

/// What became of one run that the last owner left.
pub struct RecoveredRun {
    pub run: JournalId,
    /// One line.
    pub what: String,
}

impl Service {
    pub async fn recover(&self) -> Result<Vec<RecoveredRun>, ServiceError> {
        let mut recovered = self.end_what_cannot_go_on().await?;
        for (run, result) in self.code.coder.recover_before(self.started_at).await? {
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
        let keep = self.config().journal.keep.into();
        self.store.journal().prune(keep).await?;
        Ok(recovered)
    }

    /// Turns that were cut off go on, messages nobody took are answered.
    pub async fn recover_turns(&self) -> Result<(), ServiceError> {
        let agent = self.agent().await?;
        let recovered = agent.recover_before(self.started_at).await?;
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

    async fn end_what_cannot_go_on(&self) -> Result<Vec<RecoveredRun>, ServiceError> {
        let mut ended = Vec::new();
        let journal = self.store.journal();
        for run in journal.cut_off(self.started_at).await? {
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
