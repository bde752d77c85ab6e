//! Members of rooms: in, out, roles, silence. A manager may not touch the master or other managers.

use callgate_store::{Room, RoomRole};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value as Json, json};

use super::{manages, room, tell, word};
use crate::remote::{
    Call, Namespace, Remote, llm,
    newage::{fine, named, unstored},
    newage_texts::{self, UNAUTHORIZED},
};

const ROLES: &str = "master, manager, guest";

pub(super) fn on(namespace: Namespace) -> Namespace {
    namespace
        .on("ADD_CLIENT_TO_ROOM", add)
        .on("REMOVE_CLIENT_FROM_ROOM", remove)
        .on("KICK_MEMBER", kick)
        .on("SET_MEMBER_ROLE", set_role)
        .on("MUTE_MEMBER", mute)
        .on("UNMUTE_MEMBER", unmute)
}

/// Compat(newage): documents say `identity`, the extension `clientId`, some events `target...`.
fn member(call: &Call) -> Result<&str, String> {
    named(
        call,
        &["targetIdentity", "identity", "targetClientId", "clientId"],
    )
}

/// May the caller do something to a member of this role, or make one?
fn may(call: &Call, room: &Room, role: RoomRole) -> Result<(), String> {
    match manages(&call.peer, room)? {
        RoomRole::Master => Ok(()),
        _ if role == RoomRole::Guest => Ok(()),
        _ => Err(UNAUTHORIZED.to_owned()),
    }
}

/// The member that the call names, which the caller may do something to.
async fn subject(call: &Call) -> Result<(Room, String), String> {
    let room = room(call).await?;
    let member = member(call)?.to_owned();
    // First, so that a stranger does not learn who is in.
    manages(&call.peer, &room)?;
    let role = room
        .role_of(&member)
        .ok_or("The room has no such member.")?;
    may(call, &room, role)?;
    Ok((room, member))
}

async fn add(call: Call) -> Result<Json, String> {
    let room = room(&call).await?;
    let role = match call.first().get("role") {
        None | Some(Json::Null) => RoomRole::Guest,
        Some(_) => word(&call, "role", ROLES)?,
    };
    may(&call, &room, role)?;
    let client = member(&call)?;
    let rooms = call.remote.store().rooms();
    if !rooms
        .join(&room.name, client, role)
        .await
        .map_err(unstored)?
    {
        return Err("Failed to add client to room: it is in it.".to_owned());
    }
    announce(&call.remote, &room, client, "MEMBER_JOINED", Some(role));
    announce_role(&call.remote, &room, client, role);
    let role = json!(role).to_string().replace('"', "");
    let text = newage_texts::joined(client, &role);
    llm::notice(&call.remote, &room.name, &text).await;
    Ok(fine(json!({})))
}

async fn remove(call: Call) -> Result<Json, String> {
    let (room, client) = subject(&call).await?;
    if client == room.name {
        return Err("Invalid operation: it is the client's own room.".to_owned());
    }
    leave(&call.remote, &room, &client).await
}

async fn kick(call: Call) -> Result<Json, String> {
    let (room, client) = subject(&call).await?;
    let answer = leave(&call.remote, &room, &client).await?;
    let message = format!("You have been kicked from room {}.", room.name);
    let warning = json!({ "message": message });
    tell(&call.remote, "/rooms", &client, "WARNING", warning);
    Ok(answer)
}

async fn leave(remote: &Remote, room: &Room, client: &str) -> Result<Json, String> {
    let rooms = remote.store().rooms();
    if !rooms.leave(&room.name, client).await.map_err(unstored)? {
        return Err("The room has no such member.".to_owned());
    }
    announce(remote, room, client, "MEMBER_LEFT", None);
    let text = format!("[System] {client} has left the room.");
    llm::notice(remote, &room.name, &text).await;
    Ok(fine(json!({})))
}

async fn set_role(call: Call) -> Result<Json, String> {
    let (room, client) = subject(&call).await?;
    let role: RoomRole = word(&call, "role", ROLES)?;
    may(&call, &room, role)?;
    let rooms = call.remote.store().rooms();
    rooms
        .set_role(&room.name, &client, role)
        .await
        .map_err(unstored)?;
    announce_role(&call.remote, &room, &client, role);
    announce(&call.remote, &room, &client, "SET_MEMBER_ROLE", Some(role));
    Ok(fine(json!({})))
}

/// The end of time, to the second: the store keeps milliseconds, and what lies beyond it cannot be read.
const FOREVER: Timestamp = Timestamp::constant(253_402_207_200, 0);

async fn mute(call: Call) -> Result<Json, String> {
    let (room, client) = subject(&call).await?;
    // Zero and less mean for good.
    let seconds = call.first().get("durationSeconds").and_then(Json::as_i64);
    let seconds = seconds.filter(|seconds| *seconds > 0);
    let until = seconds
        .and_then(|seconds| {
            Timestamp::now()
                .checked_add(SignedDuration::from_secs(seconds))
                .ok()
        })
        .map_or(FOREVER, |until| until.min(FOREVER));
    let rooms = call.remote.store().rooms();
    rooms
        .mute(&room.name, &client, Some(until))
        .await
        .map_err(unstored)?;
    let muted = json!({
        "identity": client,
        "mutedBy": call.peer.identity(),
        "mutedUntil": until.to_string(),
        "duration": seconds.map_or(json!("permanent"), Json::from),
        "roomName": room.name,
    });
    tell(&call.remote, "/llm", &client, "MEMBER_MUTED", muted);
    Ok(fine(json!({})))
}

async fn unmute(call: Call) -> Result<Json, String> {
    let (room, client) = subject(&call).await?;
    let rooms = call.remote.store().rooms();
    rooms
        .mute(&room.name, &client, None)
        .await
        .map_err(unstored)?;
    let unmuted = json!({
        "identity": client,
        "unmutedBy": call.peer.identity(),
        "roomName": room.name,
    });
    tell(&call.remote, "/llm", &client, "MEMBER_UNMUTED", unmuted);
    Ok(fine(json!({})))
}

/// To the room's master and managers.
fn announce(remote: &Remote, room: &Room, client: &str, event: &str, role: Option<RoomRole>) {
    let hosts = room.members.iter();
    for host in hosts.filter(|member| member.role > RoomRole::Guest) {
        let data = about(room, client, role);
        tell(remote, "/rooms", &host.identity, event, data);
    }
}

/// To the member itself.
fn announce_role(remote: &Remote, room: &Room, client: &str, role: RoomRole) {
    let data = about(room, client, Some(role));
    tell(remote, "/rooms", client, "MEMBER_ROLE_CHANGED", data);
}

fn about(room: &Room, client: &str, role: Option<RoomRole>) -> Json {
    let mut data = json!({ "clientId": client, "identity": client, "roomName": room.name });
    if let Some(role) = role {
        data["role"] = json!(role);
    }
    data
}
