//! Texts to a client piece by piece. Compat(newage): its clients read streams with `socket.io-stream`,
//! whose events these are: a piece goes out when the client has asked for one, and wants a callback.

use std::{collections::HashMap, time::Duration};

use parking_lot::Mutex;
use serde_json::{Value as Json, json};
use tokio::sync::mpsc;
use uuid::Uuid;

use crate::remote::{Call, Namespace, Peer, Remote};

/// Bytes that wait for a client; beyond it the stream ends, and the whole text comes as a message.
const MAX_WAITING: usize = 1 << 20;
/// For a client to ask for more, and to take what it asked for.
const PATIENCE: Duration = Duration::from_secs(30);

/// The streams that clients are reading, by socket and id.
#[derive(Default)]
pub(super) struct Streams(Mutex<HashMap<(u64, String), mpsc::UnboundedSender<Item>>>);

pub(super) enum Item {
    Text(String),
    /// The client wants a piece.
    Wanted,
    End,
    /// The client wants no more.
    Refused,
}

/// The writing end. Dropped, the stream ends.
pub(super) struct Stream(mpsc::UnboundedSender<Item>);

impl Drop for Stream {
    fn drop(&mut self) {
        // The client has left.
        let _ = self.0.send(Item::End);
    }
}

impl Stream {
    /// `about` says to the client what the stream is.
    pub(super) fn open(remote: &Remote, peer: &Peer, about: &Json) -> Stream {
        let id = Uuid::now_v7().to_string();
        let (tell, items) = mpsc::unbounded_channel();
        let key = (peer.number(), id.clone());
        remote
            .newage()
            .chat
            .streams
            .0
            .lock()
            .insert(key.clone(), tell.clone());
        let handle = json!({ "$stream": id, "options": {} });
        let opened = [json!("SERVER_STREAM_DATA"), handle, about.clone()];
        let _ = peer.emit("$stream", &opened);
        let (remote, peer, about) = (remote.clone(), peer.clone(), about.clone());
        tokio::spawn(async move {
            write(&peer, &id, items).await;
            remote.newage().chat.streams.0.lock().remove(&key);
            let _ = peer.emit("SERVER_STREAM_END", &[about]);
        });
        Stream(tell)
    }

    pub(super) fn write(&self, text: &str) {
        // The client has left.
        let _ = self.0.send(Item::Text(text.to_owned()));
    }
}

pub(super) fn on(namespace: Namespace) -> Namespace {
    namespace
        .on("$stream-read", async |call: Call| tell(&call, Item::Wanted))
        .on("$stream-error", async |call: Call| {
            tell(&call, Item::Refused)
        })
        // What a client says when it has read to the end.
        .on("$stream-end", async |_: Call| ())
}

fn tell(call: &Call, item: Item) {
    let Some(id) = call.first().as_str() else {
        return;
    };
    let streams = &call.remote.newage().chat.streams;
    let key = (call.peer.number(), id.to_owned());
    if let Some(stream) = streams.0.lock().get(&key) {
        // It ends just now.
        let _ = stream.send(item);
    }
}

async fn write(peer: &Peer, id: &str, mut items: mpsc::UnboundedReceiver<Item>) {
    let (mut text, mut wanted, mut ended) = (String::new(), false, false);
    loop {
        if wanted && !text.is_empty() {
            wanted = false;
            let piece = [json!(id), json!(std::mem::take(&mut text)), json!("utf8")];
            if peer.ask("$stream-write", &piece, PATIENCE).await.is_err() {
                return;
            }
            continue;
        }
        if ended && text.is_empty() {
            let _ = peer.emit("$stream-end", &[json!(id)]);
            return;
        }
        let item = if ended {
            // Most clients that ask for a stream read it; one that does not gets the message.
            tokio::time::timeout(PATIENCE, items.recv()).await.ok()
        } else {
            Some(items.recv().await)
        };
        match item {
            Some(Some(Item::Text(more))) if text.len() + more.len() <= MAX_WAITING => {
                text.push_str(&more);
            }
            Some(Some(Item::Wanted)) => wanted = true,
            Some(Some(Item::End)) => ended = true,
            Some(Some(Item::Text(_) | Item::Refused) | None) | None => {
                let reason = json!("The stream was not read in time.");
                let _ = peer.emit("$stream-error", &[json!(id), reason]);
                return;
            }
        }
    }
}
