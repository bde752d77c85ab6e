//! [`Job`]: a closure that writes, on its way to whoever commits for all that wait. It runs once, and its
//! caller is answered after the commit. A caller that is gone by then has written all the same.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

use tokio::sync::oneshot;

use crate::{
    DatabaseError, StoreError,
    journal::{Buffer, Taken},
    tx::Tx,
};

pub(crate) trait Job: Send {
    /// False if it failed: then nothing of it may be committed.
    fn run(&mut self, tx: &mut dyn Tx) -> bool;

    /// Answers whoever waits. A job that was never run fails with why.
    fn answer(self: Box<Self>, committed: Result<(), DatabaseError>);
}

struct Closure<F, T> {
    work: Option<F>,
    /// Calls that are written before it: `None` for a read.
    buffer: Option<Arc<Buffer>>,
    taken: Option<Taken>,
    result: Option<Result<T, StoreError>>,
    waiting: oneshot::Sender<Result<T, StoreError>>,
}

/// The job, and where its answer comes in. What is in `buffer` when it runs is written first.
pub(crate) fn job<T, F>(buffer: Option<Arc<Buffer>>, work: F) -> (Box<dyn Job>, JobAnswer<T>)
where
    T: Send + 'static,
    F: FnOnce(&mut dyn Tx) -> Result<T, StoreError> + Send + 'static,
{
    // One answer, which comes from whichever thread commits.
    let (waiting, answer) = oneshot::channel();
    let job = Closure {
        work: Some(work),
        buffer,
        taken: None,
        result: None,
        waiting,
    };
    (Box::new(job), JobAnswer(answer))
}

pub(crate) struct JobAnswer<T>(oneshot::Receiver<Result<T, StoreError>>);

impl<T> JobAnswer<T> {
    pub(crate) async fn get(self) -> Result<T, StoreError> {
        // Dropped unanswered when the process ends.
        self.0.await.unwrap_or(Err(DatabaseError::Closed.into()))
    }
}

impl<F, T> Job for Closure<F, T>
where
    T: Send,
    F: FnOnce(&mut dyn Tx) -> Result<T, StoreError> + Send,
{
    fn run(&mut self, tx: &mut dyn Tx) -> bool {
        let Some(work) = self.work.take() else {
            return false;
        };
        // A panic is its caller's alone: the transaction is shared with others.
        let result = catch_unwind(AssertUnwindSafe(|| {
            let taken = self.buffer.as_ref().map(|buffer| buffer.take());
            if let Some(taken) = &taken {
                taken.write(tx)?;
            }
            Ok((work(tx)?, taken))
        }));
        let result = result.unwrap_or_else(|_| Err(DatabaseError::Panicked.into()));
        let succeeded = result.is_ok();
        self.result = Some(result.map(|(value, taken)| {
            self.taken = taken;
            value
        }));
        succeeded
    }

    fn answer(self: Box<Self>, committed: Result<(), DatabaseError>) {
        if let (Some(taken), Ok(())) = (self.taken, &committed) {
            taken.are_written();
        }
        let answer = match (self.result, committed) {
            (Some(Err(error)), _) => Err(error),
            (_, Err(error)) => Err(error.into()),
            (Some(Ok(value)), Ok(())) => Ok(value),
            (None, Ok(())) => Err(DatabaseError::Closed.into()),
        };
        // Whoever asked may have left.
        let _ = self.waiting.send(answer);
    }
}
