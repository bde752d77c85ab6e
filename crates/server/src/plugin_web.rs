//! Web pages, web sockets and webhooks of plugins: a reverse proxy to the worker that has the plugin.
//! Whoever asks holds a key; the plugin learns who, from headers that nobody outside can set. Its pages
//! are never pages of ours.

mod tickets;

use axum::{
    RequestExt, Router,
    body::{Body, Bytes},
    extract::{DefaultBodyLimit, FromRequest, Path, Request, State},
    http::{
        HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri, header, uri::PathAndQuery,
    },
    middleware::{self, Next},
    response::{IntoResponse, Response},
    routing::{any, post},
};
use callgate_service::{Capability, PluginWebError, Visit, Webhook};
use callgate_store::KeyHandle;
use hyper::upgrade::OnUpgrade;
use hyper_util::rt::TokioIo;
use tokio::{net::UnixStream, sync::oneshot};

pub(crate) use self::tickets::Tickets;
use crate::{
    api::{Access, Api, Asking, Problem, admit},
    revocation::until_revoked,
    visitor::Hosts,
};

/// Bytes of a request to a plugin.
const MOST: usize = 16 << 20;
const USER: HeaderName = HeaderName::from_static("x-callgate-user");
const ROLE: HeaderName = HeaderName::from_static("x-callgate-role");
/// Under which path of ours the plugin's routes lie.
const ROOT: HeaderName = HeaderName::from_static("x-callgate-root");
/// Between us and the next, or ours alone.
const NOT_PASSED: [HeaderName; 8] = [
    header::CONNECTION,
    header::UPGRADE,
    header::TRANSFER_ENCODING,
    header::TE,
    header::TRAILER,
    header::HOST,
    header::COOKIE,
    header::AUTHORIZATION,
];
/// A page that runs as nobody: no cookies, no storage, no access to ours.
const POLICY: &str = "sandbox allow-scripts allow-forms allow-popups; frame-ancestors 'self'";

/// A ticket is for whoever holds it, and was made by somebody who has what its routes need.
pub(crate) const NEEDS: &[(&str, Capability)] = &[
    ("ANY /plugins/{plugin}", Capability::Methods),
    ("ANY /plugins/{plugin}/", Capability::Methods),
    ("ANY /plugins/{plugin}/{*rest}", Capability::Methods),
    ("POST /api/webhook/{endpoint}", Capability::Methods),
    ("ANY /tickets/{ticket}/{plugin}", Capability::Methods),
    ("ANY /tickets/{ticket}/{plugin}/", Capability::Methods),
    (
        "ANY /tickets/{ticket}/{plugin}/{*rest}",
        Capability::Methods,
    ),
];

pub(crate) fn routes(api: Api) -> Router {
    Router::new()
        .route("/plugins/{plugin}", any(pass))
        .route("/plugins/{plugin}/", any(pass))
        .route("/plugins/{plugin}/{*rest}", any(pass))
        .route("/api/webhook/{endpoint}", post(webhook))
        .layer(DefaultBodyLimit::max(MOST))
        .with_state(api)
}

/// For pages that run as nobody, which is why their origin is not asked for; the ticket decides.
pub(crate) fn ticket_routes(api: Api, hosts: Hosts) -> Router {
    Router::new()
        .route("/tickets/{ticket}/{plugin}", any(pass_with_ticket))
        .route("/tickets/{ticket}/{plugin}/", any(pass_with_ticket))
        .route("/tickets/{ticket}/{plugin}/{*rest}", any(pass_with_ticket))
        .layer(DefaultBodyLimit::max(MOST))
        .with_state(api)
        .layer(middleware::from_fn_with_state(hosts, open_to_nobody))
}

/// Whoever has a ticket's address may read what it gives, from whatever page.
async fn open_to_nobody(State(hosts): State<Hosts>, request: Request, next: Next) -> Response {
    if let Some(refusal) = hosts.unknown(request.headers()) {
        return refusal.into_response();
    }
    let asks_first = request.method() == Method::OPTIONS
        && (request.headers()).contains_key(header::ACCESS_CONTROL_REQUEST_METHOD);
    let mut response = if asks_first {
        StatusCode::NO_CONTENT.into_response()
    } else {
        next.run(request).await
    };
    for name in [
        header::ACCESS_CONTROL_ALLOW_ORIGIN,
        header::ACCESS_CONTROL_ALLOW_METHODS,
        header::ACCESS_CONTROL_ALLOW_HEADERS,
    ] {
        let headers = response.headers_mut();
        headers.insert(name, HeaderValue::from_static("*"));
    }
    response
}

async fn pass(State(api): State<Api>, request: Request) -> Result<Response, Problem> {
    let access = admit(&api, Capability::Methods, Asking::from(&request)).await?;
    let inside = beneath(&request, "/plugins");
    through(api, access, "/plugins", inside, request).await
}

async fn pass_with_ticket(State(api): State<Api>, request: Request) -> Result<Response, Problem> {
    let inside = beneath(&request, "/tickets");
    let mut pieces = inside.split(['/', '?']).skip(1);
    let (ticket, plugin) = (pieces.next(), pieces.next());
    let (ticket, plugin) = (ticket.unwrap_or_default(), plugin.unwrap_or_default());
    let access = api.tickets().find(ticket, plugin);
    let access = access.ok_or_else(Problem::locked_out)?;
    access.principal().require(Capability::Methods)?;
    let root = format!("/tickets/{ticket}");
    let inside = beneath(&request, &root);
    through(api, access, &root, inside, request).await
}

/// The request's path without `root`, and its query.
fn beneath(request: &Request, root: &str) -> String {
    let path = request.uri().path_and_query();
    let path = path.map_or("/", PathAndQuery::as_str);
    path.strip_prefix(root).unwrap_or(path).to_owned()
}

async fn through(
    api: Api,
    access: Access,
    root: &str,
    inside: String,
    request: Request,
) -> Result<Response, Problem> {
    let key = access.handle.clone();
    let answering = async {
        let answer = visit(api, access, root, inside, request).await;
        answer.unwrap_or_else(IntoResponse::into_response)
    };
    let answered = until_revoked(&key, answering).await;
    answered.ok_or_else(Problem::key_ended)
}

async fn visit(
    api: Api,
    access: Access,
    root: &str,
    inside: String,
    mut request: Request,
) -> Result<Response, Problem> {
    if let Ok(root) = HeaderValue::from_str(root) {
        request.headers_mut().insert(ROOT, root);
    }
    let piece = |until: &[char], place: usize| {
        let piece = inside.split(until).nth(place).unwrap_or_default();
        piece.to_owned()
    };
    let visit = Visit {
        plugin: piece(&['/', '?'], 1),
        method: request.method().to_string(),
        path: piece(&['?'], 0),
        user: access.principal().user(),
    };
    let (tell, told) = oneshot::channel();
    let passing = async move |stream| {
        let answer = forward(stream, request.with_limited_body(), &inside, &access).await;
        let answer = answer.map_err(|error| error.to_string())?;
        let status = answer.status().as_u16();
        let _ = tell.send(answer);
        Ok(status)
    };
    let passing = Box::new(|stream| Box::pin(passing(stream)) as _);
    let passed = api.service().visit_plugin(visit, passing).await;
    let failed = |error: String| {
        tracing::warn!(error, "plugin route failed");
        Problem::bad_gateway("the plugin did not answer")
    };
    match passed {
        Ok(()) => told.await.map_err(|error| failed(error.to_string())),
        Err(PluginWebError::Missing(title)) => Err(Problem::missing(title)),
        Err(PluginWebError::Failed(error)) => Err(failed(error)),
    }
}

type BoxError = Box<dyn std::error::Error + Send + Sync>;

async fn forward(
    stream: UnixStream,
    mut request: Request,
    inside: &str,
    access: &Access,
) -> Result<Response, BoxError> {
    let upgraded = wants_socket(request.headers()).then(|| hyper::upgrade::on(&mut request));
    let (mut sender, connection) =
        hyper::client::conn::http1::handshake::<_, Body>(TokioIo::new(stream)).await?;
    // Ends with the answer's last byte.
    tokio::spawn(async move {
        if let Err(error) = connection.with_upgrades().await {
            tracing::debug!(%error, "a connection to a worker ended");
        }
    });
    let (mut parts, body) = request.into_parts();
    parts.uri = inside.parse::<Uri>()?;
    identified(&mut parts.headers, access);
    if upgraded.is_some() {
        let headers = &mut parts.headers;
        headers.insert(header::CONNECTION, HeaderValue::from_static("upgrade"));
        headers.insert(header::UPGRADE, HeaderValue::from_static("websocket"));
    }
    let mut answer = sender
        .send_request(Request::from_parts(parts, body))
        .await?;
    if let Some(upgraded) = upgraded
        && answer.status() == StatusCode::SWITCHING_PROTOCOLS
    {
        let inner = hyper::upgrade::on(&mut answer);
        let key = access.handle.clone();
        tokio::spawn(async move {
            if let Err(error) = join(upgraded, inner, &key).await {
                tracing::debug!(%error, "a plugin's web socket ended");
            }
        });
        return Ok(answer.map(Body::new));
    }
    let mut answer = answer.map(Body::new);
    let headers = answer.headers_mut();
    for name in [
        header::CONNECTION,
        header::TRANSFER_ENCODING,
        header::SET_COOKIE,
    ] {
        headers.remove(name);
    }
    let policy = HeaderValue::from_static(POLICY);
    headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    Ok(answer)
}

fn wants_socket(headers: &HeaderMap) -> bool {
    let upgrade = headers.get(header::UPGRADE);
    upgrade.is_some_and(|name| name.as_bytes().eq_ignore_ascii_case(b"websocket"))
}

/// Until one side ends, or the key by which it was opened is revoked.
async fn join(outer: OnUpgrade, inner: OnUpgrade, key: &KeyHandle) -> Result<(), BoxError> {
    let joined = async {
        let (outer, inner) = tokio::try_join!(outer, inner)?;
        let (mut outer, mut inner) = (TokioIo::new(outer), TokioIo::new(inner));
        tokio::io::copy_bidirectional(&mut outer, &mut inner).await?;
        Ok(())
    };
    tokio::select! {
        joined = joined => joined,
        () = key.revoked() => Err("its key was revoked".into()),
    }
}

fn identified(headers: &mut HeaderMap, access: &Access) {
    for name in NOT_PASSED.into_iter().chain([USER, ROLE]) {
        headers.remove(name);
    }
    headers.insert(header::HOST, HeaderValue::from_static("plugin"));
    if let Ok(user) = HeaderValue::from_str(&access.principal().user()) {
        headers.insert(USER, user);
    }
    let role = access.principal().role().to_plugins();
    headers.insert(ROLE, HeaderValue::from_static(role));
}

/// Compat(nekro): the same path; unlike there, whoever posts holds a key.
async fn webhook(
    State(api): State<Api>,
    Path(endpoint): Path<String>,
    request: Request,
) -> Result<Response, Problem> {
    let headers = request.headers().clone();
    // Before a byte of the body is read.
    let access = admit(&api, Capability::Methods, Asking::from(&request)).await?;
    let body = Bytes::from_request(request, &()).await;
    let body = body.map_err(|rejection| Problem::bad(rejection.body_text()))?;
    let passed = headers
        .iter()
        .filter(|(name, _)| !NOT_PASSED.contains(name));
    let text = |value: &HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    let headers = passed.map(|(name, value)| (name.to_string(), text(value)));
    let hook = Webhook {
        endpoint,
        headers: headers.collect(),
        body,
    };
    let calling = async {
        let called = api.service().call_webhook(hook).await;
        let called = called.map_err(Problem::missing);
        called.map_or_else(IntoResponse::into_response, |called| {
            axum::Json(called).into_response()
        })
    };
    let answered = until_revoked(&access.handle, calling).await;
    answered.ok_or_else(Problem::key_ended)
}
