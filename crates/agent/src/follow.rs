//! [`Follower`]: answers the calls of one run of code and keeps what its report will say. A run that
//! calls otherwise than its record is stopped before it does anything new.

use std::sync::Arc;

use callgate_contract::{Caller, CodeCall, CodeReply, Kind, Stop, json};
use callgate_gate::{CallError, CallRequest, Gate, Outcome};
use callgate_store::{RecordedCall, Store, StoreError};
use parking_lot::Mutex;

use crate::{
    code::SentListener,
    record::{Answered, Record, Refusal},
    report::{CallReport, Observation},
    watch::{TurnEvent, Watch},
};

pub(crate) struct Follower {
    record: Record,
    watch: Watch,
    /// Where messages are queued, and who is told of one.
    sent: Option<(Store, SentListener)>,
    /// Calls come one at a time, but each from a future of its own: a mutex, never held across an
    /// await.
    progress: Mutex<Progress>,
}

#[derive(Default)]
pub(crate) struct Progress {
    pub(crate) calls: Vec<CallReport>,
    pub(crate) observation: Option<Observation>,
    pub(crate) diverged: Option<String>,
    /// The store failed: the run is executed again from its record.
    pub(crate) unrecorded: Option<StoreError>,
}

impl Follower {
    pub(crate) fn new(
        gate: Gate,
        caller: Caller,
        recorded: Vec<RecordedCall>,
        watch: Watch,
        sent: Option<(Store, SentListener)>,
    ) -> Arc<Self> {
        Arc::new(Follower {
            record: Record::new(gate, caller, recorded),
            watch,
            sent,
            progress: Mutex::default(),
        })
    }

    pub(crate) async fn answer(self: Arc<Self>, call: CodeCall) -> CodeReply {
        let method = self.record.gate.find(&call.method);
        let mut report = CallReport::of(&call, method.as_deref());
        let request = CallRequest {
            sequence: call.sequence,
            name: &call.method,
            arguments: call.arguments,
            clocks: call.clocks,
            threaded: call.threaded,
            progress: self.watch.progress(call.sequence, &call.method),
        };
        let queued = self.queued();
        let reply = match self.record.call(request, None).await {
            Ok(Answered {
                outcome, replayed, ..
            }) => {
                report.replayed = replayed;
                self.accept(report, outcome)
            }
            Err(Refusal::Call(CallError::Store { source, .. })) if source.is_temporary() => {
                self.progress.lock().unrecorded = Some(source);
                CodeReply::End(Stop::Killed)
            }
            Err(Refusal::Call(error)) => self.refuse(report, &error),
            Err(Refusal::Diverged(why)) => self.diverge(&why),
        };
        if let Some((_, tell)) = &self.sent
            && self.queued() != queued
        {
            tell().await;
        }
        reply
    }

    fn queued(&self) -> Option<u64> {
        let (store, _) = self.sent.as_ref()?;
        Some(store.outbox().queued(&self.record.caller.session))
    }

    fn accept(&self, mut report: CallReport, outcome: Outcome) -> CodeReply {
        report.value = Some(json::to_json(&outcome.value));
        report.micros = outcome.micros;
        let (reply, observation) = match outcome.kind {
            Kind::Tool | Kind::Behavior => (CodeReply::Value(outcome.value), None),
            Kind::Agent => (
                CodeReply::End(Stop::Agent),
                outcome.text.map(Observation::Text),
            ),
            Kind::MultimodalAgent => (
                CodeReply::End(Stop::Multimodal),
                Some(Observation::Parts(outcome.parts)),
            ),
        };
        self.progress.lock().observation = observation;
        self.keep(report);
        reply
    }

    fn refuse(&self, mut report: CallReport, error: &CallError) -> CodeReply {
        let text = error.to_string();
        report.error = Some(text.clone());
        self.keep(report);
        match error {
            CallError::ApprovalPending { .. } => CodeReply::End(Stop::Approval),
            _ => CodeReply::Error(text),
        }
    }

    fn keep(&self, report: CallReport) {
        if !report.replayed {
            let call = report.clone();
            self.watch.tell(TurnEvent::Call { call });
        }
        self.progress.lock().calls.push(report);
    }

    fn diverge(&self, why: &str) -> CodeReply {
        let mut progress = self.progress.lock();
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
        std::mem::take(&mut *self.progress.lock())
    }
}
