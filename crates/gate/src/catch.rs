//! A method's panic becomes an error without a task of its own: the call is polled in place on
//! the run's thread, where a spawn would cost more than the call.

use std::{
    any::Any,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::Pin,
    task::{Context, Poll},
};

use callgate_contract::BoxFuture;

/// Resolves to `Err(what the panic said)` if polling `0` panics, which is then never polled again.
pub(crate) struct CatchPanic<'a, T>(pub(crate) BoxFuture<'a, T>);

impl<T> Future for CatchPanic<'_, T> {
    type Output = Result<T, String>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        // Unwind safety: the future is dropped after a panic and what it borrowed is a method,
        // which must expect to be abandoned at any await anyway.
        match catch_unwind(AssertUnwindSafe(|| self.0.as_mut().poll(context))) {
            Ok(poll) => poll.map(Ok),
            Err(panic) => Poll::Ready(Err(message(panic.as_ref()))),
        }
    }
}

fn message(panic: &(dyn Any + Send)) -> String {
    if let Some(text) = panic.downcast_ref::<&str>() {
        (*text).to_owned()
    } else if let Some(text) = panic.downcast_ref::<String>() {
        text.clone()
    } else {
        "no message".to_owned()
    }
}
