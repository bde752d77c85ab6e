//! [`Lobby`]: connections that have no seat yet, of which nobody knows whose they are. Each address
//! may have so many, and what they send is small.

use std::{
    collections::HashMap,
    net::{IpAddr, SocketAddr},
    sync::Arc,
};

use axum::{
    extract::{ConnectInfo, Request, State},
    http::{Method, StatusCode},
    middleware::Next,
    response::{IntoResponse, Response},
};
use parking_lot::Mutex;

use super::line::Engine;
use crate::unknown::{BodyRefusal, taken};

/// Connections without a seat that one address may have. Taking one is a matter of moments, so that
/// many behind one proxy get along with it.
const EACH: usize = 256;

/// Bytes that one may post at once: CONNECTs to several namespaces.
const MOST: usize = 64 << 10;

/// Clones share it. A plain mutex, held for a lookup.
#[derive(Clone, Default)]
pub(super) struct Lobby(Arc<Mutex<WaitingConnections>>);

#[derive(Default)]
struct WaitingConnections {
    /// By the engine's id, where each speaks from.
    connections: HashMap<String, IpAddr>,
    of: HashMap<IpAddr, usize>,
}

/// A connection's place there, until it is dropped.
pub(super) struct LobbyPlace {
    lobby: Lobby,
    connection: String,
}

impl Lobby {
    /// `None` if its address has too many there.
    pub(super) fn enter(&self, engine: &Engine) -> Option<LobbyPlace> {
        let from = engine.req_parts.extensions.get::<ConnectInfo<SocketAddr>>();
        // Without one it was not served by us: all of them are one address.
        let unknown = IpAddr::from([0, 0, 0, 0]);
        let from = from.map_or(unknown, |ConnectInfo(from)| from.ip().to_canonical());
        let connection = engine.id.to_string();
        let mut waiting = self.0.lock();
        let count = waiting.of.entry(from).or_default();
        if *count >= EACH {
            return None;
        }
        *count += 1;
        waiting.connections.insert(connection.clone(), from);
        Some(LobbyPlace {
            lobby: self.clone(),
            connection,
        })
    }

    fn holds(&self, connection: &str) -> bool {
        self.0.lock().connections.contains_key(connection)
    }
}

impl Drop for LobbyPlace {
    fn drop(&mut self) {
        let mut waiting = self.lobby.0.lock();
        let Some(from) = waiting.connections.remove(&self.connection) else {
            return;
        };
        if let Some(count) = waiting.of.get_mut(&from) {
            *count -= 1;
            if *count == 0 {
                waiting.of.remove(&from);
            }
        }
    }
}

/// The layer before the engine: what a connection without a seat posts is small.
pub(super) async fn small_until_seated(
    State(lobby): State<Lobby>,
    request: Request,
    next: Next,
) -> Response {
    let query = request.uri().query().unwrap_or_default().split('&');
    let mut named = query.filter_map(|pair| pair.strip_prefix("sid="));
    let unseated = named.any(|connection| lobby.holds(connection));
    if *request.method() != Method::POST || !unseated {
        return next.run(request).await;
    }
    match taken(request, MOST).await {
        Ok(request) => next.run(request).await,
        Err(BodyRefusal::TooLarge) => StatusCode::PAYLOAD_TOO_LARGE.into_response(),
        Err(BodyRefusal::TooSlow) => StatusCode::REQUEST_TIMEOUT.into_response(),
    }
}
