//! Requests for an answer: who may ask whom, in which room, and what is under way. Compat(newage):
//! the callback only says that the request was taken; the answer comes by itself.

use std::{
    collections::{HashMap, VecDeque},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use callgate_contract::Role;
use callgate_store::{NewRoomMessage, Room, RoomMessage, RoomMode, RoomRole};
use jiff::Timestamp;
use parking_lot::Mutex;
use serde_json::{Map, Value as Json, json};

use super::{agent, answer::Output, stream::Streams, talk};
use crate::remote::{
    Call, Peer, Remote, Rights,
    newage::{fine, unstored},
    newage_texts,
    rooms::{
        self,
        policy::{Policy, usable},
    },
};

/// Without a word from either side; and for one that was answered, in case more follows.
const EXPIRES: Duration = Duration::from_secs(600);
const LINGERS: Duration = Duration::from_secs(60);
/// Requests of one client that are under way, answers to one request, and what is kept for a client
/// that is away.
const MAX_ASKED: usize = 256;
const MAX_OUTPUTS: usize = 16;
const MAX_MISSED: usize = 100;
/// Messages of a room that go along with a request.
const CONTEXT: u32 = 200;

/// What is under way. Plain mutexes, held for a lookup.
#[derive(Default)]
pub(in crate::remote) struct PendingRequests {
    asked: Mutex<HashMap<(String, String), Arc<PendingRequest>>>,
    missed: Mutex<HashMap<String, VecDeque<(String, Json)>>>,
    pub(super) streams: Streams,
    pub(super) current: agent::Current,
}

/// One request to one that is to answer it.
pub(super) struct PendingRequest {
    pub(super) asker: String,
    pub(super) answerer: String,
    /// As the asker wrote it.
    pub(super) id: Json,
    /// The room, or the asker's own place, which bears its name.
    pub(super) place: String,
    pub(super) mode: RoomMode,
    outputs: Mutex<HashMap<String, Arc<Output>>>,
    open: AtomicBool,
    answered: AtomicBool,
    touched: Mutex<Instant>,
}

impl PendingRequest {
    /// The answer of this name; `None` if there are too many.
    pub(super) fn output(&self, name: &str) -> Option<Arc<Output>> {
        let mut outputs = self.outputs.lock();
        let many = outputs.len() >= MAX_OUTPUTS;
        if many && !outputs.contains_key(name) {
            return None;
        }
        Some(outputs.entry(name.to_owned()).or_default().clone())
    }

    /// It is neither refused nor forgotten.
    pub(super) fn is_open(&self) -> bool {
        let lasts = if self.is_answered() { LINGERS } else { EXPIRES };
        self.open.load(Ordering::Relaxed) && self.touched.lock().elapsed() < lasts
    }

    fn is_answered(&self) -> bool {
        self.answered.load(Ordering::Relaxed)
    }

    pub(super) fn set_answered(&self) {
        self.answered.store(true, Ordering::Relaxed);
    }

    /// The sockets of whoever asked, and of the room as it is now.
    pub(super) async fn hearers(&self, remote: &Remote) -> Vec<Peer> {
        let others = self.others(remote).await;
        let names = others.iter().chain([&self.asker]).map(String::as_str);
        rooms::all_bearing(remote, "/llm", names)
    }

    /// As [`PendingRequest::hearers`]; for whoever asked it is kept if they are away.
    pub(super) async fn tell(&self, remote: &Remote, event: &str, data: Json) {
        let others = self.others(remote).await;
        for peer in rooms::all_bearing(remote, "/llm", others.iter().map(String::as_str)) {
            // Whoever asked is told below, or finds it later.
            if peer.identity() != self.asker && peer.client() != self.asker {
                let _ = peer.emit(event, std::slice::from_ref(&data));
            }
        }
        remote.newage().chat.send(remote, &self.asker, event, data);
    }

    async fn others(&self, remote: &Remote) -> Vec<String> {
        let room = remote.store().rooms().get(&self.place).await;
        let members = room.ok().flatten().map(|room| room.members);
        let names = members.into_iter().flatten().map(|member| member.identity);
        names.filter(|name| *name != self.asker).collect()
    }

    fn key(&self) -> (String, String) {
        (self.answerer.clone(), self.id.to_string())
    }
}

impl PendingRequests {
    /// What `answerer` was asked under this request id.
    pub(super) fn find(&self, answerer: &str, id: &Json) -> Option<Arc<PendingRequest>> {
        let key = (answerer.to_owned(), id.to_string());
        let asked = self.asked.lock().get(&key).cloned()?;
        *asked.touched.lock() = Instant::now();
        Some(asked)
    }

    /// What `answerer` was asked and has not answered.
    pub(super) fn of(&self, answerer: &str) -> Vec<Arc<PendingRequest>> {
        let asked = self.asked.lock();
        let of = asked.values().filter(|asked| asked.answerer == answerer);
        of.filter(|asked| !asked.is_answered()).cloned().collect()
    }

    pub(super) fn forget(&self, asked: &PendingRequest) {
        asked.open.store(false, Ordering::Relaxed);
        self.asked.lock().remove(&asked.key());
    }

    fn enter(&self, new: PendingRequest) -> Result<Arc<PendingRequest>, String> {
        let mut all = self.asked.lock();
        all.retain(|_, asked| asked.is_open());
        let of_asker = all.values().filter(|asked| asked.asker == new.asker);
        if of_asker.filter(|asked| !asked.is_answered()).count() >= MAX_ASKED {
            return Err("Too many of your requests are under way.".to_owned());
        }
        let key = new.key();
        if all.get(&key).is_some_and(|asked| asked.asker != new.asker) {
            return Err(
                "Another client uses this requestId. Choose one that is unique.".to_owned(),
            );
        }
        let new = Arc::new(new);
        all.insert(key, new.clone());
        Ok(new)
    }

    /// To the client's sockets; kept for it if it has none just now.
    pub(super) fn send(&self, remote: &Remote, client: &str, event: &str, data: Json) {
        let peers = remote.roster().bearing("/llm", client);
        let mut told = false;
        for peer in peers {
            told |= peer.emit(event, std::slice::from_ref(&data)).is_ok();
        }
        if !told {
            let mut missed = self.missed.lock();
            let kept = missed.entry(client.to_owned()).or_default();
            kept.push_back((event.to_owned(), data));
            if kept.len() > MAX_MISSED {
                kept.pop_front();
            }
        }
    }

    /// What the client missed while it was away.
    pub(super) fn catch_up(&self, peer: &Peer) {
        for name in [peer.identity(), peer.client()] {
            let missed = self.missed.lock().remove(name);
            for (event, data) in missed.into_iter().flatten() {
                let _ = peer.emit(&event, &[data]);
            }
        }
    }
}

/// An id that clients write as text or as a number.
pub(super) fn text_of(id: &Json) -> Option<String> {
    match id {
        Json::String(text) if text.len() <= 256 => Some(text.clone()),
        Json::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// A request as it arrived and was found in order.
struct ParsedRequest {
    id: Json,
    data: Map<String, Json>,
    text: String,
    /// Who speaks in the text: of several, the least of their roles.
    role: Role,
    /// Their ids; none leaves it to us.
    targets: Vec<String>,
    room: Option<Room>,
    place: String,
}

pub(super) async fn received(call: Call) -> Result<Json, String> {
    let mut wanted = read(&call).await?;
    let mode = wanted
        .room
        .as_ref()
        .map_or(RoomMode::Immediate, |room| room.mode);
    let role = wanted
        .room
        .as_ref()
        .and_then(|room| rooms::role_in(&call.peer, room));
    let host = role.is_none_or(|role| role > RoomRole::Guest);
    let waits = mode == RoomMode::HostSubmit && !host;
    let kept = match mode {
        _ if waits => Some("Request queued: it goes out with the next one of a host."),
        RoomMode::MasterOnly if !host => {
            Some("Message kept: in this room only its master or a manager may ask.")
        }
        RoomMode::Conversational if wanted.targets.is_empty() => Some("Message kept."),
        _ => None,
    };
    // Before anything is said: a request that is refused leaves nothing in the room.
    let recipients = if kept.is_none() {
        recipients(&call, &wanted.targets).await?
    } else {
        Recipients::default()
    };
    let body = {
        let mut body = wanted.data.clone();
        body.insert("data".to_owned(), json!(wanted.text));
        body
    };
    let said = NewRoomMessage {
        identity: call.peer.identity().to_owned(),
        is_response: false,
        waiting: waits,
        body,
    };
    let message = talk::say(&call.remote, &wanted.place, said).await?;
    let taken = |message: &str| Ok(fine(json!({ "message": message })));
    if let Some(kept) = kept {
        return taken(kept);
    }
    if let (RoomMode::HostSubmit, Some(room)) = (mode, &wanted.room) {
        let guests = call.remote.store().rooms().submit(&room.name).await;
        let guests = guests.map_err(unstored)?;
        if !guests.is_empty() {
            wanted.role = Role::Member;
        }
        wanted.text = merged(&guests, &wanted.text);
    }
    if let Err(reason) = send(&call, &wanted, recipients, mode).await {
        talk::withdraw(&call.remote, &wanted.place, message).await;
        return Err(reason);
    }
    taken("Request received.")
}

async fn read(call: &Call) -> Result<ParsedRequest, String> {
    let data = call.fields().cloned().ok_or(newage_texts::BAD_REQUEST)?;
    let id = data.get("requestId").filter(|id| text_of(id).is_some());
    let id = id.ok_or("Say requestId as text.")?.clone();
    let text = ["message", "data"].iter().find_map(|name| call.text(name));
    let text = text
        .ok_or("Say what you want to be answered in message.")?
        .to_owned();
    let targets = match data.get("target") {
        None | Some(Json::Null) => Vec::new(),
        Some(Json::String(target)) => vec![target.clone()],
        Some(target) => serde_json::from_value(target.clone())
            .map_err(|_| "target is a client's id or a list of them.")?,
    };
    let own = call.peer.client();
    let room = match data.get("targetRoom") {
        None | Some(Json::Null) => None,
        Some(Json::String(name)) => {
            let room = call
                .remote
                .store()
                .rooms()
                .get(name)
                .await
                .map_err(unstored)?;
            let member = room
                .as_ref()
                .and_then(|room| rooms::member_of(&call.peer, room));
            let is_own = room.is_none() && (name == own || name == call.peer.identity());
            if member.is_none() && !is_own {
                return Err(newage_texts::NOT_YOUR_ROOM.to_owned());
            }
            let muted = member.and_then(|member| member.muted_until);
            if muted.is_some_and(|until| until > Timestamp::now()) {
                return Err(newage_texts::MUTED.to_owned());
            }
            room
        }
        Some(_) => return Err(newage_texts::NOT_YOUR_ROOM.to_owned()),
    };
    let place = room.as_ref().map_or(own, |room| &room.name).to_owned();
    let role = match call.peer.rights() {
        Rights::Operator => Role::Operator,
        Rights::Guest | Rights::Client => Role::Member,
    };
    Ok(ParsedRequest {
        id,
        data,
        text,
        role,
        targets,
        room,
        place,
    })
}

/// What guests said before, and then what the host says.
fn merged(guests: &[RoomMessage], host: &str) -> String {
    let guests = guests
        .iter()
        .filter_map(|message| message.body.get("data")?.as_str());
    let texts: Vec<&str> = guests.chain([host]).map(str::trim).collect();
    texts.join("\n\n")
}

/// Whom a request goes to.
#[derive(Default)]
struct Recipients {
    agent: bool,
    clients: Vec<String>,
}

async fn recipients(call: &Call, named: &[String]) -> Result<Recipients, String> {
    let (policy, usable) = usable(&call.remote, call.peer.client())
        .await
        .map_err(unstored)?;
    let targets = match (named, policy) {
        ([], Policy::Broadcast) => usable.clone(),
        ([], _) => usable.iter().take(1).cloned().collect(),
        (named, _) => named.to_vec(),
    };
    let empty = targets.is_empty();
    let (ours, clients): (Vec<_>, Vec<_>) = targets
        .into_iter()
        .partition(|target| target == agent::NAME);
    if let Some(unknown) = clients.iter().find(|target| !usable.contains(target)) {
        return Err(format!("Target client not found: {unknown}"));
    }
    let agent = empty || !ours.is_empty();
    Ok(Recipients { agent, clients })
}

async fn send(
    call: &Call,
    wanted: &ParsedRequest,
    recipients: Recipients,
    mode: RoomMode,
) -> Result<(), String> {
    let asker = call.peer.identity();
    let asked = |answerer: &str| {
        call.remote.newage().chat.enter(PendingRequest {
            asker: asker.to_owned(),
            answerer: answerer.to_owned(),
            id: wanted.id.clone(),
            place: wanted.place.clone(),
            mode,
            outputs: Mutex::default(),
            open: AtomicBool::new(true),
            answered: AtomicBool::new(false),
            touched: Mutex::new(Instant::now()),
        })
    };
    for target in &recipients.clients {
        let asked = asked(target)?;
        let request = for_extension(call, wanted, &asked).await?;
        // Several sockets of one client would each answer; the newest is alive.
        let newest = call.remote.roster().of("/llm", target).pop();
        if newest.is_none_or(|peer| peer.emit("LLM_REQUEST", &[request]).is_err()) {
            call.remote.newage().chat.forget(&asked);
            return Err(format!("Target client not found: {target}"));
        }
    }
    if recipients.agent {
        let ParsedRequest {
            room, text, role, ..
        } = wanted;
        agent::ask(call, asked(agent::NAME)?, room.as_ref(), text, *role).await?;
    }
    Ok(())
}

/// Compat(newage): what the shipped extension reads, and what newer ones do, in one.
async fn for_extension(
    call: &Call,
    wanted: &ParsedRequest,
    asked: &PendingRequest,
) -> Result<Json, String> {
    let rooms = call.remote.store().rooms();
    let context = rooms
        .messages(&wanted.place, CONTEXT)
        .await
        .map_err(unstored)?;
    let context: Vec<Json> = context.iter().map(talk::shown).collect();
    let mut current = wanted.data.clone();
    current.insert("identity".to_owned(), json!(asked.asker));
    current.insert("fromClient".to_owned(), json!(true));
    current.insert("data".to_owned(), json!(wanted.text));
    let mut request = wanted.data.clone();
    for (name, value) in [
        ("requestId", wanted.id.clone()),
        ("message", json!(wanted.text)),
        ("target", json!(asked.answerer)),
        ("mode", json!(asked.mode)),
        ("targetRoom", json!(wanted.place)),
        ("requestingIdentity", json!(asked.asker)),
        ("currentRequest", json!(current)),
        ("context", json!(context)),
    ] {
        request.insert(name.to_owned(), value);
    }
    request
        .entry("requestType")
        .or_insert_with(|| json!("newMessage"));
    if asked.mode == RoomMode::Conversational {
        request.insert("type".to_owned(), json!("DIRECT_REQUEST"));
    }
    Ok(Json::Object(request))
}

/// The room that a call names, or the caller's own place, of which it is the master.
pub(super) async fn place(call: &Call) -> Result<Room, String> {
    let own = call.peer.client();
    let named = call.text("roomName").or(call.text("targetRoom"));
    if named.is_some_and(|name| name == own || name == call.peer.identity())
        && let Ok(None) = call.remote.store().rooms().get(own).await
    {
        let master = callgate_store::RoomMember {
            identity: own.to_owned(),
            role: RoomRole::Master,
            muted_until: None,
        };
        return Ok(Room {
            name: own.to_owned(),
            mode: RoomMode::Immediate,
            members: vec![master],
        });
    }
    rooms::room(call).await
}
