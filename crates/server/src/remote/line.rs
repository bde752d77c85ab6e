//! [`ConnectionState`]: one connection, whatever carries it (long polling, websocket). It keeps the seats that
//! the connection has in namespaces, and what is to be sent in order. Nothing is dropped in
//! silence: what cannot leave yet waits, and a client that stops reading is hung up on.

use std::{
    collections::{HashMap, VecDeque},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use callgate_service::remote::{Disconnected, Wire};
use engineioxide::{DisconnectReason, Socket};
use parking_lot::{Mutex, MutexGuard};
use serde_json::Value as Json;

use super::{
    lobby::LobbyPlace,
    packet::{self, Outgoing},
    seat::Seat,
};

pub(super) type Engine = Socket<ConnectionState>;

/// Bytes that may wait for a client that does not read.
const MAX_WAITING: usize = 32 << 20;
/// There is no telling when the engine has room again.
const RETRY: Duration = Duration::from_millis(1);

/// Plain mutexes: each is held for a lookup or a push, never across an await.
#[derive(Default)]
pub(super) struct ConnectionState {
    seats: Mutex<HashMap<String, Seat>>,
    waiting: Mutex<SendQueue>,
    partial: Mutex<Option<Partial>>,
    /// In the lobby, until it has a seat.
    place: Mutex<Option<LobbyPlace>>,
    refusals: AtomicUsize,
    /// We have hung up; what the engine still reads is nobody's.
    over: AtomicBool,
}

/// What follows in order behind the engine's own buffer.
#[derive(Default)]
struct SendQueue {
    packets: VecDeque<Outgoing>,
    bytes: usize,
    /// A task is moving packets to the engine.
    pumped: bool,
}

/// A packet whose attachments are still to come.
pub(super) struct Partial {
    pub(super) text: String,
    pub(super) missing: usize,
    pub(super) attachments: Vec<Vec<u8>>,
}

impl ConnectionState {
    pub(super) fn seats(&self) -> MutexGuard<'_, HashMap<String, Seat>> {
        self.seats.lock()
    }

    pub(super) fn partial(&self) -> MutexGuard<'_, Option<Partial>> {
        self.partial.lock()
    }

    /// Is it known whose it is?
    pub(super) fn is_seated(&self) -> bool {
        self.seats().values().any(|seat| seat.peer().is_some())
    }

    pub(super) fn wait_in(&self, place: LobbyPlace) {
        *self.place.lock() = Some(place);
    }

    pub(super) fn seated(&self) {
        drop(self.place.lock().take());
    }

    /// How many of its CONNECTs were refused, this one included.
    pub(super) fn refused(&self) -> usize {
        self.refusals.fetch_add(1, Ordering::Relaxed) + 1
    }

    pub(super) fn is_over(&self) -> bool {
        self.over.load(Ordering::Acquire)
    }

    /// Bytes that wait behind the engine's buffer.
    pub(super) fn waiting(&self) -> usize {
        self.waiting.lock().bytes
    }
}

/// The connection as the service holds it.
pub(super) struct Connection(pub(super) Arc<Engine>);

impl Wire for Connection {
    fn event(
        &self,
        namespace: &str,
        event: &str,
        arguments: &[Json],
        id: Option<u64>,
    ) -> Result<(), Disconnected> {
        send(&self.0, packet::event(namespace, event, arguments, id))
    }

    fn waiting(&self) -> usize {
        self.0.data.waiting()
    }

    fn leave(&self, namespace: &str) {
        let _ = send(&self.0, packet::disconnect(namespace));
        let seat = self.0.data.seats().remove(namespace);
        // Outside the lock: leaving tells others.
        drop(seat);
    }

    fn hang_up(&self) {
        hang_up(&self.0, DisconnectReason::ClosingServer);
    }
}

/// Sends `packet` after everything sent before.
pub(super) fn send(engine: &Arc<Engine>, packet: Outgoing) -> Result<(), Disconnected> {
    if engine.data.is_over() {
        return Err(Disconnected);
    }
    let mut waiting = engine.data.waiting.lock();
    let packet = if waiting.packets.is_empty() {
        match hand_over(engine, packet)? {
            None => return Ok(()),
            Some(packet) => packet,
        }
    } else {
        packet
    };
    if waiting.bytes + packet.len() > MAX_WAITING {
        drop(waiting);
        tracing::warn!("remote client does not read; connection closed");
        hang_up(engine, DisconnectReason::TransportClose);
        return Err(Disconnected);
    }
    waiting.bytes += packet.len();
    waiting.packets.push_back(packet);
    if !waiting.pumped {
        waiting.pumped = true;
        tokio::spawn(pump(engine.clone()));
    }
    Ok(())
}

/// Ends the connection. The engine tells of an end only once it could send what it holds, for which
/// nobody waits here.
pub(super) fn hang_up(engine: &Engine, reason: DisconnectReason) {
    engine.data.over.store(true, Ordering::Release);
    *engine.data.waiting.lock() = SendQueue::default();
    drop(engine.data.place.lock().take());
    drop(engine.data.partial().take());
    let seats = std::mem::take(&mut *engine.data.seats());
    // Outside the lock: leaving tells others.
    drop(seats);
    engine.close(reason);
}

/// Gives the packet back if there is no room. One place is always left to the engine's ping,
/// which would otherwise end the connection.
fn hand_over(engine: &Engine, packet: Outgoing) -> Result<Option<Outgoing>, Disconnected> {
    use tokio::sync::mpsc::error::TrySendError;
    let spare = engine.reserve();
    match (engine.reserve(), spare) {
        (Ok(room), Ok(_spare)) => {
            // At once: what belongs to a packet follows it, with nothing between.
            room.emit_many(packet.text.into(), packet.attachments);
            Ok(None)
        }
        (Err(TrySendError::Closed(())), _) | (_, Err(TrySendError::Closed(()))) => {
            Err(Disconnected)
        }
        _ => Ok(Some(packet)),
    }
}

async fn pump(engine: Arc<Engine>) {
    loop {
        tokio::time::sleep(RETRY).await;
        let mut waiting = engine.data.waiting.lock();
        while let Some(packet) = waiting.packets.pop_front() {
            let bytes = packet.len();
            match hand_over(&engine, packet) {
                Ok(None) => waiting.bytes -= bytes,
                Ok(Some(packet)) => {
                    waiting.packets.push_front(packet);
                    break;
                }
                Err(Disconnected) => *waiting = SendQueue::default(),
            }
        }
        if waiting.packets.is_empty() {
            waiting.pumped = false;
            return;
        }
    }
}
