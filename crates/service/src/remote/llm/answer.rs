//! Answers on their way: what a SillyTavern client says to a request, in pieces or whole, goes to
//! those who wait for it, in order, and is kept. Nothing says when a streamed answer is over, so one
//! is taken as over when nothing follows for a while; if something does, it goes on.

use std::{sync::Arc, time::Duration};

use callgate_store::NewRoomMessage;
use parking_lot::Mutex;
use serde_json::{Map, Value as Json, json};
use tokio::sync::mpsc;
use uuid::Uuid;

use super::{
    NON_STREAM,
    order::Order,
    request::{PendingRequest, text_of},
    stream::Stream,
    talk,
};
use crate::remote::{Call, Namespace, Remote, debug::Level, rooms::tell};

/// After the last piece.
const QUIET: Duration = Duration::from_secs(3);
/// Bytes of one answer.
const MAX_ANSWER: usize = 4 << 20;

/// One answer, under the name that its writer gave it.
#[derive(Default)]
pub(super) struct Output(Mutex<OutputState>);

#[derive(Default)]
struct OutputState {
    text: String,
    /// As it is kept, once it was over.
    message: Option<Uuid>,
    pieces: Option<mpsc::UnboundedSender<Piece>>,
}

pub(super) enum Piece {
    Start(String),
    Chunk(String, u64, String),
    End(String),
    /// The whole of it, and nothing follows.
    Whole(String),
}

pub(super) fn on(namespace: Namespace) -> Namespace {
    let data = [
        "CLIENT_STREAM_DATA_FIRST",
        "CLIENT_STREAM_DATA_MIDDLE",
        "CLIENT_STREAM_DATA_LAST",
        "CLIENT_STREAM_DATA_RETRY",
    ];
    let namespace = namespace
        .on("CLIENT_STREAM_START", async |call: Call| {
            take(&call, |id| Some(Piece::Start(id)));
        })
        .on("CLIENT_STREAM_END", async |call: Call| {
            take(&call, |id| Some(Piece::End(id)));
        })
        // Its chunk comes again as a retry, or not at all.
        .on("CLIENT_STREAM_DATA_FAILED", async |_: Call| ());
    data.into_iter().fold(namespace, |namespace, event| {
        namespace.on(event, async |call: Call| {
            take(&call, |id| {
                let index = call.first().get("chunkIndex").and_then(Json::as_u64)?;
                Some(Piece::Chunk(id, index, call.text("data")?.to_owned()))
            });
        })
    })
}

/// A piece of an answer to a request that was put to this client.
fn take(call: &Call, piece: impl FnOnce(String) -> Option<Piece>) {
    let data = call.first();
    let stream = data.get("streamId").and_then(text_of);
    if let Some(asked) = asked(call)
        && let Some(output) = data.get("outputId").and_then(text_of)
        && let Some(piece) = stream.and_then(piece)
    {
        hear(&call.remote, &asked, &output, piece);
    }
}

/// What this client was asked, if it was.
fn asked(call: &Call) -> Option<Arc<PendingRequest>> {
    let request = call.first().get("requestId")?;
    call.remote.newage().chat.find(call.peer.client(), request)
}

pub(super) fn whole(call: &Call, text: &str) {
    if let Some(asked) = asked(call) {
        let output = call.first().get("outputId").and_then(text_of);
        let output = output.unwrap_or_else(|| Uuid::now_v7().to_string());
        hear(&call.remote, &asked, &output, Piece::Whole(text.to_owned()));
    }
}

pub(super) fn failed(call: &Call, reason: &str) {
    if let Some(asked) = asked(call) {
        refuse(&call.remote, &asked, reason);
    }
}

/// The client has gone: what it was asked is not answered.
pub(super) fn abandoned(remote: &Remote, client: &str) {
    for asked in remote.newage().chat.of(client) {
        refuse(remote, &asked, "The client that was asked has left.");
    }
}

/// Compat(newage): clients listen to `ERROR`.
pub(super) fn refuse(remote: &Remote, asked: &PendingRequest, reason: &str) {
    remote.newage().chat.forget(asked);
    let line = format!("a request of {} to {} failed", asked.asker, asked.answerer);
    remote.newage().diary.note(Level::Warn, line);
    let reason: String = reason.chars().take(2_000).collect();
    let error = json!({ "type": "ERROR", "message": reason, "requestId": asked.id });
    remote
        .newage()
        .chat
        .send(remote, &asked.asker, "ERROR", error);
    status(remote, asked, None, "failed");
}

/// Adds `piece` to the answer. Never waits.
pub(super) fn hear(remote: &Remote, asked: &Arc<PendingRequest>, name: &str, piece: Piece) {
    let Some(output) = asked.output(name) else {
        return;
    };
    let mut written = output.0.lock();
    let piece = match &written.pieces {
        Some(pieces) => pieces.send(piece).err().map(|unsent| unsent.0),
        None => Some(piece),
    };
    if let Some(piece) = piece {
        let (tell, pieces) = mpsc::unbounded_channel();
        // Its other end is in the task below.
        let _ = tell.send(piece);
        written.pieces = Some(tell);
        drop(written);
        let writer = OutputWriter {
            remote: remote.clone(),
            asked: asked.clone(),
            name: name.to_owned(),
            output,
            streams: Vec::new(),
            opened: false,
            truncated: false,
        };
        tokio::spawn(writer.write(pieces));
    }
}

struct OutputWriter {
    remote: Remote,
    asked: Arc<PendingRequest>,
    name: String,
    output: Arc<Output>,
    streams: Vec<Stream>,
    opened: bool,
    /// It was longer than we keep.
    truncated: bool,
}

impl OutputWriter {
    async fn write(mut self, mut pieces: mpsc::UnboundedReceiver<Piece>) {
        let mut order = Order::default();
        let mut found = None;
        loop {
            let next = match found.take() {
                Some(piece) => Some(piece),
                None => tokio::time::timeout(QUIET, pieces.recv())
                    .await
                    .ok()
                    .flatten(),
            };
            let text = match next {
                Some(Piece::Start(id)) => {
                    order.start(&id);
                    continue;
                }
                Some(Piece::Chunk(id, index, text)) => order.chunk(&id, index, &text),
                Some(Piece::End(id)) => order.end(&id),
                Some(Piece::Whole(text)) => {
                    // Streamed before or not, this is what was said.
                    self.output.0.lock().text = text;
                    break;
                }
                // A stream that began must end, or the request be over.
                None if !order.is_settled() && self.asked.is_open() => continue,
                None => {
                    let mut written = self.output.0.lock();
                    // Under the lock, so that no piece comes between.
                    found = pieces.try_recv().ok();
                    if found.is_none() {
                        written.pieces = None;
                        break;
                    }
                    continue;
                }
            };
            self.say(&text).await;
        }
        self.finish().await;
    }

    async fn say(&mut self, text: &str) {
        {
            let mut written = self.output.0.lock();
            self.truncated |= written.text.len() + text.len() > MAX_ANSWER;
            if text.is_empty() || self.truncated {
                return;
            }
            written.text.push_str(text);
        }
        if !self.opened {
            self.opened = true;
            let about = json!({
                "streamId": self.name,
                "outputId": self.name,
                "requestId": self.asked.id,
                "source": "server",
            });
            let hearers = self.asked.hearers(&self.remote).await;
            let open = |peer| Stream::open(&self.remote, &peer, &about);
            self.streams = hearers.into_iter().map(open).collect();
        }
        for stream in &self.streams {
            stream.write(text);
        }
    }

    /// Kept first, then told: who missed it finds it in the room.
    async fn finish(self) {
        let (text, before) = {
            let written = self.output.0.lock();
            (written.text.clone(), written.message)
        };
        drop(self.streams);
        let (remote, asked) = (&self.remote, &self.asked);
        if text.is_empty() || !asked.is_open() {
            return;
        }
        let mut body = Map::new();
        body.insert("data".to_owned(), json!(text));
        body.insert("requestId".to_owned(), asked.id.clone());
        let kept = match before {
            Some(id) => talk::change(remote, &asked.place, id, body)
                .await
                .map(|()| id),
            None => {
                let said = NewRoomMessage {
                    identity: asked.answerer.clone(),
                    is_response: true,
                    waiting: false,
                    body,
                };
                talk::say(remote, &asked.place, said).await
            }
        };
        let kept = kept.ok();
        self.output.0.lock().message = kept;
        asked.set_answered();
        let message = json!({
            "type": NON_STREAM,
            "data": text,
            "source": "server",
            "requestId": asked.id,
            "outputId": self.name,
            // So that a client that has shown the stream need not show it again.
            "streamed": self.opened,
            "truncated": self.truncated,
        });
        asked.tell(remote, "message", message).await;
        status(remote, asked, kept, "completed");
    }
}

/// Tells whoever asked how it stands.
pub(super) fn status(
    remote: &Remote,
    asked: &PendingRequest,
    response: Option<Uuid>,
    status: &str,
) {
    let update = json!({
        "mode": asked.mode,
        "roomName": asked.place,
        "requestId": asked.id,
        "responseId": response,
        "status": status,
    });
    tell(
        remote,
        "/llm",
        &asked.asker,
        "REQUEST_STATUS_UPDATE",
        update,
    );
}
