//! `FUNCTION_PROGRESS {requestId, done, total?, text?}`: how far a call has come. A client tells it of
//! a function that it is asked for, and is told it of its own calls if it wants that.

use std::{collections::HashMap, sync::Arc};

use callgate_contract::{Onlooker, Progress};
use parking_lot::Mutex;
use serde::Deserialize;
use serde_json::{Value as Json, json};
use uuid::Uuid;

use super::{Call, Peer};

pub(super) const EVENT: &str = "FUNCTION_PROGRESS";

/// Calls of clients' functions that have no answer yet, each with the client that is asked and who
/// looks on. Clones share them; a mutex, held for a look.
#[derive(Clone, Default)]
pub(super) struct PendingCalls(Arc<Mutex<HashMap<Uuid, (Peer, Onlooker)>>>);

/// While it lives, what the client tells of the request is told.
pub(super) struct ProgressSubscription {
    request: Uuid,
    asking: PendingCalls,
}

impl PendingCalls {
    /// `None` if nobody wants to hear anything.
    pub(super) fn listen(
        &self,
        request: Uuid,
        peer: &Peer,
        onlooker: &Onlooker,
    ) -> Option<ProgressSubscription> {
        if onlooker.is_nobody() {
            return None;
        }
        self.0
            .lock()
            .insert(request, (peer.clone(), onlooker.clone()));
        Some(ProgressSubscription {
            request,
            asking: self.clone(),
        })
    }
}

impl Drop for ProgressSubscription {
    fn drop(&mut self) {
        self.asking.0.lock().remove(&self.request);
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ProgressReport {
    request_id: Uuid,
    #[serde(flatten)]
    progress: Progress,
}

/// A client tells of a function of its own; what it says of others' is nothing.
pub(super) async fn told(call: Call) {
    let Ok(told) = ProgressReport::deserialize(call.first()) else {
        return;
    };
    let asking = &call.remote.offers().asking;
    let found = asking.0.lock().get(&told.request_id).cloned();
    if let Some((peer, onlooker)) = found
        && peer == call.peer
    {
        onlooker.tell(told.progress);
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
