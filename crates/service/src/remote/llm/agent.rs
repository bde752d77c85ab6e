//! Our own agent as one that answers: a request becomes a message of the client's session, or of the
//! room's, and what the turn sends goes back as answers. What finds nobody connected stays in the
//! outbox and goes out when somebody comes.

use std::{collections::HashMap, sync::Arc, time::Duration};

use callgate_agent::{Override, TurnEvent, Watch};
use callgate_contract::{
    BoxFuture, DeliveryError, Mode, Outbox, Part, Piece, Receipt, Role, SessionKey, SessionType,
};
use callgate_store::{Incoming, NewRoomMessage, Room, Sender, Store, StoreError};
use parking_lot::Mutex;
use serde_json::{Map, json};
use uuid::Uuid;

use super::{
    super::identity::PLATFORM,
    NON_STREAM,
    answer::{refuse, status},
    request::PendingRequest,
    stream::Stream,
    talk,
};
use crate::remote::{Call, Peer, Remote, rooms};

/// As which clients name it: requests to the server itself are ours to answer.
pub(in crate::remote) const NAME: &str = "server";

/// Compat(newage): taken once it is stored, answered later.
pub(super) async fn ask(
    call: &Call,
    asked: Arc<PendingRequest>,
    room: Option<&Room>,
    text: &str,
    role: Role,
) -> Result<(), String> {
    let (remote, peer) = (call.remote.clone(), &call.peer);
    let Some(agent) = remote.agent().cloned() else {
        remote.newage().chat.forget(&asked);
        return Err("No model answers yet: the server is starting.".to_owned());
    };
    let session = match room {
        Some(room) => SessionKey::new(PLATFORM, SessionType::GroupMessage, &room.name),
        None => Ok(peer.session().clone()),
    };
    let session = session.map_err(|error| error.to_string())?;
    let incoming = Incoming {
        session: session.clone(),
        sender: Sender {
            id: peer.user(),
            name: peer.identity().to_owned(),
        },
        parts: vec![Part::text(text)],
        // A request that is repeated, after a broken connection say, is the same message.
        message_id: Some(format!("{}:{}", peer.client(), asked.id)),
        hidden: false,
        mentioned: true,
        sent_at: None,
    };
    let overrule = Override {
        principal: Some(peer.principal()),
        role: Some(role),
        key: peer.standing().key.clone(),
        debounce: Some(Duration::ZERO),
        ..Override::default()
    };
    let answering = AnswerGuard::enter(&remote, &session, &asked).await;
    let accepted = agent.accept(incoming, overrule, answering.watch()).await;
    let accepted = accepted.map_err(|error| {
        tracing::error!(%session, %error, "could not store a remote request");
        remote.newage().chat.forget(&asked);
        "The message could not be stored: send it again. The server's log says why.".to_owned()
    })?;
    tokio::spawn(async move {
        let arrived = accepted.outcome().await;
        if arrived.is_ok() {
            agent.deliver(&session).await;
        }
        drop(answering);
        match arrived {
            Ok(_) => {
                remote.newage().chat.forget(&asked);
                status(&remote, &asked, None, "completed");
            }
            Err(error) => {
                tracing::warn!(%session, %error, "remote request failed");
                refuse(&remote, &asked, &error.to_string());
            }
        }
    });
    Ok(())
}

/// The requests that our agent is answering, by session and in order.
pub(super) type Current = Mutex<HashMap<SessionKey, Vec<Arc<RequestTurn>>>>;

/// One request while it is answered. Words are shown while they come: a plugin's, and in tool mode
/// the model's. What code mode's model writes is mostly code, and only what it sends is for people.
pub(super) struct RequestTurn {
    remote: Remote,
    asked: Arc<PendingRequest>,
    hearers: Vec<Peer>,
    mode: Mode,
    live: Mutex<LiveMessage>,
}

/// The message on its way, to those who read streams.
struct LiveMessage {
    output: String,
    streams: Vec<Stream>,
    /// Code mode's model has the word.
    writes_code: bool,
}

impl Default for LiveMessage {
    fn default() -> Self {
        LiveMessage {
            output: Uuid::now_v7().to_string(),
            streams: Vec::new(),
            writes_code: false,
        }
    }
}

impl RequestTurn {
    /// Of the message that goes out now; what is said from here on belongs to the next.
    fn output(&self) -> String {
        let mut live = self.live.lock();
        let next = LiveMessage {
            writes_code: live.writes_code,
            ..LiveMessage::default()
        };
        std::mem::replace(&mut *live, next).output
    }

    fn hear(&self, event: &TurnEvent) {
        let mut live = self.live.lock();
        match event {
            TurnEvent::Text { .. } if live.writes_code => {}
            TurnEvent::Text { text } => {
                if live.streams.is_empty() {
                    let about = json!({
                        "streamId": live.output,
                        "outputId": live.output,
                        "requestId": self.asked.id,
                        "source": "server",
                    });
                    let open = |peer| Stream::open(&self.remote, peer, &about);
                    live.streams = self.hearers.iter().map(open).collect();
                }
                live.streams.iter().for_each(|stream| stream.write(text));
            }
            // What was said so far was not the answer.
            TurnEvent::Round { .. } | TurnEvent::Restarted => {
                *live = LiveMessage {
                    writes_code: self.mode == Mode::Code,
                    ..LiveMessage::default()
                }
            }
            TurnEvent::Code { .. } => live.writes_code = false,
            TurnEvent::Finished { .. } => *live = LiveMessage::default(),
            _ => {}
        }
    }
}

/// While it lives, what leaves the session answers its request.
struct AnswerGuard {
    session: SessionKey,
    turn: Arc<RequestTurn>,
}

impl AnswerGuard {
    async fn enter(remote: &Remote, session: &SessionKey, asked: &Arc<PendingRequest>) -> Self {
        let mode = mode_of(remote.store(), session).await.unwrap_or_default();
        let turn = Arc::new(RequestTurn {
            remote: remote.clone(),
            asked: asked.clone(),
            hearers: asked.hearers(remote).await,
            mode,
            live: Mutex::default(),
        });
        let mut current = remote.newage().chat.current.lock();
        let turns = current.entry(session.clone()).or_default();
        turns.push(turn.clone());
        AnswerGuard {
            session: session.clone(),
            turn,
        }
    }

    fn watch(&self) -> Watch {
        let turn = self.turn.clone();
        Watch::new(move |event| turn.hear(&event))
    }
}

impl Drop for AnswerGuard {
    fn drop(&mut self) {
        let mut current = self.turn.remote.newage().chat.current.lock();
        if let Some(turns) = current.get_mut(&self.session) {
            turns.retain(|turn| !Arc::ptr_eq(turn, &self.turn));
            if turns.is_empty() {
                current.remove(&self.session);
            }
        }
    }
}

/// In which the session's next turn will be.
async fn mode_of(store: &Store, session: &SessionKey) -> Result<Mode, StoreError> {
    if let Some(mode) = store.settings().session(session).await?.value.mode {
        return Ok(mode);
    }
    let conversations = store.conversations();
    let current = conversations.current(session).await?;
    let conversation = conversations.get_or_create(session, current).await?;
    let persona = store.personas().answering(&conversation).await?;
    Ok(persona.map_or_else(Mode::default, |persona| persona.mode))
}

/// What was handed to a connection takes so long at most to leave this process, and nobody tells when it has.
/// Only then it counts as delivered: whatever is killed before tells it again.
const LEAVES_WITHIN: Duration = Duration::from_millis(50);

/// Where messages to remote clients leave: to the sockets of the session's client, or of its room.
#[derive(Clone)]
pub struct Outlet(pub(crate) Remote);

impl Outlet {
    /// Are messages of this session for remote clients?
    pub fn serves(&self, session: &SessionKey) -> bool {
        session.platform() == PLATFORM
    }
}

impl Outbox for Outlet {
    fn deliver<'a>(&'a self, piece: Piece<'a>) -> BoxFuture<'a, Result<Receipt, DeliveryError>> {
        Box::pin(async move {
            let told = deliver(&self.0, piece).await;
            let unreachable = |reason| DeliveryError::Unreachable { reason };
            told.map(|()| Receipt::default()).map_err(unreachable)
        })
    }
}

/// The sockets of those a session's messages are for.
async fn hearers_of(remote: &Remote, session: &SessionKey) -> Result<Vec<Peer>, StoreError> {
    let names: Vec<String> = match session.kind() {
        SessionType::GroupMessage => {
            let room = remote.store().rooms().get(session.id()).await?;
            let members = room.map(|room| room.members).unwrap_or_default();
            members.into_iter().map(|member| member.identity).collect()
        }
        _ => vec![session.id().to_owned()],
    };
    let names = names.iter().map(String::as_str);
    Ok(rooms::all_bearing(remote, "/llm", names))
}

async fn deliver(remote: &Remote, piece: Piece<'_>) -> Result<(), String> {
    let hearers = hearers_of(remote, piece.session).await;
    let hearers = hearers.map_err(|error| error.to_string())?;
    let turn = remote
        .newage()
        .chat
        .current
        .lock()
        .get(piece.session)
        .and_then(|turns| turns.first().cloned());
    let request = turn.as_ref().map(|turn| turn.asked.id.clone());
    let output = turn.map_or_else(|| format!("message-{}", piece.id), |turn| turn.output());
    let words: Vec<_> = piece.parts.iter().filter_map(Part::words).collect();
    let data = words.join("\n");
    let told = json!({
        "type": NON_STREAM,
        "data": data,
        "parts": piece.parts,
        "source": "server",
        "requestId": request,
        "outputId": output,
        // The same if it is told again after a crash, when nobody knows to which request it belongs.
        "deliveryId": piece.id.to_string(),
    });
    let mut heard = Vec::new();
    for peer in hearers {
        if peer.emit("message", std::slice::from_ref(&told)).is_ok() {
            heard.push(peer);
        }
    }
    if heard.is_empty() {
        return Err("nobody of it is connected".to_owned());
    }
    for peer in &heard {
        peer.sent().await;
    }
    tokio::time::sleep(LEAVES_WITHIN).await;
    if heard.iter().all(Peer::is_lost) {
        return Err("its connection ended before the message had left".to_owned());
    }
    let mut body = Map::new();
    body.insert("data".to_owned(), json!(data));
    body.insert("requestId".to_owned(), json!(request));
    let said = NewRoomMessage {
        identity: NAME.to_owned(),
        is_response: true,
        waiting: false,
        body,
    };
    // It was heard, whether the room keeps it or not.
    let _ = talk::say(remote, piece.session.id(), said).await;
    Ok(())
}

/// What waits for clients that are connected here though another instance has answered them, or an earlier
/// process had.
pub(in crate::remote) async fn deliver_waiting(remote: &Remote) -> Result<(), StoreError> {
    let Some(agent) = remote.agent() else {
        return Ok(());
    };
    if remote.roster().everyone("/llm").is_empty() {
        return Ok(());
    }
    for session in remote.store().outbox().sessions().await? {
        if session.platform() == PLATFORM && !hearers_of(remote, &session).await?.is_empty() {
            agent.deliver(&session).await;
        }
    }
    Ok(())
}

/// What waits for a client that has come, and for its rooms.
pub(super) fn catch_up(remote: &Remote, peer: &Peer) {
    let Some(agent) = remote.agent().cloned() else {
        return;
    };
    let own = peer.session().clone();
    let mut names = vec![peer.client().to_owned(), peer.identity().to_owned()];
    names.dedup();
    let remote = remote.clone();
    tokio::spawn(async move {
        agent.deliver(&own).await;
        let mut rooms = Vec::new();
        for name in &names {
            rooms.extend(remote.store().rooms().of(name).await.unwrap_or_default());
        }
        for room in rooms {
            if let Ok(session) = SessionKey::new(PLATFORM, SessionType::GroupMessage, &room) {
                agent.deliver(&session).await;
            }
        }
    });
}
