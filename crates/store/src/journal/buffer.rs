//! What is recorded soon: calls that may be repeated, replies of models, marks of deliveries. The one way
//! it gets to disk is at the front of the next write, so that it costs no commit of its own.

use std::sync::Arc;

use callgate_contract::JournalId;
use parking_lot::Mutex;
use uuid::Uuid;

use super::{CallIntent, CallOutcome, calls};
use crate::{
    Charge, StoreError, crash_point,
    outbox::{self, SentPiece},
    turns,
    tx::Tx,
};

/// Past these the buffer is written without waiting for a durable call.
const MAX_CALLS: usize = 128;
const MAX_BYTES: usize = 1 << 20;
/// Marks of deliveries that are written together: one message more or less costs no statement of its own.
const MARKS: usize = outbox::FORGOTTEN_AT_ONCE;

/// A reply of a model that is on record with the next write.
pub(crate) struct PendingReply {
    pub(crate) turn: JournalId,
    pub(crate) number: u32,
    pub(crate) reply: String,
    pub(crate) charge: Charge,
    /// The life that asked, where another one may have taken the turn over.
    pub(crate) holder: Option<Uuid>,
}

/// Marks of deliveries that are not on disk.
pub(crate) enum WaitingMarks {
    None,
    /// The next write takes them along.
    Due,
    /// No write has come since.
    Overdue,
}

/// A plain mutex: it is held for a push or a swap, never across an await.
#[derive(Default)]
pub(crate) struct Buffer(Mutex<State>);

#[derive(Default)]
struct State {
    waiting: Records,
    bytes: usize,
    /// Records taken out to be written, which are not on disk yet.
    taken: usize,
    /// Of those, messages that were delivered.
    taken_delivered: Vec<i64>,
    /// Of others, how many pieces were.
    taken_progress: Vec<(i64, u32)>,
    /// Somebody writes it soon.
    scheduled: bool,
    /// Marks of deliveries are written now, however few they are.
    marks_are_due: bool,
}

#[derive(Default)]
struct Records {
    replies: Vec<PendingReply>,
    calls: Vec<(CallIntent, CallOutcome)>,
    /// Messages of the outbox that were delivered.
    delivered: Vec<i64>,
    /// Pieces of which more is to be said.
    sent: Vec<SentPiece>,
}

impl Records {
    fn count(&self) -> usize {
        self.replies.len() + self.calls.len() + self.delivered.len() + self.sent.len()
    }

    /// How many pieces of a message were delivered, for each that has more.
    fn progress(&self) -> impl Iterator<Item = (i64, u32)> + '_ {
        let unfinished = self.sent.iter().filter(|piece| !piece.ended);
        unfinished.map(|piece| (piece.message, piece.done))
    }
}

impl Buffer {
    /// Tells whether the buffer is full.
    pub(super) fn push(&self, call: CallIntent, outcome: CallOutcome) -> Result<bool, StoreError> {
        let mut buffer = self.0.lock();
        let calls = &mut buffer.waiting.calls;
        if calls.iter().any(|(other, _)| same(other, &call)) {
            return Err(StoreError::AlreadyRecorded {
                journal: call.journal,
                sequence: call.sequence,
            });
        }
        let bytes = call.arguments.len() + outcome.size();
        calls.push((call, outcome));
        let count = calls.len();
        buffer.bytes += bytes;
        Ok(count >= MAX_CALLS || buffer.bytes >= MAX_BYTES)
    }

    pub(crate) fn push_reply(&self, reply: PendingReply) {
        self.0.lock().waiting.replies.push(reply);
    }

    pub(crate) fn push_sent(&self, piece: SentPiece) {
        let waiting = &mut self.0.lock().waiting;
        if piece.ended {
            waiting.delivered.push(piece.message);
        }
        if !piece.is_only_a_mark() {
            waiting.sent.push(piece);
        }
    }

    /// Messages that were delivered, and are not marked on disk.
    pub(crate) fn delivered(&self) -> Vec<i64> {
        let state = self.0.lock();
        [&state.waiting.delivered[..], &state.taken_delivered[..]].concat()
    }

    /// Of messages of which some pieces were delivered, and that is not on disk, how many.
    pub(crate) fn progress(&self) -> Vec<(i64, u32)> {
        let state = self.0.lock();
        let taken = state.taken_progress.iter().copied();
        state.waiting.progress().chain(taken).collect()
    }

    /// The next write takes all marks of deliveries along.
    pub(crate) fn write_marks(&self) {
        self.0.lock().marks_are_due = true;
    }

    /// For whoever sees to it that none waits for long.
    pub(crate) fn look_at_marks(&self) -> WaitingMarks {
        let mut state = self.0.lock();
        if state.waiting.delivered.is_empty() && state.waiting.sent.is_empty() {
            state.scheduled = false;
            WaitingMarks::None
        } else if std::mem::replace(&mut state.marks_are_due, true) {
            WaitingMarks::Overdue
        } else {
            WaitingMarks::Due
        }
    }

    /// True if the caller is to see to it that the buffer is written soon.
    pub(crate) fn schedules_flush(&self) -> bool {
        !std::mem::replace(&mut self.0.lock().scheduled, true)
    }

    pub(crate) fn begin_scheduled_flush(&self) {
        let mut state = self.0.lock();
        state.scheduled = false;
        state.marks_are_due = true;
    }

    /// True if everything is on disk.
    pub(crate) fn is_written(&self) -> bool {
        let buffer = self.0.lock();
        buffer.waiting.count() == 0 && buffer.taken == 0
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

/// Records while they are being written. Unless the write commits they go back to the front of the
/// buffer.
pub(crate) struct Taken {
    buffer: Arc<Buffer>,
    records: Records,
    count: usize,
    delivered: Vec<i64>,
    progress: Vec<(i64, u32)>,
}

impl Buffer {
    pub(crate) fn take(self: &Arc<Self>) -> Taken {
        let mut state = self.0.lock();
        let mut records = std::mem::take(&mut state.waiting);
        let is_due = std::mem::take(&mut state.marks_are_due);
        if !is_due && records.delivered.len() < MARKS {
            state.waiting.delivered = std::mem::take(&mut records.delivered);
        }
        let count = records.count();
        state.bytes = 0;
        state.taken += count;
        state.taken_delivered.extend(&records.delivered);
        let progress: Vec<(i64, u32)> = records.progress().collect();
        state.taken_progress.extend(&progress);
        Taken {
            buffer: Arc::clone(self),
            delivered: records.delivered.clone(),
            progress,
            records,
            count,
        }
    }
}

impl Taken {
    pub(crate) fn write(&self, tx: &mut dyn Tx) -> Result<(), StoreError> {
        for reply in &self.records.replies {
            turns::write_reply(tx, reply)?;
        }
        calls::insert_all_recorded(tx, &self.records.calls)?;
        outbox::write_sent(tx, &self.records.sent)?;
        outbox::forget(tx, &self.records.delivered)?;
        if self.count > self.delivered.len() + self.records.sent.len() {
            crash_point("journal.before_flush_commit");
        }
        Ok(())
    }

    /// The write is committed.
    pub(crate) fn are_written(mut self) {
        let records = std::mem::take(&mut self.records);
        if !records.replies.is_empty() {
            crash_point("turn.after_reply");
        }
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        let mut state = self.buffer.0.lock();
        state.taken -= self.count;
        let done = &self.delivered;
        state.taken_delivered.retain(|id| !done.contains(id));
        let told = &self.progress;
        state.taken_progress.retain(|piece| !told.contains(piece));
        if self.records.count() == 0 {
            return;
        }
        let mut records = std::mem::take(&mut self.records);
        let mut newer = std::mem::take(&mut state.waiting);
        records.replies.append(&mut newer.replies);
        // What came meanwhile follows; a call that came twice keeps its first outcome.
        newer
            .calls
            .retain(|(new, _)| !records.calls.iter().any(|(old, _)| same(old, new)));
        records.calls.append(&mut newer.calls);
        records.delivered.append(&mut newer.delivered);
        records.sent.append(&mut newer.sent);
        state.waiting = records;
    }
}
