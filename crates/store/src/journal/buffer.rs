//! Calls not yet on disk, and the one way they get there: at the front of the next write.

use std::sync::Arc;

use parking_lot::Mutex;

use super::{CallIntent, CallOutcome, calls};
use crate::{StoreError, tx::Tx};

/// Past these the buffer is written without waiting for a durable call.
const MAX_CALLS: usize = 128;
const MAX_BYTES: usize = 1 << 20;

/// A plain mutex: it is held for a push or a swap, never across an await.
#[derive(Default)]
pub(crate) struct Buffer(Mutex<Calls>);

#[derive(Default)]
struct Calls {
    calls: Vec<(CallIntent, CallOutcome)>,
    bytes: usize,
    /// Calls taken out to be written, which are not on disk yet.
    taken: usize,
}

impl Buffer {
    /// Tells whether the buffer is full.
    pub(super) fn push(&self, call: CallIntent, outcome: CallOutcome) -> Result<bool, StoreError> {
        let mut buffer = self.0.lock();
        if buffer.calls.iter().any(|(other, _)| same(other, &call)) {
            return Err(StoreError::AlreadyRecorded {
                journal: call.journal,
                sequence: call.sequence,
            });
        }
        buffer.bytes += call.arguments.len() + outcome.size();
        buffer.calls.push((call, outcome));
        Ok(buffer.calls.len() >= MAX_CALLS || buffer.bytes >= MAX_BYTES)
    }

    /// True if every call is on disk.
    pub(super) fn is_written(&self) -> bool {
        let buffer = self.0.lock();
        buffer.calls.is_empty() && buffer.taken == 0
    }
}

fn same(one: &CallIntent, other: &CallIntent) -> bool {
    (one.journal, one.sequence) == (other.journal, other.sequence)
}

impl CallOutcome {
    fn size(&self) -> usize {
        match &self.result {
            Ok(success) => success.value.len() + success.text.as_ref().map_or(0, String::len),
            Err(error) => error.len(),
        }
    }
}

/// The buffered calls while they are being written. Unless the write commits they go back to the
/// front of the buffer.
pub(crate) struct Taken {
    buffer: Arc<Buffer>,
    calls: Vec<(CallIntent, CallOutcome)>,
    count: usize,
}

impl Buffer {
    pub(crate) fn take(self: &Arc<Self>) -> Taken {
        let mut held = self.0.lock();
        let calls = std::mem::take(&mut held.calls);
        let count = calls.len();
        held.bytes = 0;
        held.taken += count;
        Taken {
            buffer: Arc::clone(self),
            calls,
            count,
        }
    }
}

impl Taken {
    pub(crate) fn write(&self, tx: &mut dyn Tx) -> Result<(), StoreError> {
        calls::insert_all_recorded(tx, &self.calls)
    }

    /// The write is committed.
    pub(crate) fn are_written(mut self) {
        self.calls.clear();
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        let mut held = self.buffer.0.lock();
        held.taken -= self.count;
        if !self.calls.is_empty() {
            let mut calls = std::mem::take(&mut self.calls);
            // What came meanwhile follows; a call that came twice keeps its first outcome.
            held.calls
                .retain(|(new, _)| !calls.iter().any(|(old, _)| same(old, new)));
            calls.append(&mut held.calls);
            held.calls = calls;
        }
    }
}
