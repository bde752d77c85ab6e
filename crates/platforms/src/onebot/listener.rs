//! Where OneBot programs connect to us: a WebSocket on any path (the programs' settings differ), or events
//! as POST requests. A browser is never let in: a page on this machine's screen could otherwise speak as a
//! bot. With a token whoever shows it may come from anywhere; without, only from this machine.

use std::{convert::Infallible, net::SocketAddr, sync::Arc};

use hmac::{Hmac, KeyInit, Mac};
use http_body_util::{BodyExt, Full, Limited};
use hyper::{
    HeaderMap, Method, Request, Response, StatusCode,
    body::Incoming,
    header::{AUTHORIZATION, CONNECTION, HOST, ORIGIN, UPGRADE},
};
use hyper_util::rt::TokioIo;
use serde_json::Value as Json;
use sha1::Sha1;
use subtle::ConstantTimeEq;
use tokio_tungstenite::{
    WebSocketStream,
    tungstenite::{handshake::derive_accept_key, protocol::Role},
};

use super::{OneBotSettings, Shared};
use crate::listening::{self, Answer, says};

/// Of an event; pictures inside it are base64.
const LARGEST_EVENT: usize = 32 << 20;

/// Serves until it is dropped.
pub(super) async fn listen(shared: &Arc<Shared>, address: &str) -> Infallible {
    let own = shared.clone();
    let answering = move |request, peer| {
        let shared = own.clone();
        async move { answer(&shared, request, peer).await }
    };
    listening::listen(&shared.arrivals, address, answering).await
}

async fn answer(shared: &Arc<Shared>, request: Request<Incoming>, peer: SocketAddr) -> Answer {
    let is_socket = is_websocket(request.headers());
    if let Err((status, why)) = admit(&shared.settings, &request, is_socket) {
        shared
            .arrivals
            .failed(&format!("refused a connection from {}: {why}", peer.ip()));
        return says(status, why);
    }
    if is_socket {
        return open(shared, request);
    }
    if request.method() == Method::POST {
        return take(shared, request).await;
    }
    says(
        StatusCode::UPGRADE_REQUIRED,
        "This is for OneBot programs: connect by WebSocket, or POST events.\n",
    )
}

fn is_websocket(headers: &HeaderMap) -> bool {
    let has = |name, word: &str| {
        let value = headers
            .get(name)
            .and_then(|it: &hyper::header::HeaderValue| it.to_str().ok());
        value.is_some_and(|value| value.to_ascii_lowercase().contains(word))
    };
    has(UPGRADE, "websocket") && has(CONNECTION, "upgrade")
}

fn admit(
    settings: &OneBotSettings,
    request: &Request<Incoming>,
    is_socket: bool,
) -> Result<(), (StatusCode, &'static str)> {
    let headers = request.headers();
    if headers.contains_key(ORIGIN) {
        return Err((
            StatusCode::FORBIDDEN,
            "pages in a browser may not connect here\n",
        ));
    }
    let Some(token) = &settings.token else {
        let host = headers.get(HOST).and_then(|it| it.to_str().ok());
        let host = host.unwrap_or_default();
        let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
        let is_here = matches!(name, "localhost" | "127.0.0.1" | "[::1]");
        return if is_here {
            Ok(())
        } else {
            Err((
                StatusCode::FORBIDDEN,
                "from another host a token is needed\n",
            ))
        };
    };
    // Of a webhook the signature is looked at, which needs the body.
    if !is_socket && headers.contains_key("x-signature") {
        return Ok(());
    }
    let shown = headers.get(AUTHORIZATION).and_then(|it| it.to_str().ok());
    let shown = shown.map(|it| it.split_once(' ').map_or(it, |(_, token)| token).trim());
    let query = request.uri().query().unwrap_or_default().split('&');
    let mut query = query.filter_map(|pair| pair.strip_prefix("access_token="));
    match shown.or_else(|| query.next()) {
        None => Err((StatusCode::UNAUTHORIZED, "the access token is missing\n")),
        Some(shown) if bool::from(shown.as_bytes().ct_eq(token.as_bytes())) => Ok(()),
        Some(_) => Err((StatusCode::FORBIDDEN, "the access token is wrong\n")),
    }
}

/// Answers the handshake; the connection is served once hyper has let go of it.
fn open(shared: &Arc<Shared>, mut request: Request<Incoming>) -> Answer {
    let headers = request.headers();
    let text = |name: &str| headers.get(name).and_then(|it| it.to_str().ok());
    let Some(key) = text("sec-websocket-key") else {
        return says(StatusCode::BAD_REQUEST, "this is no WebSocket handshake\n");
    };
    let account = text("x-self-id").unwrap_or_default().to_owned();
    let role = text("x-client-role")
        .unwrap_or("universal")
        .to_ascii_lowercase();
    if !account.is_empty() && !shared.settings.admits(&account) {
        let why = format!("account {account} is not the one this platform is for");
        shared.arrivals.failed(&why);
        return says(StatusCode::FORBIDDEN, format!("{why}\n"));
    }
    let accepted = Response::builder()
        .status(StatusCode::SWITCHING_PROTOCOLS)
        .header(UPGRADE, "websocket")
        .header(CONNECTION, "Upgrade")
        .header("Sec-WebSocket-Accept", derive_accept_key(key.as_bytes()))
        .body(Full::default());
    let upgrade = hyper::upgrade::on(&mut request);
    let shared = shared.clone();
    tokio::spawn(async move {
        let Ok(stream) = upgrade.await else { return };
        let config = Some(shared.frames());
        let stream = TokioIo::new(stream);
        let socket = WebSocketStream::from_raw_socket(stream, Role::Server, config).await;
        shared.connected(socket, &account, role != "event").await;
    });
    accepted.unwrap_or_else(|_| says(StatusCode::INTERNAL_SERVER_ERROR, ""))
}

/// An event. It is on disk before the request is answered.
async fn take(shared: &Arc<Shared>, request: Request<Incoming>) -> Answer {
    let (head, body) = request.into_parts();
    let Ok(body) = Limited::new(body, LARGEST_EVENT).collect().await else {
        return says(StatusCode::PAYLOAD_TOO_LARGE, "the event is too large\n");
    };
    let body = body.to_bytes();
    let signature = head
        .headers
        .get("x-signature")
        .and_then(|it| it.to_str().ok());
    if let Some(secret) = shared
        .settings
        .secret
        .as_ref()
        .or(shared.settings.token.as_ref())
        && !is_signed(&body, secret, signature)
        && (signature.is_some() || shared.settings.secret.is_some())
    {
        shared
            .arrivals
            .failed("refused an event: its signature is wrong");
        return says(StatusCode::FORBIDDEN, "the signature is wrong\n");
    }
    let Ok(event) = serde_json::from_slice::<Json>(&body) else {
        return says(StatusCode::BAD_REQUEST, "the event is not JSON\n");
    };
    let account = super::event::field(&event, "self_id").unwrap_or_default();
    if !shared.settings.admits(&account) {
        return says(
            StatusCode::FORBIDDEN,
            "this platform is for another account\n",
        );
    }
    match shared.take(&account, event).await.await {
        Ok(Ok(())) => says(StatusCode::NO_CONTENT, ""),
        Ok(Err(error)) => says(StatusCode::SERVICE_UNAVAILABLE, format!("{error}\n")),
        Err(_) => says(
            StatusCode::SERVICE_UNAVAILABLE,
            "the event was not stored\n",
        ),
    }
}

fn is_signed(body: &[u8], secret: &str, signature: Option<&str>) -> bool {
    let Some(signature) = signature.and_then(|it| it.strip_prefix("sha1=")) else {
        return false;
    };
    let Ok(mut mac) = Hmac::<Sha1>::new_from_slice(secret.as_bytes()) else {
        return false;
    };
    mac.update(body);
    let expected = mac.finalize().into_bytes();
    let expected: String = expected.iter().map(|byte| format!("{byte:02x}")).collect();
    bool::from(
        expected
            .as_bytes()
            .ct_eq(signature.to_ascii_lowercase().as_bytes()),
    )
}
