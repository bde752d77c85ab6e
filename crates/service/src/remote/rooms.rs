//! `/rooms`: rooms, who is in them with which role, how their requests are handled, and which
//! SillyTavern clients a client may use. Members are clients by their ids, or single instances of them by
//! their identities, which nobody else can bear; the operator may do everything, a room's master and
//! managers what concerns their room.

mod members;
pub(super) mod policy;

use callgate_store::{Room, RoomMember, RoomMode, RoomRole};
use serde::de::DeserializeOwned;
use serde_json::{Value as Json, json};

use super::{
    Call, Namespace, Peer, Remote, Rights, clients,
    newage::{fine, goodbye, named, operator, unstored, with_key},
    newage_texts::UNAUTHORIZED,
};

pub(super) fn namespace() -> Namespace {
    let namespace = Namespace::new("/rooms")
        .admits(with_key)
        .on_joined(clients::moved)
        .on_left(clients::moved)
        .on("GET_ROOMS", list)
        .on("GET_CLIENTS_IN_ROOM", clients_in)
        .on("CREATE_ROOM", create)
        .on("DELETE_ROOM", delete)
        .on("SET_ROOM_MESSAGE_REQUEST_MODE", set_mode)
        .on("CLIENT_DISCONNECTED", goodbye);
    policy::on(members::on(namespace))
}

async fn list(call: Call) -> Result<Json, String> {
    let rooms = call.remote.store().rooms().list().await.map_err(unstored)?;
    Ok(fine(json!({ "rooms": rooms })))
}

pub(super) async fn names(call: Call) -> Result<Json, String> {
    let rooms = call.remote.store().rooms().list().await;
    rooms.map(|rooms| json!(rooms)).map_err(unstored)
}

pub(super) async fn clients_in(call: Call) -> Result<Json, String> {
    let room = room(&call).await?;
    let roster = call.remote.roster();
    let shown = |member: &RoomMember| {
        let name = &member.identity;
        let here = ["/rooms", "/llm"].map(|namespace| roster.bearing(namespace, name));
        let mut client = match here.iter().flatten().next() {
            Some(peer) => clients::shown(peer),
            None => json!({ "clientType": "unknown" }),
        };
        // Compat(newage): a member is named by its identity, also where clients read `clientId`.
        for field in ["id", "clientId", "identity"] {
            client[field] = json!(name);
        }
        client["role"] = json!(member.role);
        client
    };
    let clients: Vec<Json> = room.members.iter().map(shown).collect();
    Ok(fine(json!({ "clients": clients })))
}

/// The operator makes any room; a client one that bears its own name. No room bears another's: what a
/// client says outside rooms is kept under its name.
async fn create(call: Call) -> Result<Json, String> {
    let name = named(&call, &["roomName"])?;
    if name != call.peer.client() && name != call.peer.identity() {
        operator(&call)?;
    }
    let store = call.remote.store();
    let owner = store.client_names().owner(name).await.map_err(unstored)?;
    if owner.is_some_and(|owner| owner != call.peer.user()) {
        return Err(format!(
            "'{name}' is the id of a client, which alone makes a room of it."
        ));
    }
    let rooms = store.rooms();
    if rooms
        .create(name, call.peer.identity())
        .await
        .map_err(unstored)?
    {
        Ok(fine(json!({})))
    } else {
        Err("Room already exists".to_owned())
    }
}

async fn delete(call: Call) -> Result<Json, String> {
    let room = room(&call).await?;
    if role_in(&call.peer, &room) != Some(RoomRole::Master) {
        operator(&call)?;
    }
    let members = call.remote.store().rooms().delete(&room.name).await;
    let members = members.map_err(unstored)?.ok_or("Room not found")?;
    let message = format!("Room \"{}\" has been deleted.", room.name);
    for member in members {
        let notice = json!({ "roomName": room.name, "message": message });
        tell(
            &call.remote,
            "/rooms",
            &member.identity,
            "DELETE_ROOM",
            notice,
        );
    }
    Ok(fine(json!({})))
}

async fn set_mode(call: Call) -> Result<Json, String> {
    let room = room(&call).await?;
    manages(&call.peer, &room)?;
    let mode: RoomMode = word(&call, "mode", MODES)?;
    call.remote
        .store()
        .rooms()
        .set_mode(&room.name, mode)
        .await
        .map_err(unstored)?;
    let changed = json!({ "roomName": room.name, "mode": mode, "setter": call.peer.identity() });
    for namespace in ["/rooms", "/llm"] {
        tell_all(
            &call.remote,
            namespace,
            &room,
            "ROOM_MODE_CHANGED",
            &changed,
        );
    }
    Ok(fine(json!({})))
}

const MODES: &str = "Immediate, HostSubmit, MasterOnly, Conversational";

/// The room that the call names.
pub(super) async fn room(call: &Call) -> Result<Room, String> {
    let name = named(call, &["roomName", "targetRoom"])?;
    let room = call.remote.store().rooms().get(name).await;
    room.map_err(unstored)?
        .ok_or_else(|| "Room not found".to_owned())
}

/// One of few words at `field`.
fn word<T: DeserializeOwned>(call: &Call, field: &str, words: &str) -> Result<T, String> {
    let said = call.first().get(field).cloned().unwrap_or_default();
    serde_json::from_value(said).map_err(|_| format!("Invalid {field}. Say one of: {words}."))
}

/// The operator, the room's master, its managers.
pub(super) fn manages(peer: &Peer, room: &Room) -> Result<RoomRole, String> {
    match (peer.rights(), role_in(peer, room)) {
        (Rights::Operator, _) | (_, Some(RoomRole::Master)) => Ok(RoomRole::Master),
        (_, Some(RoomRole::Manager)) => Ok(RoomRole::Manager),
        _ => Err(UNAUTHORIZED.to_owned()),
    }
}

/// As whom the peer is in the room: its instance, or its client as a whole.
pub(super) fn member_of<'a>(peer: &Peer, room: &'a Room) -> Option<&'a RoomMember> {
    room.member(peer.identity())
        .or_else(|| room.member(peer.client()))
}

pub(super) fn role_in(peer: &Peer, room: &Room) -> Option<RoomRole> {
    member_of(peer, room).map(|member| member.role)
}

/// Tells every socket in `namespace` that bears the name of `member`.
pub(super) fn tell(remote: &Remote, namespace: &str, member: &str, event: &str, data: Json) {
    for peer in remote.roster().bearing(namespace, member) {
        // Who has left need not know.
        let _ = peer.emit(event, std::slice::from_ref(&data));
    }
}

/// Tells every member of the room that is in `namespace`.
pub(super) fn tell_all(remote: &Remote, namespace: &str, room: &Room, event: &str, data: &Json) {
    let names = room.members.iter().map(|member| member.identity.as_str());
    for peer in all_bearing(remote, namespace, names) {
        let _ = peer.emit(event, std::slice::from_ref(data));
    }
}

/// Each socket once, also where both its client and its instance are named.
pub(super) fn all_bearing<'a>(
    remote: &Remote,
    namespace: &str,
    names: impl Iterator<Item = &'a str>,
) -> Vec<Peer> {
    let mut peers: Vec<Peer> = names
        .flat_map(|name| remote.roster().bearing(namespace, name))
        .collect();
    peers.sort_by_key(Peer::number);
    peers.dedup();
    peers
}
