//! `/llm`: requests for a model's answer, answered by a SillyTavern client or by our own agent, and
//! what is said in rooms. A request's answer goes to whoever asked, and to the room it was asked in;
//! nobody answers a request that was not put to them.

mod agent;
mod answer;
mod order;
mod request;
mod stream;
mod talk;

use serde_json::{Value as Json, json};

pub use self::agent::Outlet;
pub(super) use self::{
    agent::{NAME as SERVER, deliver_waiting},
    request::PendingRequests,
    talk::{SYSTEM, notice},
};
use super::{
    Call, Namespace, Peer, Remote, Rights, clients,
    newage::{goodbye, with_key},
    newage_texts,
};
use crate::Capability;

/// Compat(newage): the number of a whole message, not streamed.
const NON_STREAM: u64 = 0;

pub(super) fn namespace() -> Namespace {
    let namespace = Namespace::new("/llm")
        .admits(with_key)
        .on_joined(joined)
        .on_left(left)
        .on("LLM_REQUEST", request::received)
        .on("message", message)
        .on("ERROR", failed)
        .on("CLIENT_DISCONNECTED", goodbye);
    talk::on(stream::on(answer::on(namespace)))
}

async fn joined(remote: Remote, peer: Peer) {
    clients::moved(remote.clone(), peer.clone()).await;
    if peer.rights() > Rights::Guest {
        let_in(&remote, &peer);
    }
}

/// What waits for a client goes to it as soon as it is known to be that client.
pub(super) fn let_in(remote: &Remote, peer: &Peer) {
    if peer.namespace() == "/llm" {
        remote.newage().chat.catch_up(peer);
        agent::catch_up(remote, peer);
    }
}

async fn left(remote: Remote, peer: Peer) {
    let roster = remote.roster();
    if peer.rights() > Rights::Guest {
        if roster.of("/llm", peer.client()).is_empty() {
            answer::abandoned(&remote, peer.client());
        }
        if roster.bearing("/llm", peer.identity()).is_empty() {
            talk::went_quiet(&remote, peer.identity()).await;
        }
    }
    clients::moved(remote, peer).await;
}

/// A whole answer, or a client that wants to know whether it is heard.
async fn message(call: Call) {
    let data = call.text("data").unwrap_or_default();
    if data == "Connection active?" {
        let reply = json!({
            "type": NON_STREAM,
            "data": newage_texts::CONNECTION_ALIVE,
            "source": "server",
            "requestId": call.first().get("requestId"),
            "outputId": uuid::Uuid::now_v7(),
        });
        let _ = call.peer.emit("message", &[reply]);
    } else if call.peer.standing().may(Capability::Methods) && is_number(call.first(), NON_STREAM) {
        answer::whole(&call, data);
    }
}

/// The answer will not come.
async fn failed(call: Call) {
    let reason = call.text("error").or(call.text("message"));
    answer::failed(&call, reason.unwrap_or("It gave no reason."));
}

fn is_number(data: &Json, number: u64) -> bool {
    data.get("type").and_then(Json::as_u64) == Some(number)
}
