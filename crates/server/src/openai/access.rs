//! Who asks, by a bearer key: one of the operator's, or one that a plugin was lent. What a key may do
//! comes from its scopes, never from what a request says of itself.

use axum::{
    extract::{Request, State},
    http::{HeaderMap, header},
    middleware::Next,
    response::{IntoResponse, Response},
};
use callgate_agent::Parent;
use callgate_contract::{Allowed, Principal, Role, SessionKey, SessionType};
use callgate_service::{
    CHAT, MODELS, OPENAI_PLATFORM,
    remote::{METHOD, METHODS, OPERATOR},
};
use callgate_store::{Key, KeyHandle};

use super::{Failure, OpenAi};
use crate::revocation::until_revoked;

pub(super) use crate::api::Rates;

/// Requests one key may make in a burst, and how many come back each second. A model's own limits
/// are narrower: this only ends a loop that has gone wild.
pub(super) const BURST: f64 = 2_000.0;
pub(super) const PER_SECOND: f64 = 2_000.0;

/// Which keys open a listener: a key works only where it was made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Door {
    /// Those of the operator and of users.
    People,
    /// Those that plugins are lent, on the loopback listener that is open for them.
    Plugins,
}

/// Whoever was let in.
#[derive(Clone, Debug)]
pub(super) struct Asker {
    /// By which it is counted.
    pub(super) id: String,
    /// What it hears ends by it; a lent key ends with its plugin.
    pub(super) key: Option<KeyHandle>,
    pub(super) session: SessionKey,
    pub(super) principal: Principal,
    pub(super) role: Role,
    /// What a persona may use on its behalf.
    pub(super) methods: Allowed,
    /// Of a plugin, what it pays with.
    pub(super) parent: Option<Parent>,
    pub(super) chats: bool,
    pub(super) models: bool,
}

/// The layer before each route.
pub(super) async fn enter(
    State((openai, door)): State<(OpenAi, Door)>,
    mut request: Request,
    next: Next,
) -> Response {
    match openai.admit(door, request.headers()).await {
        Ok(asker) => {
            let key = asker.key.clone();
            request.extensions_mut().insert(asker);
            let answering = next.run(request);
            let answered = match &key {
                Some(key) => until_revoked(key, answering).await,
                None => Some(answering.await),
            };
            answered.unwrap_or_else(|| Failure::no_key().into_response())
        }
        Err(failure) => failure.into_response(),
    }
}

impl OpenAi {
    async fn admit(&self, door: Door, headers: &HeaderMap) -> Result<Asker, Failure> {
        let text = bearer(headers).ok_or_else(Failure::no_key)?;
        let asker = match door {
            Door::Plugins => self.0.gateway.lent(text).ok_or_else(Failure::no_key)?,
            Door::People => {
                let keys = self.store().keys();
                let key = keys.verify(text).await?.ok_or_else(Failure::no_key)?;
                let mut asker = Asker::of(&key)?;
                asker.key = Some(keys.handle(&key.id));
                asker
            }
        };
        if self.0.rates.pass(&asker.id) {
            Ok(asker)
        } else {
            Err(Failure::too_many())
        }
    }
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let given = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, key) = given.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| key.trim())
}

impl Asker {
    fn of(key: &Key) -> Result<Self, Failure> {
        let has = |scope: &str| key.scopes.iter().any(|held| held == scope);
        let operator = has(OPERATOR);
        let (chats, models) = (operator || has(CHAT), operator || has(MODELS));
        if !chats && !models {
            return Err(Failure::forbidden(CHAT));
        }
        let named = key
            .scopes
            .iter()
            .filter_map(|held| held.strip_prefix(METHOD));
        let named: Vec<String> = named.map(str::to_owned).collect();
        let session = SessionKey::new(OPENAI_PLATFORM, SessionType::FriendMessage, &key.id);
        Ok(Asker {
            id: key.id.clone(),
            key: None,
            // Invariant: an id is hexadecimal.
            session: session.map_err(|_| Failure::no_key())?,
            principal: if operator {
                Principal::Operator
            } else {
                Principal::Key(key.id.clone())
            },
            role: if operator {
                Role::Operator
            } else {
                Role::Member
            },
            // Who talks to a persona has what the persona has, unless the key names less.
            methods: if operator || has(METHODS) || named.is_empty() {
                Allowed::All
            } else {
                Allowed::Only(named)
            },
            parent: None,
            chats,
            models,
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
            created_at: jiff::Timestamp::UNIX_EPOCH,
            revoked_at: None,
        };
        Asker::of(&key).ok()
    }

    #[test]
    fn scopes_say_what_a_key_may_do() {
        assert!(asker(&["methods"]).is_none() && asker(&["method:now"]).is_none());
        let chat = asker(&["chat"]).unwrap();
        assert_eq!((chat.chats, chat.models), (true, false));
        assert_eq!((chat.methods, chat.role), (Allowed::All, Role::Member));
        assert_eq!(chat.session.to_string(), "api:FriendMessage:ab12");
        let narrow = asker(&["chat", "method:now"]).unwrap();
        assert_eq!(narrow.methods, Allowed::Only(vec!["now".into()]));
        let models = asker(&["models"]).unwrap();
        assert_eq!((models.chats, models.models), (false, true));
        let operator = asker(&["operator"]).unwrap();
        assert!(operator.chats && operator.models && operator.role == Role::Operator);
    }
}
