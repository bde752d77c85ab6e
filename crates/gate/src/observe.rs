//! What somebody who counts is told of each call: which method, from where, how it ended, how long
//! it took. Nothing of what was said.

use std::{sync::Arc, time::Duration};

use callgate_contract::Surface;

use crate::{CallError, Gate, Outcome};

/// A call that has ended. One answered from a record was not made again and is not told.
#[derive(Clone, Copy, Debug)]
pub struct CompletedCall<'a> {
    /// `origin/name`; `None` for a name that is no method.
    pub method: Option<&'a str>,
    pub surface: Surface,
    pub ended: CallStatus,
    pub elapsed: Duration,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CallStatus {
    Done,
    /// It ran, and did not come to a good end.
    Failed,
    /// It was not begun.
    Refused,
    /// For an approval.
    Waits,
}

/// Called from the call itself and must be quick.
pub(crate) type Observer = Arc<dyn Fn(&CompletedCall<'_>) + Send + Sync>;

impl CallStatus {
    pub fn word(self) -> &'static str {
        match self {
            CallStatus::Done => "done",
            CallStatus::Failed => "failed",
            CallStatus::Refused => "refused",
            CallStatus::Waits => "waits",
        }
    }

    pub(crate) fn of(result: &Result<Outcome, CallError>) -> Self {
        match result {
            Ok(_) => CallStatus::Done,
            Err(CallError::ApprovalPending { .. }) => CallStatus::Waits,
            Err(
                CallError::Failed { .. }
                | CallError::Panicked { .. }
                | CallError::Deadline { .. }
                | CallError::Cancelled { .. }
                | CallError::Unpassable { .. }
                | CallError::BadResult { .. }
                | CallError::Store { .. },
            ) => CallStatus::Failed,
            Err(_) => CallStatus::Refused,
        }
    }
}

impl Gate {
    /// Once; a second observer is ignored.
    pub fn observe(&self, observer: impl Fn(&CompletedCall<'_>) + Send + Sync + 'static) {
        self.set_observer(Arc::new(observer));
    }
}
