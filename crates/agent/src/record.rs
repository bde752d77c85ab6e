//! [`Record`]: the calls of one journal. As long as an earlier execution left a record, calls are
//! answered from it; then they pass the gate. Nothing recorded is done twice.

use std::collections::BTreeMap;

use callgate_contract::Caller;
use callgate_gate::{AdHoc, CallError, CallRequest, Gate, Outcome};
use callgate_store::RecordedCall;
use parking_lot::Mutex;

use crate::host;

pub(crate) struct Record {
    pub(crate) gate: Gate,
    pub(crate) caller: Caller,
    /// By sequence. Calls of tool mode may run side by side: a mutex, held for a removal only.
    recorded: Mutex<BTreeMap<u64, RecordedCall>>,
}

/// A call that was answered.
pub(crate) struct Answered {
    pub(crate) outcome: Outcome,
    /// From the journal, not made again.
    pub(crate) replayed: bool,
    /// By a tool that a plugin had made for this loop alone.
    pub(crate) of_loop: bool,
}

pub(crate) enum Refusal {
    /// Another call stands in the record at this place.
    Diverged(String),
    Call(CallError),
}

impl Record {
    pub(crate) fn new(gate: Gate, caller: Caller, recorded: Vec<RecordedCall>) -> Self {
        let by_sequence = recorded
            .into_iter()
            .map(|call| (call.intent.sequence, call));
        Record {
            gate,
            caller,
            recorded: Mutex::new(by_sequence.collect()),
        }
    }

    /// `ad_hoc` is the method where it is registered nowhere.
    pub(crate) async fn call(
        &self,
        request: CallRequest<'_>,
        ad_hoc: Option<&AdHoc>,
    ) -> Result<Answered, Refusal> {
        if let Some(recorded) = self.take(request.sequence)
            && let Some(outcome) = self.answer(&recorded, &request)?
        {
            return Ok(Answered {
                outcome,
                replayed: true,
                of_loop: host::is_of_loop(&recorded.intent.method, request.name),
            });
        }
        let outcome = match ad_hoc {
            Some(method) => {
                let gate = &self.gate;
                gate.dispatch_ad_hoc(&self.caller, request, method).await
            }
            None => self.gate.dispatch(&self.caller, request).await,
        };
        outcome.map_err(Refusal::Call).map(|outcome| Answered {
            outcome,
            replayed: false,
            of_loop: ad_hoc.is_some(),
        })
    }

    /// `None`: the record says that the call is to be made.
    fn answer(
        &self,
        recorded: &RecordedCall,
        request: &CallRequest<'_>,
    ) -> Result<Option<Outcome>, Refusal> {
        if recorded.intent.threaded {
            return Err(Refusal::Diverged(
                "it used threads, or read clocks too often, so its calls have no order to repeat"
                    .into(),
            ));
        }
        let arguments = request.arguments.clone();
        let name = if host::is_of_loop(&recorded.intent.method, request.name) {
            &recorded.intent.method
        } else {
            request.name
        };
        if !self.gate.is_recorded(recorded, name, arguments) {
            let (was, is, place) = (&recorded.intent.method, request.name, request.sequence);
            return Err(Refusal::Diverged(format!(
                "call {place} was {was}; now it is {is}, or has other arguments"
            )));
        }
        let replayed = self.gate.replay(recorded);
        self.gate.note_replayed(&self.caller, recorded, &replayed);
        replayed.map_err(Refusal::Call)
    }

    /// An earlier execution has come to this call, which is to be answered from its record.
    pub(crate) fn has(&self, sequence: u64) -> bool {
        self.recorded.lock().contains_key(&sequence)
    }

    fn take(&self, sequence: u64) -> Option<RecordedCall> {
        self.recorded.lock().remove(&sequence)
    }
}
