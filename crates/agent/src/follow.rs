//! [`Follower`]: answers the calls of one run, from the record of its earlier execution as long as
//! there is one, then through the gate. Nothing recorded is done twice, and a run that calls
//! otherwise than its record is stopped before it does anything new.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use callgate_contract::{Caller, CodeCall, CodeReply, Kind, Stop, json};
use callgate_gate::{CallError, CallRequest, Gate, Outcome};
use callgate_store::RecordedCall;

use crate::report::{CallReport, Observation};

pub(crate) struct Follower {
    gate: Gate,
    caller: Caller,
    /// Calls come one at a time, but each from a future of its own: a mutex, never held across an
    /// await.
    progress: Mutex<Progress>,
}

#[derive(Default)]
pub(crate) struct Progress {
    recorded: VecDeque<RecordedCall>,
    pub(crate) calls: Vec<CallReport>,
    pub(crate) observation: Option<Observation>,
    pub(crate) diverged: Option<String>,
}

impl Follower {
    pub(crate) fn new(gate: Gate, caller: Caller, recorded: Vec<RecordedCall>) -> Arc<Self> {
        let progress = Progress {
            recorded: recorded.into(),
            ..Progress::default()
        };
        Arc::new(Follower {
            gate,
            caller,
            progress: Mutex::new(progress),
        })
    }

    pub(crate) async fn answer(self: Arc<Self>, call: CodeCall) -> CodeReply {
        let method = self.gate.find(&call.method);
        let mut report = CallReport::of(&call, method.as_deref());
        let recorded = self.progress().recorded.pop_front();
        let result = match recorded {
            Some(recorded) => match self.from_record(&recorded, &call) {
                Ok(None) => self.call(call).await,
                Ok(Some(outcome)) => {
                    report.replayed = true;
                    Ok(outcome)
                }
                Err(Refusal::Diverged(why)) => return self.diverge(why),
                Err(Refusal::Call(error)) => {
                    report.replayed = true;
                    Err(error)
                }
            },
            None => self.call(call).await,
        };
        self.conclude(report, result)
    }

    fn from_record(
        &self,
        recorded: &RecordedCall,
        call: &CodeCall,
    ) -> Result<Option<Outcome>, Refusal> {
        if recorded.intent.threaded {
            return Err(Refusal::Diverged(
                "it used threads, or read clocks too often, so its calls have no order to repeat"
                    .into(),
            ));
        }
        let same = self
            .gate
            .is_recorded(recorded, &call.method, call.arguments.clone());
        if !same {
            let (was, is) = (&recorded.intent.method, &call.method);
            let place = call.sequence;
            return Err(Refusal::Diverged(format!(
                "call {place} was {was}; now it is {is}, or has other arguments"
            )));
        }
        self.gate.replay(recorded).map_err(Refusal::Call)
    }

    async fn call(&self, call: CodeCall) -> Result<Outcome, CallError> {
        let request = CallRequest {
            sequence: call.sequence,
            name: &call.method,
            arguments: call.arguments,
            clocks: call.clocks,
            threaded: call.threaded,
        };
        self.gate.dispatch(&self.caller, request).await
    }

    fn conclude(&self, mut report: CallReport, result: Result<Outcome, CallError>) -> CodeReply {
        let mut progress = self.progress();
        let reply = match result {
            Ok(outcome) => {
                report.value = Some(json::to_json(&outcome.value));
                report.micros = outcome.micros;
                let reply = match outcome.kind {
                    Kind::Agent => CodeReply::End(Stop::Agent),
                    Kind::MultimodalAgent => CodeReply::End(Stop::Multimodal),
                    Kind::Tool | Kind::Behavior => CodeReply::Value(outcome.value),
                };
                progress.observation = match outcome.kind {
                    Kind::Agent => outcome.text.map(Observation::Text),
                    Kind::MultimodalAgent => Some(Observation::Parts(outcome.parts)),
                    Kind::Tool | Kind::Behavior => None,
                };
                reply
            }
            Err(error) => {
                report.error = Some(error.to_string());
                match error {
                    CallError::ApprovalPending { .. } => CodeReply::End(Stop::Approval),
                    error => CodeReply::Error(error.to_string()),
                }
            }
        };
        progress.calls.push(report);
        reply
    }

    fn diverge(&self, why: String) -> CodeReply {
        let mut progress = self.progress();
        let done: Vec<&str> = progress
            .calls
            .iter()
            .map(|call| call.method.as_str())
            .collect();
        let done = match done.as_slice() {
            [] => "nothing".to_owned(),
            done => done.join(", "),
        };
        progress.diverged = Some(format!(
            "the run cannot be continued from its journal: {why}. Already done: {done}"
        ));
        CodeReply::End(Stop::Diverged)
    }

    pub(crate) fn take_progress(&self) -> Progress {
        std::mem::take(&mut *self.progress())
    }

    fn progress(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

enum Refusal {
    Diverged(String),
    Call(CallError),
}
