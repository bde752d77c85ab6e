//! The routes, and the headers that every answer carries.

use std::{io, sync::Arc};

use axum::{
    Router,
    extract::{Request, State},
    http::{HeaderName, HeaderValue, StatusCode, header},
    middleware::{self, Next},
    response::{Html, IntoResponse, Response},
    routing::get,
};
use tokio::net::TcpListener;

use crate::{
    Metrics,
    visitor::{Hosts, admit},
};

/// What is served.
#[derive(Clone)]
pub struct Site {
    pub hosts: Hosts,
    pub metrics: Arc<Metrics>,
    /// How many warm processes wait for a run.
    pub waiting: Arc<dyn Fn() -> usize + Send + Sync>,
}

/// Serves until `stop`, then ends what is being answered.
pub async fn serve(
    listener: TcpListener,
    site: Site,
    stop: impl Future<Output = ()> + Send + 'static,
) -> io::Result<()> {
    axum::serve(listener, router(site))
        .with_graceful_shutdown(stop)
        .await
}

fn router(site: Site) -> Router {
    let hosts = site.hosts.clone();
    Router::new()
        .route("/", get(async || Html(include_str!("page/index.html"))))
        .route("/style.css", get(style))
        .route("/healthz", get(async || "ok\n"))
        .route("/metrics", get(metrics))
        .fallback(async || (StatusCode::NOT_FOUND, "nothing is here\n"))
        .with_state(site)
        .layer(middleware::from_fn_with_state(hosts, admit))
        .layer(middleware::from_fn(guarded))
}

async fn style() -> Response {
    let kind = [(header::CONTENT_TYPE, "text/css; charset=utf-8")];
    (kind, include_str!("page/style.css")).into_response()
}

async fn metrics(State(site): State<Site>) -> Response {
    let kind = [(header::CONTENT_TYPE, "text/plain; version=0.0.4")];
    (kind, site.metrics.text((site.waiting)())).into_response()
}

/// What a browser must not do with anything of ours.
const GUARDS: [(HeaderName, &str); 4] = [
    (
        header::CONTENT_SECURITY_POLICY,
        "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; \
         frame-ancestors 'none'",
    ),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::CACHE_CONTROL, "no-store"),
];

async fn guarded(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    for (name, value) in GUARDS {
        let headers = response.headers_mut();
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}
