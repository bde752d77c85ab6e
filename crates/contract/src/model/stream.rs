//! [`ModelStream`]: events one after another, out of a step function, without a crate for streams.

use std::{
    fmt,
    future::poll_fn,
    pin::Pin,
    task::{Context, Poll, ready},
};

use crate::{ModelError, ModelEvent};

type Item = Result<ModelEvent, ModelError>;

type PollNext = dyn FnMut(&mut Context<'_>) -> Poll<Option<Item>> + Send;

/// Dropping it cancels what is under way.
pub struct ModelStream(Box<PollNext>);

impl ModelStream {
    /// `step` takes the state and gives the next event with the state after it, or `None` at the
    /// end.
    pub fn new<S, F>(state: S, mut step: impl FnMut(S) -> F + Send + 'static) -> Self
    where
        S: Send + 'static,
        F: Future<Output = Option<(Item, S)>> + Send + 'static,
    {
        let mut state = Some(state);
        let mut running: Option<Pin<Box<F>>> = None;
        ModelStream(Box::new(move |context| {
            if let Some(state) = state.take() {
                running = Some(Box::pin(step(state)));
            }
            let Some(future) = &mut running else {
                return Poll::Ready(None);
            };
            let done = ready!(future.as_mut().poll(context));
            running = None;
            Poll::Ready(done.map(|(item, after)| {
                state = Some(after);
                item
            }))
        }))
    }

    /// Events that are all known already.
    pub fn of(events: Vec<ModelEvent>) -> Self {
        let mut events = events.into_iter();
        ModelStream(Box::new(move |_| Poll::Ready(events.next().map(Ok))))
    }

    /// The next event. Dropping this future loses nothing: the next call goes on where it was.
    pub async fn next(&mut self) -> Option<Item> {
        poll_fn(|context| (self.0)(context)).await
    }
}

impl fmt::Debug for ModelStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ModelStream")
    }
}
