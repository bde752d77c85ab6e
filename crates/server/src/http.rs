//! The routes, and the headers that every answer carries.

use std::io;

use axum::{
    Router,
    extract::{Request, State},
    http::{HeaderName, HeaderValue, header},
    middleware::{self, Next},
    response::{IntoResponse, Response},
    routing::get,
};

use callgate_service::{Capability, Remote};

use crate::{
    Api, Entrance, Surfaces,
    api::{Asking, Problem, admit as admit_key},
    docs, mcp,
    metrics::counted,
    page, plugin_web, remote,
    visitor::{Hosts, admit, is_here},
};

/// What is served.
#[derive(Clone)]
pub struct Site {
    pub hosts: Hosts,
    pub api: Api,
    surfaces: Surfaces,
}

impl Site {
    pub fn new(surfaces: Surfaces) -> Self {
        let service = &surfaces.service;
        Site {
            hosts: Hosts::new(service.config().serve.hosts.clone()),
            api: Api::new(service.clone()),
            surfaces,
        }
    }
}

/// Serves until `stop`, then ends what is being answered.
pub async fn serve(
    entrance: Entrance,
    site: Site,
    stop: impl Future<Output = ()> + Send + 'static,
) -> io::Result<()> {
    entrance.serve(router(site), stop).await
}

/// The same for remote clients alone: Socket.IO and their static resources.
pub async fn serve_remote(
    entrance: Entrance,
    remote: Remote,
    hosts: Hosts,
    stop: impl Future<Output = ()> + Send + 'static,
) -> io::Result<()> {
    entrance.serve(remote::routes(&remote, hosts), stop).await
}

pub(crate) fn router(site: Site) -> Router {
    let Surfaces {
        service,
        openai,
        mcp,
    } = site.surfaces.clone();
    let (hosts, metrics) = (site.hosts.clone(), service.metrics().clone());
    let api = site.api.routes();
    let plugins = plugin_web::routes(site.api.clone());
    let tickets = plugin_web::ticket_routes(site.api.clone(), site.hosts.clone());
    let remote = remote::routes(service.remote(), site.hosts.clone());
    let openai = openai.routes();
    let mcp = mcp::routes(site.api.clone(), mcp);
    page::routes()
        .merge(docs::routes())
        .route("/healthz", get(ready))
        .route("/livez", get(async || "ok\n"))
        .route("/metrics", get(show_metrics))
        .with_state(site)
        .merge(api)
        .merge(plugins)
        .merge(openai)
        .merge(mcp)
        .layer(middleware::from_fn_with_state(hosts, admit))
        // With guards of its own: pages that run as nobody may reach it.
        .merge(tickets)
        .layer(middleware::from_fn(guarded))
        // The same for pages of others.
        .merge(remote)
        .layer(middleware::from_fn_with_state(metrics, counted))
}

/// What belongs to no other surface.
pub(crate) const NEEDS: &[(&str, Capability)] = &[
    ("GET /healthz", Capability::Anyone),
    ("GET /livez", Capability::Anyone),
    ("GET /metrics", Capability::Metrics),
];

async fn ready(State(site): State<Site>) -> Result<&'static str, Problem> {
    site.api.health().ready().await
}

/// With a key, or without one on this machine where the operator chose so.
async fn show_metrics(State(site): State<Site>, request: Request) -> Result<Response, Problem> {
    let service = &site.surfaces.service;
    let (parts, _) = request.into_parts();
    if !(service.config().serve.local_metrics && is_here(&parts)) {
        admit_key(&site.api, Capability::Metrics, Asking::from(&parts)).await?;
    }
    let kind = [(header::CONTENT_TYPE, "text/plain; version=0.0.4")];
    Ok((kind, service.metrics().text(&service.now())).into_response())
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
        // What a route says for itself is stricter.
        headers
            .entry(name)
            .or_insert(HeaderValue::from_static(value));
    }
    response
}
