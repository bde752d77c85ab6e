//! The namespaces of SillyTavern-NewAge beside `/function_call`, and what they share: who may enter,
//! how a success is said, and the spellings in which clients name each other.

use std::sync::atomic::AtomicBool;

use serde_json::{Value as Json, json};

use super::{
    Call, Namespace, Peer, Remote, auth, clients,
    debug::{self, Diary},
    llm,
    newage_texts::{NOT_TRUSTED, UNAUTHORIZED},
    rooms, sillytavern,
};
use crate::Capability;

pub(super) fn namespaces() -> [Namespace; 6] {
    [
        auth::namespace(),
        clients::namespace(),
        rooms::namespace(),
        sillytavern::namespace(),
        llm::namespace(),
        debug::namespace(),
    ]
}

/// What these namespaces remember, for as long as the server runs.
#[derive(Default)]
pub(super) struct NewAge {
    /// Onlookers are about to be told who is here.
    pub(super) announcing: AtomicBool,
    pub(super) diary: Diary,
    pub(super) chat: llm::PendingRequests,
}

/// Whoever has a key may enter. One that the operator has not approved yet is good for nothing
/// until he does, and then at once.
pub(super) async fn with_key(_: Remote, peer: Peer) -> Result<(), String> {
    match peer.standing().key {
        Some(_) => Ok(()),
        None => Err(NOT_TRUSTED.to_owned()),
    }
}

/// For what an event does for everybody's own and only the operator may do for others. Compat(newage): it takes whoever says `monitor` for him.
pub(super) fn operator(call: &Call) -> Result<(), String> {
    let may = call.peer.standing().may(Capability::Operator);
    may.then_some(()).ok_or_else(|| UNAUTHORIZED.to_owned())
}

/// Compat(newage): its extension, which says goodbye in every namespace.
pub(super) async fn goodbye(call: Call) {
    call.peer.says_goodbye();
    call.peer.disconnect();
}

/// Of the many spellings, the first that is there: documents and clients disagree.
pub(super) fn named<'a>(call: &'a Call, spellings: &[&str]) -> Result<&'a str, String> {
    let mut found = spellings.iter().filter_map(|name| call.text(name));
    let name = found.next().map(str::trim).filter(|name| !name.is_empty());
    name.ok_or_else(|| format!("Say {} as text.", spellings.join(" or ")))
}

/// `{status: 'ok'}` and `fields`.
pub(super) fn fine(fields: Json) -> Json {
    let mut answer = json!({ "status": "ok" });
    if let (Some(answer), Json::Object(fields)) = (answer.as_object_mut(), fields) {
        answer.extend(fields);
    }
    answer
}

/// What a client is told of a failure of ours; the log has the rest.
pub(super) fn unstored(error: callgate_store::StoreError) -> String {
    use callgate_store::StoreError::{RoomName, TooMany};
    match error {
        RoomName | TooMany { .. } => error.to_string(),
        other => {
            tracing::warn!(error = %other, "the store failed a remote client");
            "The server could not store this.".to_owned()
        }
    }
}
