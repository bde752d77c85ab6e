//! Calls not yet on disk, and the one way they get there: at the front of the next write.

use std::sync::{Mutex, MutexGuard, PoisonError};

use sqlx::AnyConnection;

use super::{CallIntent, CallOutcome, rows};
use crate::{
    StoreError,
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
}

impl Buffer {
    /// Tells whether the buffer is full.
    pub(super) fn push(&self, call: CallIntent, outcome: CallOutcome) -> Result<bool, StoreError> {
        let mut buffer = self.lock();
        let key = (call.journal, call.sequence);
        let same = |(other, _): &(CallIntent, _)| (other.journal, other.sequence) == key;
        if buffer.calls.iter().any(same) {
            let (journal, sequence) = key;
            return Err(StoreError::AlreadyRecorded { journal, sequence });
        }
        buffer.bytes += call.arguments.len() + outcome.size();
        buffer.calls.push((call, outcome));
        Ok(buffer.calls.len() >= MAX_CALLS || buffer.bytes >= MAX_BYTES)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.lock().calls.is_empty()
    }

    fn lock(&self) -> MutexGuard<'_, Calls> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
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
}

impl<'a> Taken<'a> {
    fn from(buffer: &'a Buffer) -> Self {
        let mut held = buffer.lock();
        held.bytes = 0;
        let calls = std::mem::take(&mut held.calls);
        Taken { buffer, calls }
    }
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        if !self.calls.is_empty() {
            let mut held = self.buffer.lock();
            self.calls.append(&mut held.calls);
            held.calls = std::mem::take(&mut self.calls);
        }
    }
}

/// A write to the journal. It is a transaction where several rows must stand or fall together,
/// else a lone statement, which costs a third of one.
pub(super) struct Write<'a> {
    writer: Writer<'a>,
    taken: Taken<'a>,
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
        for (call, outcome) in &taken.calls {
            rows::insert_recorded(writer.connection(), call, outcome).await?;
        }
        Ok(Write {
            writer,
            taken,
            transaction,
        })
    }

    pub(super) fn connection(&mut self) -> &mut AnyConnection {
        self.writer.connection()
    }

    pub(super) async fn commit(mut self) -> Result<(), StoreError> {
        match self.transaction {
            true => self.writer.commit().await?,
            false => self.writer.release(),
        }
        self.taken.calls.clear();
        Ok(())
    }

    pub(super) async fn rollback(self) -> Result<(), StoreError> {
        match self.transaction {
            true => self.writer.rollback().await,
            false => {
                self.writer.release();
                Ok(())
            }
        }
    }
}
