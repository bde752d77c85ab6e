//! Who asks, by a bearer key: one of the operator's, or one that a plugin was lent. What a key may do
//! comes from its scopes, never from what a request says of itself.

use std::net::IpAddr;

use axum::{
    extract::{MatchedPath, Request, State},
    http::{HeaderMap, Method, header},
    middleware::Next,
    response::{IntoResponse, Response},
};
use callgate_agent::Parent;
use callgate_contract::{Allowed, Role, SessionKey, SessionType};
use callgate_service::{Capabilities, Capability, OPENAI_PLATFORM, Requester};
use callgate_store::{Key, KeyHandle};

use super::{Failure, OpenAi};
use crate::{attempts::address, revocation::until_revoked};

/// Requests one key may make in a burst, and how many come back each second. A model's own limits
/// are narrower: this only ends a loop that has gone wild.
pub(super) const BURST: f64 = 10_000.0;
pub(super) const PER_SECOND: f64 = 10_000.0;

/// Which keys open a listener: a key works only where it was made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Door {
    /// Those of the operator and of users.
    People,
    /// Those that plugins are lent, on the loopback listener that is open for them.
    Plugins,
}

/// To talk to a persona or to a model itself; which of them is known when the request is read.
const EITHER: &[Capability] = &[Capability::Chat, Capability::Models];

pub(crate) const NEEDS: &[(&str, &[Capability])] = &[
    ("GET /v1/models", EITHER),
    ("GET /v1/models/{*id}", EITHER),
    ("POST /v1/chat/completions", EITHER),
    ("POST /v1/responses", EITHER),
    ("GET /v1/responses/{id}", EITHER),
    ("DELETE /v1/responses/{id}", EITHER),
    ("GET /v1/responses/{id}/input_items", EITHER),
    ("POST /v1/embeddings", &[Capability::Models]),
    ("ANY /v1/{*rest}", EITHER),
];

fn needed(method: &Method, path: Option<&MatchedPath>) -> &'static [Capability] {
    let path = path.map_or("/v1/{*rest}", MatchedPath::as_str);
    let is = |name: &str| {
        let (known, route) = name.split_once(' ').unwrap_or_default();
        route == path && (known == "ANY" || known == method.as_str())
    };
    let found = NEEDS.iter().find(|(name, _)| is(name));
    // What cannot be done here with this method is nobody's secret.
    found.map_or(EITHER, |(_, needs)| *needs)
}

/// Whoever was let in.
#[derive(Clone, Debug)]
pub(super) struct Asker {
    /// By which it is counted.
    pub(super) id: String,
    /// What it hears ends by it; a lent key ends with its plugin.
    pub(super) key: Option<KeyHandle>,
    pub(super) session: SessionKey,
    pub(super) principal: callgate_contract::Principal,
    pub(super) role: Role,
    /// What a persona may use on its behalf.
    pub(super) methods: Allowed,
    /// Of a plugin, what it pays with.
    pub(super) parent: Option<Parent>,
    pub(super) capabilities: Capabilities,
}

/// The layer before each route.
pub(super) async fn enter(
    State((openai, door)): State<(OpenAi, Door)>,
    mut request: Request,
    next: Next,
) -> Response {
    let needs = needed(request.method(), request.extensions().get::<MatchedPath>());
    let from = address(request.extensions());
    match openai.admit(door, needs, request.headers(), from).await {
        Ok(asker) => {
            let key = asker.key.clone();
            request.extensions_mut().insert(asker);
            let answering = next.run(request);
            let answered = match &key {
                Some(key) => until_revoked(key, answering).await,
                None => Some(answering.await),
            };
            answered.unwrap_or_else(|| Failure::key_ended().into_response())
        }
        Err(failure) => failure.into_response(),
    }
}

impl OpenAi {
    async fn admit(
        &self,
        door: Door,
        needs: &[Capability],
        headers: &HeaderMap,
        from: IpAddr,
    ) -> Result<Asker, Failure> {
        let text = bearer(headers).ok_or_else(Failure::no_key)?;
        let attempts = &self.0.attempts;
        if !attempts.may_try(from, text) {
            return Err(Failure::too_many_attempts());
        }
        let asker = match door {
            Door::Plugins => self.0.gateway.lent(text).ok_or_else(Failure::no_key)?,
            Door::People => {
                let keys = self.store().keys();
                let Some(key) = keys.verify(text).await? else {
                    attempts.failed(from, text);
                    return Err(Failure::no_key());
                };
                attempts.opened(text);
                let mut asker = Asker::of(&key)?;
                asker.key = Some(keys.handle(&key.id));
                asker
            }
        };
        if !self.0.rates.pass(asker.id.clone()) {
            return Err(Failure::too_many());
        }
        asker.require(needs)?;
        Ok(asker)
    }
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let given = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, key) = given.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| key.trim())
}

impl Asker {
    pub(super) fn holds(&self, capability: Capability) -> bool {
        self.capabilities.holds(capability)
    }

    /// Any one of them is enough.
    pub(super) fn require(&self, needs: &[Capability]) -> Result<(), Failure> {
        if self.capabilities.holds_any(needs) {
            return Ok(());
        }
        let scope = needs.first().map_or("operator", |one| one.scope());
        Err(Failure::forbidden(scope))
    }

    fn of(key: &Key) -> Result<Self, Failure> {
        let principal = Requester::Key(key.clone());
        let capabilities = principal.capabilities();
        let session = SessionKey::new(OPENAI_PLATFORM, SessionType::FriendMessage, &key.id);
        Ok(Asker {
            id: key.id.clone(),
            key: None,
            // Invariant: an id is hexadecimal.
            session: session.map_err(|_| Failure::no_key())?,
            principal: (&principal).into(),
            role: principal.role(),
            // Who talks to a persona has what the persona has, unless the key names less.
            methods: match capabilities.methods() {
                Allowed::Only(named) if !named.is_empty() => Allowed::Only(named.clone()),
                _ => Allowed::All,
            },
            parent: None,
            capabilities,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asker(scopes: &[&str]) -> Option<Asker> {
        let key = Key {
            id: "ab12".into(),
            scopes: scopes.iter().map(|&scope| scope.to_owned()).collect(),
            client: None,
            name: None,
            created_at: jiff::Timestamp::UNIX_EPOCH,
            revoked_at: None,
            expires_at: None,
            last_used_at: None,
        };
        Asker::of(&key).ok().filter(|it| it.require(EITHER).is_ok())
    }

    #[test]
    fn scopes_say_what_a_key_may_do() {
        assert!(asker(&["methods"]).is_none() && asker(&["method:now"]).is_none());
        let chat = asker(&["chat"]).unwrap();
        let held = |asker: &Asker| {
            EITHER
                .iter()
                .map(|one| asker.holds(*one))
                .collect::<Vec<_>>()
        };
        assert_eq!(held(&chat), [true, false]);
        assert_eq!((chat.methods, chat.role), (Allowed::All, Role::Member));
        assert_eq!(chat.session.to_string(), "api:FriendMessage:ab12");
        let narrow = asker(&["chat", "method:now"]).unwrap();
        assert_eq!(narrow.methods, Allowed::Only(vec!["now".into()]));
        let models = asker(&["models"]).unwrap();
        assert_eq!(held(&models), [false, true]);
        let operator = asker(&["operator"]).unwrap();
        assert_eq!(
            (held(&operator), operator.role),
            (vec![true; 2], Role::Operator)
        );
    }
}
