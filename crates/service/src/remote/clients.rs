//! `/clients`: who is connected, and whose keys there are. Everybody with a key may see who is here;
//! keys are made and taken away by the operator alone, and shown once.

use std::{sync::atomic::Ordering, time::Duration};

use serde_json::{Map, Value as Json, json};

use super::{
    Call, Namespace, Peer, Remote, Rights,
    debug::Level,
    newage::{fine, goodbye, named, operator, unstored, with_key},
    newage_texts, rooms,
};
use crate::Capability;

/// Changes within it are told together.
const TOGETHER: Duration = Duration::from_millis(20);

pub(super) fn namespace() -> Namespace {
    Namespace::new("/clients")
        .admits(with_key)
        .on_joined(moved)
        .on_left(moved)
        .on("GET_CLIENT_LIST", list)
        .on("UPDATE_CONNECTED_CLIENTS", list)
        .on("GET_ALL_CLIENT_KEYS", keys)
        .on("GET_CLIENT_KEY", key)
        .on("GENERATE_CLIENT_KEY", generate)
        .on("REMOVE_CLIENT_KEY", remove)
        // Compat(newage): its extension asks here for rooms, and reads a bare array.
        .on("GET_ROOMS", rooms::names)
        .on("GET_CLIENTS_IN_ROOM", rooms::clients_in)
        .on("CLIENT_DISCONNECTED", goodbye)
}

/// For a namespace where others should hear who comes and goes.
pub(super) async fn moved(remote: Remote, peer: Peer) {
    let verb = if peer.has_left() { "left" } else { "came to" };
    let line = format!("{} {verb} {}", peer.client(), peer.namespace());
    remote.newage().diary.note(Level::Info, line);
    changed(&remote);
}

/// Who is connected has changed, or what they may use: those who look on are told, soon.
pub(super) fn changed(remote: &Remote) {
    if remote.newage().announcing.swap(true, Ordering::AcqRel) {
        return;
    }
    let remote = remote.clone();
    tokio::spawn(async move {
        // A long list is told less often, so that many who come at once cost no more than a few.
        let many = remote.roster().clients().len() / 10;
        let wait = TOGETHER + Duration::from_millis(many as u64);
        tokio::time::sleep(wait).await;
        remote.newage().announcing.store(false, Ordering::Release);
        announce(&remote);
        rooms::policy::announce(&remote).await;
    });
}

fn announce(remote: &Remote) {
    let mut onlookers = remote.roster().everyone("/clients");
    onlookers.retain(|peer| peer.standing().may(Capability::Methods));
    if onlookers.is_empty() {
        return;
    }
    let clients = json!({ "clients": connected(remote) });
    for peer in onlookers {
        // Compat(newage): documents name the first, the extension listens to the second.
        for event in ["UPDATE_CONNECTED_CLIENTS", "CONNECTED_CLIENTS_UPDATE"] {
            let _ = peer.emit(event, std::slice::from_ref(&clients));
        }
    }
}

/// Compat(newage): in the spellings of the documents and of the extension.
fn connected(remote: &Remote) -> Json {
    let clients = remote.roster().clients();
    let known = clients.iter().filter(|peer| peer.rights() > Rights::Guest);
    known.map(shown).collect()
}

pub(super) fn shown(peer: &Peer) -> Json {
    json!({
        "id": peer.client(),
        "description": peer.description(),
        "clientId": peer.client(),
        "clientType": peer.kind(),
    })
}

async fn list(call: Call) -> Json {
    fine(json!({ "clients": connected(&call.remote) }))
}

/// All of them for the operator, and its own for any other. Compat(newage): the extension asks at
/// every start and shows a refusal as an error; what it is told here is the key's id.
async fn keys(call: Call) -> Result<Json, String> {
    let all = call.peer.standing().may(Capability::Operator);
    let mut keys = Map::new();
    for held in call.remote.clients().keys().await? {
        if all || held.client == call.peer.client() {
            let rooms = call.remote.store().rooms().of(&held.client).await;
            let rooms = rooms.map_err(unstored)?;
            keys.insert(held.client, json!({ "key": held.key, "rooms": rooms }));
        }
    }
    Ok(fine(json!({ "keys": keys })))
}

/// Only hashes are stored, and those are nobody's business.
pub(super) async fn key(call: Call) -> Result<Json, String> {
    let client = named(&call, &["clientId", "targetClientId", "identity"])?;
    if client != call.peer.client() {
        operator(&call)?;
    }
    Err(format!(
        "A key is shown once, when it is made. For a new one: GENERATE_CLIENT_KEY by the operator, \
         or `callgate client approve {client}`."
    ))
}

async fn generate(call: Call) -> Result<Json, String> {
    let client = named(&call, &["targetClientId", "targetIdentity", "clientId"])?;
    let key = call.remote.clients().issue(client).await?;
    Ok(fine(json!({ "key": key })))
}

async fn remove(call: Call) -> Result<Json, String> {
    let client = named(&call, &["targetClientId", "targetIdentity", "clientId"])?;
    if call.remote.clients().revoke(client).await? {
        Ok(fine(json!({})))
    } else {
        Err(newage_texts::NO_CLIENT_KEY.to_owned())
    }
}
