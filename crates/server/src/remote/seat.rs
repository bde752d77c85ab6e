//! [`Seat`]: a connection's place in one namespace, from its CONNECT packet to its end. What
//! arrives waits here in order, also while the client is still being asked who it is.

use std::{
    sync::{
        Arc, OnceLock,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use axum::http::header;
use callgate_service::remote::{Call, EventAnswer, Namespace, Origin, Peer, Remote};
use engineioxide::DisconnectReason;
use serde_json::Value as Json;
use tokio::{
    sync::{Semaphore, mpsc},
    task::JoinSet,
};

use super::{
    line::{self, Connection, Engine},
    packet,
};
use crate::{attempts::address, visitor::is_here};

/// Events that may wait, and their bytes; a client that sends faster is hung up on.
const MAX_EVENTS: usize = 16_384;
const MAX_BYTES: usize = 32 << 20;
/// The same while it is not known whose the seat is.
const MAX_EARLY_BYTES: usize = 64 << 10;
/// CONNECTs of one connection that may be refused; then it is hung up on.
const MAX_REFUSALS: usize = 64;
/// How long the answer to an event may keep those behind it waiting. What takes longer goes on
/// beside them.
const PATIENCE: Duration = Duration::from_millis(250);
/// Answers of one seat under way beside its queue.
const BESIDE: usize = 256;

pub(super) struct Seat {
    incoming: mpsc::UnboundedSender<Incoming>,
    place: Arc<SeatState>,
}

/// What the connection and the task that serves the seat share.
#[derive(Default)]
pub(super) struct SeatState {
    peer: OnceLock<Peer>,
    events: AtomicUsize,
    bytes: AtomicUsize,
}

pub(super) struct Incoming {
    pub(super) event: String,
    pub(super) arguments: Vec<Json>,
    pub(super) id: Option<u64>,
    pub(super) bytes: usize,
}

/// The client sends faster than it is answered.
pub(super) struct QueueFull;

impl Seat {
    /// Takes a seat and begins to serve it.
    pub(super) fn take(
        remote: &Remote,
        namespace: &Arc<Namespace>,
        engine: &Arc<Engine>,
        auth: Json,
    ) -> Seat {
        let (incoming, queue) = mpsc::unbounded_channel();
        let place = Arc::<SeatState>::default();
        let server = SeatServer {
            remote: remote.clone(),
            namespace: namespace.clone(),
            engine: engine.clone(),
            place: place.clone(),
        };
        tokio::spawn(server.serve(auth, queue));
        Seat { incoming, place }
    }

    pub(super) fn push(&self, incoming: Incoming) -> Result<(), QueueFull> {
        let events = self.place.events.fetch_add(1, Ordering::Relaxed);
        let bytes = self
            .place
            .bytes
            .fetch_add(incoming.bytes, Ordering::Relaxed);
        let most = match self.peer() {
            Some(_) => MAX_BYTES,
            None => MAX_EARLY_BYTES,
        };
        if events >= MAX_EVENTS || bytes > most {
            return Err(QueueFull);
        }
        // The other end is gone only if the seat is being left.
        let _ = self.incoming.send(incoming);
        Ok(())
    }

    pub(super) fn peer(&self) -> Option<&Peer> {
        self.place.peer.get()
    }
}

/// Leaving the seat: what has arrived is still done, nothing more arrives.
impl Drop for Seat {
    fn drop(&mut self) {
        if let Some(peer) = self.peer() {
            peer.leave();
        }
    }
}

struct SeatServer {
    remote: Remote,
    namespace: Arc<Namespace>,
    engine: Arc<Engine>,
    place: Arc<SeatState>,
}

impl SeatServer {
    async fn serve(self, auth: Json, mut queue: mpsc::UnboundedReceiver<Incoming>) {
        let name = self.namespace.name();
        let peer = match self.admit(&auth).await {
            Ok(peer) => peer,
            Err(message) => {
                self.engine.data.seats().remove(name);
                let _ = line::send(&self.engine, packet::refused(name, &message));
                if self.engine.data.refused() >= MAX_REFUSALS {
                    line::hang_up(&self.engine, DisconnectReason::TransportClose);
                }
                return;
            }
        };
        // Known before the connect reply: the first event may follow it at once.
        let _ = self.place.peer.set(peer.clone());
        self.engine.data.seated();
        self.remote.roster().add(&peer);
        let _ends = self.ends_with_its_key(&peer);
        if queue.is_closed() {
            peer.leave();
        }
        let _ = line::send(&self.engine, packet::connected(name, peer.public_id()));
        self.namespace.joined(&self.remote, &peer).await;
        let beside = Arc::new(Semaphore::new(BESIDE));
        while let Some(incoming) = queue.recv().await {
            self.place.events.fetch_sub(1, Ordering::Relaxed);
            self.place
                .bytes
                .fetch_sub(incoming.bytes, Ordering::Relaxed);
            self.answer(&peer, incoming, &beside).await;
        }
        self.namespace.left(&self.remote, &peer).await;
    }

    /// Hangs up when the key is revoked by which the client came in, as long as what is returned
    /// lives. A task, since the queue may be held up by an event that takes its time.
    fn ends_with_its_key(&self, peer: &Peer) -> JoinSet<()> {
        let mut watching = JoinSet::new();
        if let Some(key) = &peer.standing().key {
            let (key, peer) = (self.remote.store().keys().handle(key), peer.clone());
            watching.spawn(async move {
                key.revoked().await;
                peer.disconnect();
            });
        }
        watching
    }

    /// Who it is, and whether it may sit here.
    async fn admit(&self, auth: &Json) -> Result<Peer, String> {
        let parts = &self.engine.req_parts;
        let page = parts.headers.get(header::ORIGIN);
        let origin = Origin {
            page: page.and_then(|page| page.to_str().ok()),
            is_here: is_here(parts),
            address: address(&parts.extensions),
        };
        let wire = Arc::new(Connection(self.engine.clone()));
        self.remote.admit(&self.namespace, auth, origin, wire).await
    }

    /// In order: the next event begins when this one is answered or has outlasted our patience.
    async fn answer(&self, peer: &Peer, incoming: Incoming, beside: &Arc<Semaphore>) {
        // Before it begins: once begun it may stand in line for the database, and must be polled
        // until it is through, or nobody behind it ever is.
        let permit = beside.clone().acquire_owned().await;
        let id = incoming.id;
        let call = Call {
            remote: self.remote.clone(),
            peer: peer.clone(),
            event: incoming.event,
            arguments: incoming.arguments,
            wants_answer: id.is_some(),
        };
        let mut handling = Box::pin(self.namespace.clone().handle(call));
        let handled = tokio::select! {
            biased;
            handled = &mut handling => handled,
            // Never dropped: what has begun goes on, also when the client has left.
            () = tokio::time::sleep(PATIENCE) => EventAnswer::Later(Box::pin(async move {
                match handling.await {
                    EventAnswer::Now(answer) => answer,
                    EventAnswer::Later(later) => later.await,
                }
            })),
        };
        let later = match handled {
            EventAnswer::Now(answer) => return acknowledge(&self.engine, peer, id, answer),
            EventAnswer::Later(later) => later,
        };
        let (peer, engine) = (peer.clone(), self.engine.clone());
        tokio::spawn(async move {
            acknowledge(&engine, &peer, id, later.await);
            drop(permit);
        });
    }
}

fn acknowledge(engine: &Arc<Engine>, peer: &Peer, id: Option<u64>, answer: Option<Json>) {
    if let (Some(id), Some(answer), false) = (id, answer, peer.has_left()) {
        // Nobody is left to hear it.
        let _ = line::send(engine, packet::ack(peer.namespace(), id, &answer));
    }
}
