//! Which SillyTavern clients a client may use: all, those the operator assigned, or one each. Kept
//! over restarts; computed from who is connected whenever it is asked for.

use std::{
    collections::BTreeMap,
    hash::{DefaultHasher, Hash, Hasher},
};

use callgate_store::StoreError;
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use super::word;
use crate::Capability;
use crate::remote::{
    Call, Namespace, Peer, Remote, clients,
    newage::{fine, named, unstored},
    newage_texts,
};

const POLICY: &str = "remote.policy";
const ASSIGNED: &str = "remote.assigned";
const POLICIES: &str = "Free, Manual, Balanced, Broadcast, Random";

/// Compat(newage): the word by which its extension calls itself.
pub(in crate::remote) const SILLY_TAVERN: &str = "SillyTavern";

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::remote) enum Policy {
    /// Every client may use every one, one at a time.
    #[default]
    Free,
    /// As the operator assigned.
    Manual,
    /// One for each client, in turn.
    Balanced,
    /// Every client may use every one; a request without a target goes to all.
    Broadcast,
    /// One for each client, by lot.
    Random,
}

type Assignments = BTreeMap<String, Vec<String>>;

pub(super) fn on(namespace: Namespace) -> Namespace {
    namespace
        .on("SET_CONNECTION_POLICY", set)
        .on("GET_CONNECTION_POLICY", get)
        .on("ASSIGN_EXTENSION_TO_CLIENT", assign)
        .on("GET_ASSIGNMENTS", all)
        .on("GET_ASSIGNMENTS_FOR_ROOM", of_room)
}

/// The SillyTavern clients that are ready for requests.
pub(in crate::remote) fn extensions(remote: &Remote) -> Vec<String> {
    let mut names: Vec<String> = remote
        .roster()
        .everyone("/llm")
        .iter()
        .filter_map(is_one)
        .collect();
    names.sort();
    names.dedup();
    names
}

fn is_one(peer: &Peer) -> Option<String> {
    let one = peer.kind() == SILLY_TAVERN && peer.standing().may(Capability::Methods);
    one.then(|| peer.client().to_owned())
}

/// The policy, and what `client` may use by it.
pub(in crate::remote) async fn usable(
    remote: &Remote,
    client: &str,
) -> Result<(Policy, Vec<String>), StoreError> {
    let (policy, assigned) = stored(remote).await?;
    let mut computed = assignments(remote, policy, assigned);
    let usable = computed.remove(client);
    // A client that has only just come, or speaks elsewhere than it listens.
    let usable = usable.unwrap_or_else(|| match policy {
        Policy::Manual => Vec::new(),
        _ => extensions(remote),
    });
    Ok((policy, usable))
}

/// Tells every client in `/rooms` what it may use now.
pub(in crate::remote) async fn announce(remote: &Remote) {
    let mut listening = remote.roster().everyone("/rooms");
    listening.retain(|peer| peer.standing().may(Capability::Methods));
    if listening.is_empty() {
        return;
    }
    let (policy, assigned) = match stored(remote).await {
        Ok(stored) => stored,
        Err(error) => return tracing::warn!(%error, "could not read the connection policy"),
    };
    let computed = assignments(remote, policy, assigned);
    for peer in listening {
        let extensions = computed.get(peer.client()).cloned().unwrap_or_default();
        let _ = peer.emit(
            "AVAILABLE_EXTENSIONS",
            &[json!({ "extensions": extensions })],
        );
    }
}

async fn stored(remote: &Remote) -> Result<(Policy, Assignments), StoreError> {
    let settings = remote.store().settings();
    let policy = settings.get(POLICY).await?.unwrap_or_default();
    let assigned = match policy {
        Policy::Manual => settings.get(ASSIGNED).await?.unwrap_or_default(),
        _ => Assignments::new(),
    };
    Ok((policy, assigned))
}

/// For every connected client that is none itself.
fn assignments(remote: &Remote, policy: Policy, mut assigned: Assignments) -> Assignments {
    let extensions = extensions(remote);
    let clients = remote.roster().clients();
    let clients = clients.iter().filter(|peer| is_one(peer).is_none());
    let one = |place: usize| extensions.get(place % extensions.len().max(1)).cloned();
    let mut computed = Assignments::new();
    for (place, peer) in clients.enumerate() {
        let client = peer.client().to_owned();
        let usable = match policy {
            Policy::Free | Policy::Broadcast => extensions.clone(),
            Policy::Manual => assigned.remove(&client).unwrap_or_default(),
            Policy::Balanced => one(place).into_iter().collect(),
            Policy::Random => one(lot(&client)).into_iter().collect(),
        };
        computed.insert(client, usable);
    }
    computed
}

/// The same for a client as long as the same others are there: an answer must not move.
fn lot(client: &str) -> usize {
    let mut hasher = DefaultHasher::new();
    client.hash(&mut hasher);
    usize::try_from(hasher.finish() >> 32).unwrap_or_default()
}

async fn set(call: Call) -> Result<Json, String> {
    let policy: Policy = word(&call, "policy", POLICIES)?;
    let settings = call.remote.store().settings();
    settings.set(POLICY, &policy).await.map_err(unstored)?;
    clients::changed(&call.remote);
    Ok(fine(json!({})))
}

async fn get(call: Call) -> Result<Json, String> {
    let (policy, _) = stored(&call.remote).await.map_err(unstored)?;
    Ok(fine(json!({ "policy": policy })))
}

async fn assign(call: Call) -> Result<Json, String> {
    let client = named(&call, &["clientRoom", "clientId", "identity"])?.to_owned();
    let extensions: Vec<String> = word(&call, "extensions", "a list of client ids")?;
    let (policy, mut assigned) = stored(&call.remote).await.map_err(unstored)?;
    if policy != Policy::Manual {
        return Err(newage_texts::NOT_IN_MANUAL_MODE.to_owned());
    }
    assigned.insert(client, extensions);
    let settings = call.remote.store().settings();
    settings.set(ASSIGNED, &assigned).await.map_err(unstored)?;
    clients::changed(&call.remote);
    Ok(fine(json!({})))
}

async fn all(call: Call) -> Result<Json, String> {
    let (policy, assigned) = stored(&call.remote).await.map_err(unstored)?;
    let assignments = assignments(&call.remote, policy, assigned);
    Ok(fine(json!({ "assignments": assignments })))
}

async fn of_room(call: Call) -> Result<Json, String> {
    let room = named(&call, &["roomName"])?;
    let (_, assignments) = usable(&call.remote, room).await.map_err(unstored)?;
    Ok(fine(json!({ "assignments": assignments })))
}
