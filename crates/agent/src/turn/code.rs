//! A round of code mode: the answer is read as Python, the Python runs, its stop decides what
//! follows.

use callgate_contract::{ModelMessage, Part, Shared, Stop, TurnStop};
use callgate_store::Run;

use super::{Next, Turn, ask::NoReply};
use crate::{
    FOR_MODEL, Observation, RunError, RunReport, Task, TurnError, excerpt, extract, texts,
    watch::TurnEvent,
};

impl Turn {
    pub(crate) async fn code_round(&mut self) -> Result<Next, TurnError> {
        let last = self.is_last_round();
        if last {
            self.push(ModelMessage::user(texts::LAST_ROUND_CODE));
        }
        // What ran is on record, with the methods it had.
        if self.recorded_run(self.round + 1).is_none() {
            self.collect().await;
        }
        let reply = match self.ask(Shared::default()).await? {
            Ok(reply) => reply,
            Err(none) => return Ok(self.without_reply(&none)),
        };
        if let Some(asker) = &mut self.options.returned {
            asker.finish = reply.finish.clone();
        }
        let answer = extract(&reply.text);
        let Some(code) = answer.code else {
            let stop = if last {
                TurnStop::Limit
            } else {
                TurnStop::Answered
            };
            return Ok(Next::end(stop, answer.text));
        };
        self.watch.tell(TurnEvent::Code { code: code.clone() });
        let report = match self.run_code(code).await? {
            Ok(report) => report,
            Err(reason) => {
                return Ok(Next::end(
                    TurnStop::Error,
                    texts::no_sandbox(self.language(), &reason),
                ));
            }
        };
        self.calls += report.calls.len() as u64;
        self.agent.deliver(&self.facts.session).await;
        self.tell_said(report.run).await?;
        let next = self.after_run(&report, answer.text).await?;
        Ok(match next {
            // The last answer was run, not dropped; what it asked for next is over the limit.
            Next::Again if last => Next::end(TurnStop::Limit, texts::limit(self.language())),
            next => next,
        })
    }

    pub(crate) fn without_reply(&mut self, none: &NoReply) -> Next {
        if let (Some(asker), NoReply::Model(error)) = (&mut self.options.returned, none) {
            asker.failure = Some(error.clone());
        }
        match none {
            NoReply::Cancelled => Next::end(TurnStop::Cancelled, ""),
            NoReply::Budget(reason) => Next::end(TurnStop::Budget, reason),
            NoReply::Model(error) => {
                Next::end(TurnStop::Error, texts::model_failed(self.language(), error))
            }
        }
    }

    /// Runs the code, or takes what an earlier execution recorded of this round's run. The inner
    /// error says why there is nowhere to run it.
    async fn run_code(&mut self, code: String) -> Result<Result<RunReport, String>, TurnError> {
        let coder = self.agent.coder();
        let ran = match self.recorded_run(self.round) {
            Some(run) => match run.finish.as_ref().filter(|end| end.stop != Stop::Approval) {
                Some(finish) => return Ok(recorded_report(&finish.report)),
                None => {
                    let (id, budget) = (run.start.id, self.caller.grant.budget.clone());
                    let watch = self.watch.clone();
                    coder.resume_within(id, None, watch, Some(budget)).await
                }
            },
            None => {
                let mut caller = self.round_caller();
                caller.journal = callgate_contract::JournalId::fresh();
                let mut task = Task::new(code);
                task.turn = Some((self.facts.turn, self.round));
                task.cancel = self.cancel.clone();
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

    fn recorded_run(&self, round: u32) -> Option<&Run> {
        let of_round = |run: &&Run| run.start.turn.is_some_and(|(_, number)| number == round);
        self.recorded_runs.iter().find(of_round)
    }

    async fn after_run(&mut self, report: &RunReport, said: String) -> Result<Next, TurnError> {
        match report.stop {
            Stop::Finished => self.after_finished(said).await,
            Stop::Agent | Stop::Multimodal => {
                let parts = match report.observation.clone() {
                    Some(Observation::Text(text)) => vec![Part::text(self.bounded(text).await?)],
                    Some(Observation::Parts(parts)) => parts,
                    None => Vec::new(),
                };
                self.observe(report, parts);
                Ok(Next::Again)
            }
            Stop::Inspect => {
                self.observe(report, Vec::new());
                Ok(Next::Again)
            }
            // Whoever waits for a returned answer cannot wait for the operator as well.
            Stop::Approval if self.is_returned() => Ok(self.after_failure(report)),
            Stop::Approval => Ok(Next::Suspend),
            Stop::Cancelled => {
                if !self.has_spoken().await? {
                    self.unfinished = said;
                }
                Ok(Next::end(TurnStop::Cancelled, ""))
            }
            _ => Ok(self.after_failure(report)),
        }
    }

    /// The script reached its end, and so does the turn. What stood around the code is said only
    /// where nothing else was.
    async fn after_finished(&mut self, said: String) -> Result<Next, TurnError> {
        let text = if self.has_spoken().await? {
            String::new()
        } else {
            said
        };
        Ok(Next::end(TurnStop::Answered, text))
    }

    fn after_failure(&mut self, report: &RunReport) -> Next {
        self.errors += 1;
        let of_call = || report.calls.last()?.error.clone();
        let error = report.error.clone().or_else(of_call);
        let error = error.unwrap_or_else(|| report.stop.to_string());
        if self.errors > self.agent.settings().error_retries {
            return Next::end(TurnStop::Error, texts::code_failed(self.language(), &error));
        }
        let text = texts::failed_run(report.stop, &excerpt(&error, FOR_MODEL));
        self.observe(report, vec![Part::text(text)]);
        Next::Again
    }

    /// The run's outcome as the next round's input: what it printed, then `parts`.
    fn observe(&mut self, report: &RunReport, parts: Vec<Part>) {
        let mut observed = Vec::new();
        if !report.stdout.trim().is_empty() {
            let printed = excerpt(&report.stdout, FOR_MODEL);
            observed.push(Part::text(texts::printed(&printed)));
        }
        observed.extend(parts);
        if observed.is_empty() {
            observed.push(Part::text(texts::NO_OUTPUT));
        }
        self.push(ModelMessage::User { parts: observed });
    }

    /// In full up to the cap; what is beyond it can be read as a file.
    pub(crate) async fn bounded(&self, text: String) -> Result<String, TurnError> {
        let cap = self.agent.settings().observation;
        if text.len() <= cap {
            return Ok(text);
        }
        let folders = self.agent.folders(&self.facts.session).await?;
        let name = format!("result-{}-{}.txt", self.facts.turn.0.simple(), self.round);
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
