//! What the engine hears, packet by packet. Everything here returns at once: what takes time is
//! the seat's. A packet that makes no sense ends its own connection and nothing else.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use bytes::Bytes;
use callgate_service::remote::{FUNCTION_PROGRESS, Remote, event_name};
use engineioxide::{DisconnectReason, Str, handler::EngineIoHandler};
use serde_json::Value as Json;

use super::{
    line::{self, ConnectionState, Engine, Partial},
    lobby::Lobby,
    packet::{self, Kind, Malformed, Packet},
    seat::{Incoming, Seat},
};

/// Bytes of a packet before the connection has a seat: a CONNECT with what a client says of itself.
const SMALL: usize = 16 << 10;
/// Namespaces of one connection.
const MAX_SEATS: usize = 32;

pub(super) struct Transport {
    remote: Remote,
    lobby: Lobby,
    /// How many connections there are.
    open: AtomicUsize,
}

impl Transport {
    pub(super) fn new(remote: Remote, lobby: Lobby) -> Self {
        Transport {
            remote,
            lobby,
            open: AtomicUsize::new(0),
        }
    }
}

impl std::fmt::Debug for Transport {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Transport")
    }
}

impl EngineIoHandler for Transport {
    type Data = ConnectionState;

    fn on_connect(self: Arc<Self>, engine: Arc<Engine>) {
        // It counts nevertheless, until it leaves.
        let others = self.open.fetch_add(1, Ordering::Relaxed);
        if others >= self.remote.settings().max_connections {
            tracing::warn!("too many remote connections; refused");
            engine.close(DisconnectReason::TransportClose);
            return;
        }
        let Some(place) = self.lobby.enter(&engine) else {
            tracing::warn!("too many unauthenticated connections from one address; refused");
            return line::hang_up(&engine, DisconnectReason::TransportClose);
        };
        engine.data.wait_in(place);
        // A connection that joins nothing is of no use to anybody, also once it has left everything.
        let within = self.remote.settings().join_within;
        let engine = Arc::downgrade(&engine);
        tokio::spawn(async move {
            let mut was_seated = false;
            loop {
                tokio::time::sleep(within).await;
                let Some(engine) = engine.upgrade().filter(|it| !it.data.is_over()) else {
                    return;
                };
                let is_seated = engine.data.is_seated();
                if !is_seated && !was_seated {
                    return line::hang_up(&engine, DisconnectReason::TransportClose);
                }
                was_seated = is_seated;
            }
        });
    }

    fn on_disconnect(&self, engine: Arc<Engine>, _: DisconnectReason) {
        self.open.fetch_sub(1, Ordering::Relaxed);
        engine.data.seated();
        let seats = std::mem::take(&mut *engine.data.seats());
        drop(seats);
    }

    fn on_message(self: &Arc<Self>, text: Str, engine: Arc<Engine>) {
        if engine.data.is_over() {
            return;
        }
        if engine.data.partial().is_some() {
            // Attachments were announced and something else came.
            return line::hang_up(&engine, DisconnectReason::PacketParsingError);
        }
        let may_be_large = || engine.data.is_seated();
        let read = Packet::read(&text).and_then(|packet| match packet.attachments {
            // Nobody knows yet whose it is.
            _ if text.len() > SMALL && !may_be_large() => Err(Malformed),
            1.. if !may_be_large() => Err(Malformed),
            0 => self.take(&engine, packet, &[]),
            missing => {
                *engine.data.partial() = Some(Partial {
                    text: text.to_string(),
                    missing,
                    attachments: Vec::new(),
                });
                Ok(())
            }
        });
        if read.is_err() {
            line::hang_up(&engine, DisconnectReason::PacketParsingError);
        }
    }

    fn on_binary(self: &Arc<Self>, data: Bytes, engine: Arc<Engine>) {
        if engine.data.is_over() {
            return;
        }
        let whole = {
            let mut partial = engine.data.partial();
            if let Some(partial) = partial.as_mut() {
                partial.attachments.push(data.to_vec());
            }
            match &*partial {
                Some(whole) if whole.attachments.len() >= whole.missing => partial.take(),
                Some(_) => return,
                None => None,
            }
        };
        let read = match &whole {
            None => Err(Malformed),
            Some(whole) => Packet::read(&whole.text)
                .and_then(|packet| self.take(&engine, packet, &whole.attachments)),
        };
        if read.is_err() {
            line::hang_up(&engine, DisconnectReason::PacketParsingError);
        }
    }
}

impl Transport {
    fn take(
        &self,
        engine: &Arc<Engine>,
        packet: Packet<'_>,
        attachments: &[Vec<u8>],
    ) -> Result<(), Malformed> {
        match packet.kind {
            Kind::Connect => self.connect(engine, packet),
            Kind::Disconnect => {
                let seat = engine.data.seats().remove(packet.namespace);
                if let Some(peer) = seat.as_ref().and_then(Seat::peer) {
                    peer.says_goodbye();
                }
                // Outside the lock: leaving tells others.
                drop(seat);
                Ok(())
            }
            Kind::Event => self.event(engine, packet, attachments),
            Kind::Ack => {
                let mut answer = packet::items(packet.payload, attachments)?;
                let answer = if answer.is_empty() {
                    Json::Null
                } else {
                    answer.swap_remove(0)
                };
                let seats = engine.data.seats();
                let peer = seats.get(packet.namespace).and_then(Seat::peer);
                if let (Some(peer), Some(id)) = (peer, packet.id) {
                    peer.answered(id, answer);
                }
                Ok(())
            }
        }
    }

    fn connect(&self, engine: &Arc<Engine>, packet: Packet<'_>) -> Result<(), Malformed> {
        let auth = match packet.payload {
            "" => Json::Null,
            payload => serde_json::from_str(payload).map_err(|_| Malformed)?,
        };
        let Some(namespace) = self.remote.namespace(packet.namespace) else {
            let refusal = packet::refused(packet.namespace, "Invalid namespace");
            let _ = line::send(engine, refusal);
            return Ok(());
        };
        let mut seats = engine.data.seats();
        if seats.contains_key(packet.namespace) {
            return Ok(());
        }
        if seats.len() >= MAX_SEATS {
            return Err(Malformed);
        }
        let seat = Seat::take(&self.remote, namespace, engine, auth);
        seats.insert(packet.namespace.to_owned(), seat);
        Ok(())
    }

    fn event(
        &self,
        engine: &Arc<Engine>,
        packet: Packet<'_>,
        attachments: &[Vec<u8>],
    ) -> Result<(), Malformed> {
        let mut items = packet::items(packet.payload, attachments)?.into_iter();
        let Some(event) = items.next().and_then(event_name) else {
            tracing::debug!(
                namespace = packet.namespace,
                "an event without a name was ignored"
            );
            return Ok(());
        };
        let attached: usize = attachments.iter().map(Vec::len).sum();
        let incoming = Incoming {
            event,
            arguments: items.collect(),
            id: packet.id,
            bytes: packet.payload.len() + attached,
        };
        if incoming.event == FUNCTION_PROGRESS {
            let seats = engine.data.seats();
            let peer = seats.get(packet.namespace).and_then(Seat::peer).cloned();
            drop(seats);
            if let (Some(peer), Some(data)) = (peer, incoming.arguments.first()) {
                peer.progressed(data);
            }
        }
        let seats = engine.data.seats();
        let Some(seat) = seats.get(packet.namespace) else {
            // It has left, or was refused; whatever it still sends is nobody's.
            return Ok(());
        };
        seat.push(incoming).map_err(|_| {
            tracing::warn!("remote client sends too fast; connection closed");
            Malformed
        })
    }
}
