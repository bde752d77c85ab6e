//! Calls not yet on disk, and the one way they get there: at the front of the next write.

use parking_lot::Mutex;

use super::{CallIntent, CallOutcome, calls};
use crate::{
    StoreError,
    connection::Connection,
    database::{Database, Writer},
};

/// Past these the buffer is written without waiting for a durable call.
const MAX_CALLS: usize = 128;
const MAX_BYTES: usize = 1 << 20;

/// A plain mutex: it is held for a push or a swap, never across an await.
#[derive(Default)]
pub(super) struct Buffer(Mutex<Calls>);

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
/// front of the buffer, also when the future that wrote them is dropped.
struct Taken<'a> {
    buffer: &'a Buffer,
    calls: Vec<(CallIntent, CallOutcome)>,
    count: usize,
}

impl<'a> Taken<'a> {
    fn from(buffer: &'a Buffer) -> Self {
        let mut held = buffer.0.lock();
        let calls = std::mem::take(&mut held.calls);
        let count = calls.len();
        held.bytes = 0;
        held.taken += count;
        Taken {
            buffer,
            calls,
            count,
        }
    }

    fn are_written(mut self) {
        self.calls.clear();
    }
}

impl Drop for Taken<'_> {
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

/// A write to the journal. It is a transaction where several rows must stand or fall together,
/// else a lone statement, which costs a third of one.
pub(crate) struct Write<'a> {
    // Invariant: dropped before the writer, so that the next write finds the calls put back.
    taken: Taken<'a>,
    writer: Writer<'a>,
    transaction: bool,
}

impl<'a> Write<'a> {
    pub(super) async fn begin(
        database: &'a Database,
        buffer: &'a Buffer,
        transaction: bool,
    ) -> Result<Self, StoreError> {
        let mut writer = database.writer().await?;
        let taken = Taken::from(buffer);
        let transaction = transaction || !taken.calls.is_empty();
        if transaction {
            writer.begin().await?;
        }
        calls::insert_all_recorded(writer.connection(), &taken.calls).await?;
        Ok(Write {
            taken,
            writer,
            transaction,
        })
    }

    pub(crate) fn connection(&mut self) -> &mut Connection {
        self.writer.connection()
    }

    /// For what may take its time.
    pub(crate) async fn without_deadline(&mut self) -> Result<(), StoreError> {
        self.writer.without_deadline().await?;
        Ok(())
    }

    pub(crate) async fn commit(mut self) -> Result<(), StoreError> {
        if self.transaction {
            self.writer.commit_and_keep().await?;
        }
        self.taken.are_written();
        self.writer.release();
        Ok(())
    }

    pub(crate) async fn rollback(self) -> Result<(), StoreError> {
        drop(self.taken);
        if self.transaction {
            self.writer.rollback().await
        } else {
            self.writer.release();
            Ok(())
        }
    }
}
