//! `/rooms`: rooms, who is in them with which role, how their requests are handled, and which
//! SillyTavern clients a client may use. Members are clients by their verified ids; the operator may
//! do everything, a room's master and managers what concerns their room.

mod members;
pub(super) mod policy;

use callgate_store::{Room, RoomMode, RoomRole};
use serde::de::DeserializeOwned;
use serde_json::{Value as Json, json};

use super::{
    Call, Namespace, Peer, Remote, Rights, clients,
    newage::{UNAUTHORIZED, fine, goodbye, named, operator, trusted, unstored, with_key},
};

pub(super) fn namespace() -> Namespace {
    let namespace = Namespace::new("/rooms")
        .admits(with_key)
        .on_joined(clients::moved)
        .on_left(clients::moved)
        .on("GET_ROOMS", trusted(list))
        .on("GET_CLIENTS_IN_ROOM", trusted(clients_in))
        .on("CREATE_ROOM", trusted(create))
        .on("DELETE_ROOM", trusted(delete))
        .on("SET_ROOM_MESSAGE_REQUEST_MODE", trusted(set_mode))
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
    let shown = |client: &str| match call.remote.roster().sockets(client).first() {
        Some(peer) => clients::shown(peer),
        None => json!({ "id": client, "clientId": client, "clientType": "unknown" }),
    };
    let clients: Vec<Json> = room
        .members
        .iter()
        .map(|member| {
            let mut client = shown(&member.identity);
            client["role"] = json!(member.role);
            client
        })
        .collect();
    Ok(fine(json!({ "clients": clients })))
}

/// The operator makes any room; a client one that bears its own name.
async fn create(call: Call) -> Result<Json, String> {
    let name = named(&call, &["roomName"])?;
    if name != call.peer.client() {
        operator(&call)?;
    }
    let rooms = call.remote.store().rooms();
    match rooms
        .create(name, call.peer.client())
        .await
        .map_err(unstored)?
    {
        true => Ok(fine(json!({}))),
        false => Err("Room already exists".to_owned()),
    }
}

async fn delete(call: Call) -> Result<Json, String> {
    let room = room(&call).await?;
    if room.role_of(call.peer.client()) != Some(RoomRole::Master) {
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
    let changed = json!({ "roomName": room.name, "mode": mode, "setter": call.peer.client() });
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
    match (peer.rights(), room.role_of(peer.client())) {
        (Rights::Operator, _) | (_, Some(RoomRole::Master)) => Ok(RoomRole::Master),
        (_, Some(RoomRole::Manager)) => Ok(RoomRole::Manager),
        _ => Err(UNAUTHORIZED.to_owned()),
    }
}

/// Tells every socket that `client` has in `namespace`.
pub(super) fn tell(remote: &Remote, namespace: &str, client: &str, event: &str, data: Json) {
    for peer in remote.roster().of(namespace, client) {
        // Who has left need not know.
        let _ = peer.emit(event, std::slice::from_ref(&data));
    }
}

/// Tells every member of the room that is in `namespace`.
pub(super) fn tell_all(remote: &Remote, namespace: &str, room: &Room, event: &str, data: &Json) {
    for member in &room.members {
        tell(remote, namespace, &member.identity, event, data.clone());
    }
}
