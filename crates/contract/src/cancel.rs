//! [`Cancel`]: the word to stop, for runs, turns and calls, and for whatever they began.

use std::{
    fmt,
    sync::{Arc, Weak},
    task::Poll,
};

use parking_lot::Mutex;

/// Clones share one state; cancelling twice is harmless.
#[derive(Clone, Default)]
pub struct Cancel(Arc<Mutex<CancelState>>);

/// A mutex, since `cancel` and `on_cancel` race: the hook must run exactly once in either order.
#[derive(Default)]
struct CancelState {
    cancelled: bool,
    hook: Option<Box<dyn FnOnce() + Send>>,
    children: Vec<Weak<Mutex<CancelState>>>,
}

/// Children at which those that are gone are looked for.
const MANY_CHILDREN: usize = 8;

impl Cancel {
    pub fn cancel(&self) {
        let (hook, children) = {
            let mut state = self.0.lock();
            state.cancelled = true;
            (state.hook.take(), std::mem::take(&mut state.children))
        };
        if let Some(hook) = hook {
            hook();
        }
        for child in children.iter().filter_map(Weak::upgrade) {
            Cancel(child).cancel();
        }
    }

    pub fn is_cancelled(&self) -> bool {
        self.0.lock().cancelled
    }

    /// Runs `hook` on cancellation, at once if that has happened. For the backend's own use: it
    /// replaces the hook before.
    pub fn on_cancel(&self, hook: impl FnOnce() + Send + 'static) {
        {
            let mut state = self.0.lock();
            if !state.cancelled {
                state.hook = Some(Box::new(hook));
                return;
            }
        }
        hook();
    }

    /// Cancelled with this one, or alone.
    #[must_use]
    pub fn child(&self) -> Self {
        let child = Cancel::default();
        let mut state = self.0.lock();
        if state.cancelled {
            child.0.lock().cancelled = true;
            return child;
        }
        let children = &mut state.children;
        if children.len() >= MANY_CHILDREN && children.len() == children.capacity() {
            children.retain(|child| child.strong_count() > 0);
        }
        children.push(Arc::downgrade(&child.0));
        drop(state);
        child
    }

    /// Waits until it is cancelled.
    pub async fn cancelled(&self) {
        // A hook of its own, so that several can wait.
        let own = self.child();
        std::future::poll_fn(|context| {
            if own.is_cancelled() {
                return Poll::Ready(());
            }
            let waker = context.waker().clone();
            own.on_cancel(move || waker.wake());
            Poll::Pending
        })
        .await;
    }
}

impl fmt::Debug for Cancel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Cancel").field(&self.is_cancelled()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_below_is_cancelled_too_and_what_is_above_is_not() {
        let root = Cancel::default();
        let (one, other) = (root.child(), root.child());
        let below = one.child();
        one.cancel();
        assert!(below.is_cancelled() && !root.is_cancelled() && !other.is_cancelled());
        root.cancel();
        assert!(other.is_cancelled() && root.child().is_cancelled());
    }

    #[test]
    fn children_that_are_gone_are_forgotten() {
        let root = Cancel::default();
        let kept = root.child();
        for _ in 0..1_000 {
            drop(root.child());
        }
        assert!(root.0.lock().children.len() < 100);
        root.cancel();
        assert!(kept.is_cancelled());
    }
}
