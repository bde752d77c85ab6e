//! A panic in a handler is an answer like any other failure, never the end of a task that serves
//! others.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    pin::Pin,
    task::{Context, Poll},
};

use callgate_contract::BoxFuture;

#[derive(Clone, Copy, Debug)]
pub(super) struct Panicked;

/// `future`, whose panic becomes `Err`.
pub(super) fn quietly<'a, T>(future: BoxFuture<'a, T>) -> Quietly<'a, T> {
    Quietly(future)
}

pub(super) struct Quietly<'a, T>(BoxFuture<'a, T>);

impl<T> Future for Quietly<'_, T> {
    type Output = Result<T, Panicked>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        // Unwind safety: a future that panicked is never polled again, and what it shares is
        // behind locks that ignore poison.
        match catch_unwind(AssertUnwindSafe(|| self.0.as_mut().poll(context))) {
            Ok(poll) => poll.map(Ok),
            Err(_) => Poll::Ready(Err(Panicked)),
        }
    }
}
