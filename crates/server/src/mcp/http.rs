//! `/mcp`: the streamable HTTP transport behind our own door. Every request holds a key, and a
//! session of the protocol belongs to the key that began it: to any other it does not exist.

use std::{collections::HashMap, sync::Arc, time::Duration};

use axum::{
    Router,
    body::Body,
    extract::{Request, State},
    http::{HeaderName, HeaderValue, Method, StatusCode, header},
    response::{IntoResponse, Response},
    routing::any,
};
use callgate_service::Capability;
use parking_lot::Mutex;
use rmcp::transport::streamable_http_server::{
    StreamableHttpServerConfig, StreamableHttpService, session::local::LocalSessionManager,
};

use super::{Mcp, handler::Handler};
use crate::{
    api::{Api, Asking, Problem, admit},
    revocation::until_revoked,
};

const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
/// Bytes of one message.
const MOST: usize = 16 << 20;
/// Sessions that one key may have open; the oldest gives way.
const EACH: usize = 64;
/// A session that is not used for this long is ended; a client begins a new one by itself.
const IDLE: Duration = Duration::from_secs(3_600);

pub(crate) const NEEDS: &[(&str, Capability)] = &[("ANY /mcp", Capability::Call)];

#[derive(Clone)]
struct Door {
    api: Api,
    mcp: Mcp,
    manager: Arc<LocalSessionManager>,
    service: StreamableHttpService<Handler, LocalSessionManager>,
}

pub(crate) fn routes(api: Api, mcp: Mcp) -> Router {
    let mut manager = LocalSessionManager::default();
    manager.session_config.keep_alive = Some(IDLE);
    let manager = Arc::new(manager);
    // Hosts and origins were looked at before, by what the operator said of them.
    let config = StreamableHttpServerConfig::default()
        .disable_allowed_hosts()
        .disable_allowed_origins()
        .with_max_request_body_bytes(MOST);
    let end = config.cancellation_token.clone();
    mcp.0.http.on_close(move || end.cancel());
    let handlers = mcp.clone();
    let service = StreamableHttpService::new(
        move || Ok(Handler::new(handlers.clone(), None)),
        manager.clone(),
        config,
    );
    Router::new().route("/mcp", any(enter)).with_state(Door {
        api,
        mcp,
        manager,
        service,
    })
}

async fn enter(State(door): State<Door>, mut request: Request) -> Response {
    let (method, headers) = (request.method().clone(), request.headers());
    let access = match admit(&door.api, Capability::Call, Asking::from(&request)).await {
        Ok(access) => access,
        Err(problem) => {
            let mut response = problem.into_response();
            if response.status() == StatusCode::UNAUTHORIZED {
                let bearer = HeaderValue::from_static("Bearer");
                response
                    .headers_mut()
                    .insert(header::WWW_AUTHENTICATE, bearer);
            }
            return response;
        }
    };
    let key = access.key.id.clone();
    let sessions = &door.mcp.0.http;
    let said = headers
        .get(SESSION)
        .map(|said| said.to_str().unwrap_or_default());
    if let Some(session) = said.map(str::to_owned) {
        if !sessions.belongs(&session, &key) {
            return (StatusCode::NOT_FOUND, "no such session: begin a new one\n").into_response();
        }
        if method == Method::DELETE {
            sessions.forget(&session);
        }
    }
    let handle = access.handle.clone();
    request.extensions_mut().insert(access);
    let answering = async { door.service.handle(request).await.map(Body::new) };
    let Some(answer) = until_revoked(&handle, answering).await else {
        return Problem::key_ended().into_response();
    };
    if let Some(begun) = answer.headers().get(SESSION)
        && let Ok(begun) = begun.to_str()
    {
        door.begun(begun.to_owned(), key).await;
    }
    answer
}

impl Door {
    async fn begun(&self, session: String, key: String) {
        let open: Vec<String> = {
            let open = self.manager.sessions.read().await;
            open.keys().map(|id| id.to_string()).collect()
        };
        for old in self.mcp.0.http.add(session, key, &open) {
            use rmcp::transport::streamable_http_server::session::SessionManager as _;
            if let Err(error) = self.manager.close_session(&old.into()).await {
                tracing::debug!(%error, "an old session over MCP did not end");
            }
        }
    }
}

/// Whose each session is. Mutexes, held for a look.
#[derive(Default)]
pub(super) struct SessionOwners {
    owners: Mutex<Owners>,
    close: Mutex<Option<Box<dyn Fn() + Send>>>,
}

#[derive(Default)]
struct Owners {
    /// Of each session its key, and its place in the order they began.
    of: HashMap<String, (String, u64)>,
    begun: u64,
}

impl SessionOwners {
    fn belongs(&self, session: &str, key: &str) -> bool {
        let owners = self.owners.lock();
        owners
            .of
            .get(session)
            .is_some_and(|(owner, _)| owner == key)
    }

    fn forget(&self, session: &str) {
        self.owners.lock().of.remove(session);
    }

    /// Returns the sessions of the key that are one too many. Those that are not `open` any more are
    /// forgotten.
    fn add(&self, session: String, key: String, open: &[String]) -> Vec<String> {
        let mut owners = self.owners.lock();
        owners.of.retain(|known, _| open.contains(known));
        owners.begun += 1;
        let place = owners.begun;
        owners.of.insert(session, (key.clone(), place));
        let own = owners.of.iter().filter(|(_, (owner, _))| *owner == key);
        let mut own: Vec<(u64, String)> =
            own.map(|(id, (_, place))| (*place, id.clone())).collect();
        own.sort();
        let many = own.len().saturating_sub(EACH);
        let old: Vec<String> = own.into_iter().take(many).map(|(_, id)| id).collect();
        for id in &old {
            owners.of.remove(id);
        }
        old
    }

    fn on_close(&self, close: impl Fn() + Send + 'static) {
        *self.close.lock() = Some(Box::new(close));
    }

    pub(super) fn close(&self) {
        let close = self.close.lock();
        if let Some(close) = close.as_ref() {
            close();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_belongs_to_its_key_and_old_ones_give_way() {
        let sessions = SessionOwners::default();
        let names: Vec<String> = (0..=EACH).map(|n| format!("s{n}")).collect();
        sessions.add("other".into(), "b".into(), &[]);
        let mut open = vec!["other".to_owned()];
        for (n, name) in names.iter().enumerate() {
            open.push(name.clone());
            let old = sessions.add(name.clone(), "a".into(), &open);
            let expected = if n == EACH {
                vec!["s0".to_owned()]
            } else {
                vec![]
            };
            assert_eq!(old, expected);
        }
        assert!(sessions.belongs("s1", "a") && sessions.belongs("other", "b"));
        for (session, key) in [("s0", "a"), ("s1", "b"), ("other", "a"), ("none", "a")] {
            assert!(!sessions.belongs(session, key), "{session} {key}");
        }
        sessions.forget("s1");
        assert!(!sessions.belongs("s1", "a"));
    }
}
