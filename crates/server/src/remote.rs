//! Socket.IO on the wire: connections, packets, and the pages around them. Compat(newage): what clients
//! of SillyTavern-NewAge send and read. The engine below is `engineioxide`; the protocol above it is
//! ours, since order, acks and ids are what clients depend on. What an event does is the service's.

mod guard;
mod line;
mod lobby;
mod packet;
mod scripts;
mod seat;
mod sending;
mod transport;

use std::sync::Arc;

use axum::{
    Router,
    http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri, header},
    middleware,
    response::{IntoResponse, Response},
};
use callgate_service::{Capability, remote::Remote};
use engineioxide::{config::EngineIoConfig, service::EngineIoService};

use crate::Hosts;
use guard::Guard;
use lobby::Lobby;
use transport::Transport;

/// Bytes of one message, on both transports.
const MAX_MESSAGE: u32 = 1_000_000;
/// Packets in the engine's own buffer; behind it they wait in ours.
const ENGINE_BUFFER: usize = 256;

/// What a browser may do with clients' files: show them, apart from everything of ours.
const GUARDS: [(HeaderName, &str); 4] = [
    (
        header::CONTENT_SECURITY_POLICY,
        "sandbox allow-scripts allow-forms; default-src 'self' data: blob:; \
         script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; \
         frame-ancestors 'self'; base-uri 'none'",
    ),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::CACHE_CONTROL, "no-cache"),
];

/// What is public, and connections, of which each says who it is in its first packet.
pub(crate) const NEEDS: &[(&str, Capability)] = &[
    ("ANY /socket.io/", Capability::Anyone),
    ("GET /socket.io/socket.io.js", Capability::Anyone),
    ("GET /socket.io/socket.io.min.js", Capability::Anyone),
    ("GET /socket.io/socket.io.esm.min.js", Capability::Anyone),
    ("GET /callgate.js", Capability::Anyone),
];

/// Socket.IO at `/socket.io/`, scripts for clients, and static resources everywhere else.
/// To be served with connect info: where a client speaks from decides what it may.
pub fn routes(remote: &Remote, hosts: Hosts) -> Router {
    let guard = Guard {
        hosts,
        origins: Arc::new(remote.settings().origins.clone()),
    };
    let files = remote.clone();
    let fallback = async move |method: Method, uri: Uri, headers: HeaderMap| {
        let found = static_file(&files, &method, uri.path(), headers).await;
        found.unwrap_or_else(|| (StatusCode::NOT_FOUND, "nothing is here\n").into_response())
    };
    socket_io(remote)
        .merge(scripts::routes())
        .fallback(fallback)
        .layer(middleware::from_fn_with_state(guard, guard::guard))
}

fn socket_io(remote: &Remote) -> Router {
    let mut config = EngineIoConfig::builder()
        .req_path("/socket.io")
        .max_payload(MAX_MESSAGE.into())
        .max_buffer_size(ENGINE_BUFFER)
        .build();
    config.ws_max_message_size = MAX_MESSAGE as usize;
    config.ws_max_frame_size = MAX_MESSAGE as usize;
    let lobby = Lobby::default();
    let transport = Transport::new(remote.clone(), lobby.clone());
    let engine = EngineIoService::with_config(Arc::new(transport), config);
    Router::new()
        .route_service("/socket.io/", engine)
        .layer(middleware::from_fn_with_state(
            lobby,
            lobby::small_until_seated,
        ))
}

/// `None` if nothing is declared for this address.
async fn static_file(
    remote: &Remote,
    method: &Method,
    path: &str,
    headers: HeaderMap,
) -> Option<Response> {
    if method != Method::GET && method != Method::HEAD {
        return None;
    }
    let (remote, path, head) = (remote.clone(), path.to_owned(), method == Method::HEAD);
    let answering = tokio::task::spawn_blocking(move || {
        let found = remote.static_file(&path)?;
        Some(sending::send_file(found, &headers, head))
    });
    let mut response = match answering.await {
        Ok(found) => found?,
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    };
    for (name, value) in GUARDS {
        let headers = response.headers_mut();
        headers.insert(name, HeaderValue::from_static(value));
    }
    Some(response)
}
