//! Scripts for clients: the library they connect with, as its makers publish it, and our own
//! one-file helper.

use axum::{
    Router,
    http::{StatusCode, header},
    response::{IntoResponse, Response},
    routing::get,
};

include!(concat!(env!("OUT_DIR"), "/bundles.rs"));

const MISSING: &str = "\
The Socket.IO client was not there when this callgate was built.
Install it and build again: npm ci --prefix e2e && cargo build
Or load it from where you have it: npm install socket.io-client
";

pub(super) fn routes() -> Router {
    let bundle = |name: &'static str| get(async move || library(name));
    Router::new()
        .route("/socket.io/socket.io.js", bundle("socket.io.js"))
        .route("/socket.io/socket.io.min.js", bundle("socket.io.min.js"))
        .route(
            "/socket.io/socket.io.esm.min.js",
            bundle("socket.io.esm.min.js"),
        )
        .route(
            "/callgate.js",
            get(async || script(include_str!("callgate.js"))),
        )
}

fn library(name: &str) -> Response {
    match BUNDLES.iter().find(|(known, _)| *known == name) {
        Some((_, text)) => script(text),
        None => (StatusCode::NOT_FOUND, MISSING).into_response(),
    }
}

fn script(text: &'static str) -> Response {
    let headers = [
        (header::CONTENT_TYPE, "text/javascript; charset=utf-8"),
        (header::CACHE_CONTROL, "no-cache"),
        // Pages of other origins may load it: it is public.
        (
            header::HeaderName::from_static("cross-origin-resource-policy"),
            "cross-origin",
        ),
    ];
    (headers, text).into_response()
}
