//! Who is being answered on the control socket, so that nobody is cut off when the owner ends.

use std::sync::Arc;

use tokio::sync::watch;

/// Counts requests in progress. A watch, since closing must neither miss a visitor that has just
/// come nor shut the door on one: both change the same state.
pub(super) struct ActiveRequests(watch::Sender<RequestCount>);

#[derive(Default)]
struct RequestCount {
    inside: usize,
    ever: bool,
    closed: bool,
}

pub(super) struct ActiveRequest(Arc<ActiveRequests>);

impl Default for ActiveRequests {
    fn default() -> Self {
        ActiveRequests(watch::Sender::new(RequestCount::default()))
    }
}

impl ActiveRequests {
    pub(super) fn enter(self: &Arc<Self>) -> Option<ActiveRequest> {
        let open = self.0.send_if_modified(|state| {
            if !state.closed {
                state.inside += 1;
                state.ever = true;
            }
            !state.closed
        });
        open.then(|| ActiveRequest(Arc::clone(self)))
    }

    /// Returns when nobody is inside and nobody can come any more; true if somebody ever came.
    pub(super) async fn leave(&self) -> bool {
        let mut changes = self.0.subscribe();
        loop {
            let closed = self.0.send_if_modified(|state| {
                state.closed = state.inside == 0;
                state.closed
            });
            if closed {
                return self.0.borrow().ever;
            }
            // We hold the sender, so there is always one.
            let _ = changes.wait_for(|state| state.inside == 0).await;
        }
    }
}

impl Drop for ActiveRequest {
    fn drop(&mut self) {
        self.0.0.send_modify(|state| state.inside -= 1);
    }
}
