//! `FUNCTION_PROGRESS {requestId, done, total?, text?}`: how far a call has come. A client tells it of
//! a function that it is asked for, and is told it of its own calls if it wants that.

use std::{collections::HashMap, sync::Arc};

use callgate_contract::{Onlooker, Progress};
use parking_lot::Mutex;
use serde::Deserialize;
use serde_json::{Value as Json, json};

use super::Peer;

pub const EVENT: &str = "FUNCTION_PROGRESS";

/// Calls of clients' functions that have no answer yet, by request id. Clones share them; a mutex,
/// held for a look.
#[derive(Clone, Default)]
pub(super) struct PendingCalls(Arc<Mutex<HashMap<String, Vec<Arc<PendingCall>>>>>);

struct PendingCall {
    /// The sockets that are asked.
    sockets: Vec<Peer>,
    onlooker: Onlooker,
}

/// While it lives, what the client tells of the request is told.
pub(super) struct ProgressSubscription {
    request: String,
    call: Arc<PendingCall>,
    pending: PendingCalls,
}

impl PendingCalls {
    /// `None` if nobody wants to hear anything.
    pub(super) fn listen(
        &self,
        request: &Json,
        sockets: &[Peer],
        onlooker: &Onlooker,
    ) -> Option<ProgressSubscription> {
        if onlooker.is_nobody() {
            return None;
        }
        let request = request.to_string();
        let call = Arc::new(PendingCall {
            sockets: sockets.to_vec(),
            onlooker: onlooker.clone(),
        });
        let mut pending = self.0.lock();
        pending
            .entry(request.clone())
            .or_default()
            .push(call.clone());
        drop(pending);
        Some(ProgressSubscription {
            request,
            call,
            pending: self.clone(),
        })
    }

    /// Of several calls under one id it cannot be told whose progress it is.
    fn of(&self, request: &Json, peer: &Peer) -> Option<Arc<PendingCall>> {
        let pending = self.0.lock();
        let calls = pending.get(&request.to_string())?.iter();
        let mut asked = calls.filter(|call| call.sockets.contains(peer));
        asked.next().filter(|_| asked.next().is_none()).cloned()
    }
}

impl Drop for ProgressSubscription {
    fn drop(&mut self) {
        let mut pending = self.pending.0.lock();
        if let Some(calls) = pending.get_mut(&self.request) {
            calls.retain(|call| !Arc::ptr_eq(call, &self.call));
            if calls.is_empty() {
                pending.remove(&self.request);
            }
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ProgressReport {
    request_id: Json,
    #[serde(flatten)]
    progress: Progress,
}

impl Peer {
    /// The client tells of a function of its own; what it says of others' is nothing. At once, like
    /// [`Peer::answered`], by which it would otherwise be overtaken.
    pub fn progressed(&self, data: &Json) {
        let Ok(report) = ProgressReport::deserialize(data) else {
            return;
        };
        let pending = &self.remote().offers().asking;
        if let Some(call) = pending.of(&report.request_id, self) {
            call.onlooker.tell(report.progress);
        }
    }
}

/// Tells the client of a call that it makes.
pub(super) fn of_call(peer: &Peer, request: &Json) -> Onlooker {
    let (peer, request) = (peer.clone(), request.clone());
    Onlooker::new(move |progress| {
        let mut told = json!(progress);
        told["requestId"] = request.clone();
        // Whoever has left hears nothing.
        let _ = peer.emit(EVENT, &[told]);
    })
}
