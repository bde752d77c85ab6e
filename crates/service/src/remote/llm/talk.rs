//! What is said in a room, as its members see it: kept, shown page by page, changed by whoever said
//! it or manages the room. Also who is typing, which is not kept.

use callgate_store::{NewRoomMessage, Room, RoomMessage};
use jiff::Timestamp;
use serde_json::{Map, Value as Json, json};
use uuid::Uuid;

use super::request::place;
use crate::remote::{
    Call, Namespace, Remote, Rights,
    newage::{fine, unstored},
    newage_texts::{self, UNAUTHORIZED},
    rooms::{manages, role_in, tell_all},
};

/// Compat(newage): messages of one page.
const PAGE: usize = 50;
const MAX_CONTEXT: u32 = 5_000;
/// Who says what nobody said.
pub(in crate::remote) const SYSTEM: &str = "System";

pub(super) fn on(namespace: Namespace) -> Namespace {
    namespace
        .on("EDIT_MESSAGE", edit)
        .on("DELETE_MESSAGE", delete)
        .on("CLEAR_MESSAGES", clear)
        .on("GET_FULL_CONTEXT", context)
        .on("GET_OFFLINE_MESSAGES", context)
        .on("START_TYPING", async |call| is(call, "typing").await)
        .on("STOP_TYPING", async |call| is(call, "idle").await)
        .on("START_PROCESSING", async |call| {
            is(call, "processing").await
        })
        .on("STOP_PROCESSING", async |call| is(call, "idle").await)
}

/// A system's message in the room.
pub(in crate::remote) async fn notice(remote: &Remote, room: &str, text: &str) {
    let mut body = Map::new();
    body.insert("data".to_owned(), json!(text));
    body.insert("role".to_owned(), json!("system"));
    body.insert("isSystem".to_owned(), json!(true));
    let said = NewRoomMessage {
        identity: SYSTEM.to_owned(),
        is_response: false,
        waiting: false,
        body,
    };
    // What it is about has happened all the same.
    let _ = say(remote, room, said).await;
}

/// Keeps it and shows it to the room.
pub(super) async fn say(
    remote: &Remote,
    place: &str,
    said: NewRoomMessage,
) -> Result<Uuid, String> {
    let rooms = remote.store().rooms();
    let message = rooms.say(place, said).await.map_err(unstored)?;
    show(
        remote,
        place,
        "NEW_MESSAGE",
        json!({ "message": shown(&message) }),
    )
    .await;
    Ok(message.id)
}

/// Lays `fields` over a message and shows it to the room.
pub(super) async fn change(
    remote: &Remote,
    place: &str,
    id: Uuid,
    fields: Map<String, Json>,
) -> Result<(), String> {
    let rooms = remote.store().rooms();
    let message = rooms.edit(place, id, fields).await.map_err(unstored)?;
    let message = message.ok_or(newage_texts::NOT_EDITED)?;
    show(
        remote,
        place,
        "MESSAGE_UPDATED",
        json!({ "message": shown(&message) }),
    )
    .await;
    Ok(())
}

/// Takes back what was said.
pub(super) async fn withdraw(remote: &Remote, place: &str, id: Uuid) {
    // A failing store is what it may be taken back for; then it stays.
    let removed = remote.store().rooms().remove(place, &[id]).await;
    if removed.is_ok_and(|removed| !removed.is_empty()) {
        let gone = json!({ "messageIds": [id] });
        show(remote, place, "MESSAGES_DELETED", gone).await;
    }
}

/// As clients read it.
pub(super) fn shown(message: &RoomMessage) -> Json {
    let mut shown = message.body.clone();
    let kind = if message.is_response {
        "isResponse"
    } else {
        "fromClient"
    };
    for (name, value) in [
        ("messageId", json!(message.id)),
        ("identity", json!(message.identity)),
        ("timestamp", json!(message.at)),
        (kind, json!(message.identity != SYSTEM)),
    ] {
        shown.insert(name.to_owned(), value);
    }
    if message.is_response {
        shown.insert("responseId".to_owned(), json!(message.id));
    }
    if let Some(at) = message.edited_at {
        shown.insert("lastEdited".to_owned(), json!(at));
    }
    Json::Object(shown)
}

/// To the members of a room; a client's own place needs no showing.
async fn show(remote: &Remote, place: &str, event: &str, mut data: Json) {
    data["roomName"] = json!(place);
    if let Ok(Some(room)) = remote.store().rooms().get(place).await {
        tell_all(remote, "/llm", &room, event, &data);
    }
}

/// The place that the call names, if the caller is in it.
async fn own_place(call: &Call) -> Result<Room, String> {
    let room = place(call).await?;
    let member = role_in(&call.peer, &room).is_some();
    if member || call.peer.rights() == Rights::Operator {
        Ok(room)
    } else {
        Err(newage_texts::not_a_member(&room.name))
    }
}

/// Said by the caller, or in a room that it manages.
async fn may_change(call: &Call, room: &Room, id: Uuid) -> Result<(), String> {
    if manages(&call.peer, room).is_ok() {
        return Ok(());
    }
    let message = call.remote.store().rooms().message(&room.name, id).await;
    match message.map_err(unstored)? {
        Some(message) if message.identity == call.peer.identity() => Ok(()),
        _ => Err(UNAUTHORIZED.to_owned()),
    }
}

async fn edit(call: Call) -> Result<Json, String> {
    let room = own_place(&call).await?;
    let id = call.text("messageId").and_then(|id| id.parse().ok());
    let id = id.ok_or(newage_texts::NOT_EDITED)?;
    let fields = call.first().get("updatedFields").and_then(Json::as_object);
    let fields = fields.ok_or(newage_texts::NOTHING_TO_EDIT)?;
    may_change(&call, &room, id).await?;
    change(&call.remote, &room.name, id, fields.clone()).await?;
    Ok(fine(json!({})))
}

async fn delete(call: Call) -> Result<Json, String> {
    let room = own_place(&call).await?;
    let ids = match call.first().get("messageIds") {
        Some(Json::Array(ids)) => ids.iter().collect(),
        Some(id @ Json::String(_)) => vec![id],
        _ => return Err(newage_texts::NOTHING_TO_DELETE.to_owned()),
    };
    let read = |id: &Json| id.as_str()?.parse().ok();
    let ids: Vec<Uuid> = ids.into_iter().filter_map(read).collect();
    for id in &ids {
        may_change(&call, &room, *id).await?;
    }
    let removed = call.remote.store().rooms().remove(&room.name, &ids).await;
    let removed = removed.map_err(unstored)?;
    if removed.is_empty() {
        return Ok(fine(
            json!({ "message": "No matching messages found to delete." }),
        ));
    }
    let gone = json!({ "messageIds": removed });
    show(&call.remote, &room.name, "MESSAGES_DELETED", gone).await;
    Ok(fine(json!({})))
}

async fn clear(call: Call) -> Result<Json, String> {
    let room = own_place(&call).await?;
    manages(&call.peer, &room)?;
    let wants = |field| {
        call.first()
            .get(field)
            .and_then(Json::as_bool)
            .unwrap_or(true)
    };
    let rooms = call.remote.store().rooms();
    let mut cleared = [false; 2];
    for (responses, field) in [(false, "clearRequests"), (true, "clearResponses")] {
        if wants(field) {
            let count = rooms.clear(&room.name, responses).await.map_err(unstored)?;
            cleared[usize::from(responses)] = count > 0;
        }
    }
    let [requests, responses] = cleared;
    let told = json!({ "clearedRequests": requests, "clearedResponses": responses });
    show(&call.remote, &room.name, "MESSAGES_CLEARED", told).await;
    Ok(fine(json!({})))
}

/// Everything that was said, in pages, to the socket that asked.
async fn context(call: Call) -> Result<Json, String> {
    let room = own_place(&call).await?;
    let messages = call
        .remote
        .store()
        .rooms()
        .messages(&room.name, MAX_CONTEXT)
        .await;
    let messages: Vec<Json> = messages.map_err(unstored)?.iter().map(shown).collect();
    let (update, total) = (Uuid::now_v7(), messages.len().div_ceil(PAGE).max(1));
    let mut pages = messages.chunks(PAGE);
    for number in 1..=total {
        let page = json!({
            "updateId": update,
            "roomName": room.name,
            "pageNumber": number,
            "totalPages": total,
            "isLastPage": number == total,
            "contextPage": pages.next().unwrap_or_default(),
        });
        if call.peer.ready().await.is_err()
            || call.peer.emit("UPDATE_CONTEXT_PAGE", &[page]).is_err()
        {
            break;
        }
    }
    Ok(fine(json!({})))
}

/// Tells the room what the caller is doing.
async fn is(call: Call, status: &str) -> Result<Json, String> {
    let room = own_place(&call).await?;
    status_of(&call.remote, &room, call.peer.identity(), status);
    Ok(fine(json!({})))
}

fn status_of(remote: &Remote, room: &Room, client: &str, status: &str) {
    let update = json!({
        "identity": client,
        "roomName": room.name,
        "status": status,
        "timestamp": Timestamp::now(),
    });
    tell_all(remote, "/llm", room, "MEMBER_STATUS_UPDATE", &update);
}

/// Its last socket is gone, and with it whatever it was doing.
pub(super) async fn went_quiet(remote: &Remote, client: &str) {
    let rooms = remote.store().rooms();
    for name in rooms.of(client).await.unwrap_or_default() {
        if let Ok(Some(room)) = rooms.get(&name).await {
            status_of(remote, &room, client, "idle");
        }
    }
}
