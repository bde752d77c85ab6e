//! A round of code mode: the answer is read as Python, the Python runs, its stop decides what
//! follows.

use std::sync::Arc;

use callgate_contract::{Part, Stop};
use callgate_store::Run;

use super::{
    Turn,
    event::{Event, RunOutcome},
};
use crate::{
    Observation, RunError, RunReport, Task, TurnError, code::SentListener, texts, watch::TurnEvent,
};

impl Turn {
    pub(super) async fn run_code(&mut self, code: String) -> Result<Event, TurnError> {
        self.watch.tell(TurnEvent::Code { code: code.clone() });
        let report = match self.report_of(code).await? {
            Ok(report) => report,
            Err(reason) => return Ok(Event::NotRun(reason)),
        };
        self.agent.deliver(&self.facts.session).await;
        self.tell_said(report.run).await?;
        let observed = match report.observation.clone() {
            Some(Observation::Text(text)) => vec![Part::text(self.bounded(text).await?)],
            Some(Observation::Parts(parts)) => parts,
            None => Vec::new(),
        };
        let of_call = || report.calls.last()?.error.clone();
        let error = report.error.clone().or_else(of_call);
        let spoken =
            matches!(report.stop, Stop::Finished | Stop::Cancelled) && self.has_spoken().await?;
        Ok(Event::Ran(RunOutcome {
            stop: report.stop,
            calls: report.calls.len() as u64,
            error: error.unwrap_or_else(|| report.stop.to_string()),
            printed: report.stdout,
            observed,
            spoken,
        }))
    }

    /// Runs the code, or takes what an earlier execution recorded of this round's run. The inner
    /// error says why there is nowhere to run it.
    async fn report_of(&mut self, code: String) -> Result<Result<RunReport, String>, TurnError> {
        let coder = self.agent.coder();
        let ran = match self.recorded_run(self.state.round) {
            Some(run) => match run.finish.as_ref().filter(|end| end.stop != Stop::Approval) {
                Some(finish) => return Ok(recorded_report(&finish.report)),
                None => {
                    let (id, grant) = (run.start.id, self.caller.grant.clone());
                    let watch = self.watch.clone();
                    let sent = Some(self.sent());
                    coder
                        .resume_within(id, None, watch, Some(&grant), sent)
                        .await
                }
            },
            None => {
                let mut caller = self.round_caller();
                caller.journal = callgate_contract::JournalId::fresh();
                let mut task = Task::new(code);
                task.turn = Some((self.facts.turn, self.state.round));
                task.cancel = self.cancel.clone();
                task.sent = Some(self.sent());
                task.output = self.watch.output();
                task.watch = self.watch.clone();
                coder.run(caller, task).await
            }
        };
        let report = match ran {
            Ok(report) => report,
            Err(RunError::Sandbox(error)) => return Ok(Err(error.to_string())),
            Err(error) => return Err(error.into()),
        };
        Ok(Ok(report))
    }

    /// What code says reaches people before its next line.
    fn sent(&self) -> SentListener {
        let (agent, session) = (self.agent.clone(), self.facts.session.clone());
        Arc::new(move || {
            let (agent, session) = (agent.clone(), session.clone());
            Box::pin(async move { agent.deliver(&session).await })
        })
    }

    pub(super) fn recorded_run(&self, round: u32) -> Option<&Run> {
        let of_round = |run: &&Run| run.start.turn.is_some_and(|(_, number)| number == round);
        self.earlier.runs.iter().find(of_round)
    }

    /// In full up to the cap; what is beyond it can be read as a file.
    pub(crate) async fn bounded(&self, text: String) -> Result<String, TurnError> {
        let cap = self.agent.settings().observation;
        if text.len() <= cap {
            return Ok(text);
        }
        let folders = self.agent.folders(&self.facts.session).await?;
        let name = format!(
            "result-{}-{}.txt",
            self.facts.turn.0.simple(),
            self.state.round
        );
        let head = text
            .get(..text.floor_char_boundary(cap))
            .unwrap_or_default();
        Ok(match folders.shared.write_atomic(&name, text.as_bytes()) {
            Ok(()) => texts::cut(head, text.len(), &format!("/app/shared/{name}")),
            Err(error) => texts::cut(head, text.len(), &format!("nowhere ({error})")),
        })
    }
}

/// A run that no sandbox would take has a reason in the place of a report.
fn recorded_report(report: &serde_json::Value) -> Result<RunReport, String> {
    serde_json::from_value(report.clone()).map_err(|error| match report["error"].as_str() {
        Some(reason) => reason.to_owned(),
        None => error.to_string(),
    })
}
