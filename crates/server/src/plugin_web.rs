//! Web pages and webhooks of plugins: a reverse proxy to the worker that has the plugin. Whoever asks
//! holds a key; the plugin learns who, from headers that nobody outside can set. Its pages are never
//! pages of ours.

use std::sync::Arc;

use axum::{
    Router,
    body::{Body, Bytes},
    extract::{DefaultBodyLimit, Path, Request, State},
    http::{HeaderMap, HeaderName, HeaderValue, StatusCode, Uri, header, uri::PathAndQuery},
    response::{IntoResponse, Response},
    routing::{any, post},
};
use callgate_contract::{BoxFuture, Role};
use hyper_util::rt::TokioIo;
use serde_json::Value as Json;
use tokio::net::UnixStream;

use crate::api::{Access, Api, Problem, Scope, admit};

/// Bytes of a request to a plugin.
const MOST: usize = 16 << 20;
const USER: HeaderName = HeaderName::from_static("x-callgate-user");
const ROLE: HeaderName = HeaderName::from_static("x-callgate-role");
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

type Answering<T> = BoxFuture<'static, Result<T, String>>;

/// How plugins are reached. Errors are told to the caller.
#[derive(Clone)]
pub struct PluginWeb {
    /// To the routes of the worker that has this plugin.
    pub connect: Arc<dyn Fn(String) -> Answering<UnixStream> + Send + Sync>,
    /// To every plugin with this endpoint: who was called, and what went wrong.
    pub webhook: Arc<dyn Fn(Webhook) -> Answering<Json> + Send + Sync>,
}

#[derive(Clone, Debug)]
pub struct Webhook {
    pub endpoint: String,
    pub headers: Vec<(String, String)>,
    pub body: Bytes,
}

#[derive(Clone)]
struct Reach {
    api: Api,
    web: PluginWeb,
}

pub(crate) fn routes(api: Api, web: PluginWeb) -> Router {
    Router::new()
        .route("/plugins/{plugin}", any(pass))
        .route("/plugins/{plugin}/", any(pass))
        .route("/plugins/{plugin}/{*rest}", any(pass))
        .route("/api/webhook/{endpoint}", post(webhook))
        .layer(DefaultBodyLimit::max(MOST))
        .with_state(Reach { api, web })
}

async fn pass(State(reach): State<Reach>, request: Request) -> Result<Response, Problem> {
    let access = admit(
        &reach.api,
        Scope::Methods,
        request.method(),
        request.headers(),
    )
    .await?;
    let path = request
        .uri()
        .path_and_query()
        .map_or("/", PathAndQuery::as_str);
    let inside = path.strip_prefix("/plugins").unwrap_or(path).to_owned();
    let plugin = inside
        .split(['/', '?'])
        .nth(1)
        .unwrap_or_default()
        .to_owned();
    let stream = (reach.web.connect)(plugin)
        .await
        .map_err(Problem::missing)?;
    let answer = forward(stream, request, &inside, &access).await;
    answer.map_err(|error| {
        tracing::warn!(%error, "a plugin's route did not answer");
        Problem::bad_gateway("the plugin did not answer")
    })
}

type Failed = Box<dyn std::error::Error + Send + Sync>;

async fn forward(
    stream: UnixStream,
    request: Request,
    inside: &str,
    access: &Access,
) -> Result<Response, Failed> {
    let (mut sender, connection) =
        hyper::client::conn::http1::handshake::<_, Body>(TokioIo::new(stream)).await?;
    // Ends with the answer's last byte.
    tokio::spawn(async move {
        if let Err(error) = connection.await {
            tracing::debug!(%error, "a connection to a worker ended");
        }
    });
    let (mut parts, body) = request.into_parts();
    parts.uri = inside.parse::<Uri>()?;
    identified(&mut parts.headers, access);
    let answer = sender
        .send_request(Request::from_parts(parts, body))
        .await?;
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

fn identified(headers: &mut HeaderMap, access: &Access) {
    for name in NOT_PASSED.into_iter().chain([USER, ROLE]) {
        headers.remove(name);
    }
    headers.insert(header::HOST, HeaderValue::from_static("plugin"));
    if let Ok(user) = HeaderValue::from_str(&access.user()) {
        headers.insert(USER, user);
    }
    let role = match access.role() {
        Role::Operator => "operator",
        Role::User => "user",
    };
    headers.insert(ROLE, HeaderValue::from_static(role));
}

/// Compat(nekro): the same path; unlike there, whoever posts holds a key.
async fn webhook(
    State(reach): State<Reach>,
    Path(endpoint): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Response, Problem> {
    let post = axum::http::Method::POST;
    admit(&reach.api, Scope::Methods, &post, &headers).await?;
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
    let called = (reach.web.webhook)(hook).await.map_err(Problem::missing)?;
    Ok((StatusCode::OK, axum::Json(called)).into_response())
}
