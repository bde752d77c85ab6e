//! Who asks, and how often. A key comes as a bearer token or, from our own page, in a cookie that
//! scripts cannot read; both are the same key, so that revoking it ends both.

use std::{collections::HashMap, time::Instant};

use axum::{
    extract::{Request, State},
    http::{HeaderMap, Method, header},
    middleware::Next,
    response::{IntoResponse, Response},
};
use callgate_contract::Role;
use callgate_store::{Key, KeyHandle};
use parking_lot::Mutex;

use super::{Api, problem::Problem};
use callgate_service::{Capability, Principal, remote::METHOD};

use crate::{revocation::until_revoked, unknown::taken};

/// The cookie of the page.
pub(super) const COOKIE: &str = "callgate_key";

/// Bytes of a request without a key: a login holds one.
pub(super) const MOST_UNKNOWN: usize = 4 << 10;

/// What a key may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// Anybody who reaches us.
    Open,
    /// See and call the methods that remote callers may.
    Methods,
    /// The same, or of those only the ones that the key names.
    SomeMethods,
    /// Everything.
    Operator,
}

impl From<Capability> for Scope {
    fn from(capability: Capability) -> Self {
        match capability {
            Capability::Methods => Scope::Methods,
            Capability::SomeMethods => Scope::SomeMethods,
            Capability::Operator => Scope::Operator,
        }
    }
}

impl Scope {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Scope::Open => "none",
            Scope::Methods | Scope::SomeMethods => "methods",
            Scope::Operator => "operator",
        }
    }
}

/// Whoever was let in.
#[derive(Clone, Debug)]
pub(crate) struct Access {
    pub(crate) key: Key,
    /// What outlives the request ends by it.
    pub(crate) handle: KeyHandle,
}

impl Access {
    pub(crate) fn holds(&self, scope: Scope) -> bool {
        let held = |word: &str| self.key.scopes.iter().any(|scope| scope == word);
        let named = || self.key.scopes.iter().any(|held| held.starts_with(METHOD));
        scope == Scope::Open
            || held(scope.word())
            || held(Scope::Operator.word())
            || (scope == Scope::SomeMethods && named())
    }

    pub(crate) fn principal(&self) -> Principal {
        Principal::Key(self.key.clone())
    }

    pub(crate) fn role(&self) -> Role {
        if self.holds(Scope::Operator) {
            Role::Operator
        } else {
            Role::Member
        }
    }

    /// As whom a key speaks where nobody is named.
    pub(crate) fn user(&self) -> String {
        self.principal().user()
    }
}

/// The layer before each route.
pub(super) async fn enter(
    State((api, scope)): State<(Api, Scope)>,
    mut request: Request,
    next: Next,
) -> Response {
    if scope == Scope::Open {
        return match taken(request, MOST_UNKNOWN).await {
            Ok(request) => next.run(request).await,
            Err(why) => Problem::untaken(why).into_response(),
        };
    }
    match admit(&api, scope, request.method(), request.headers()).await {
        Ok(access) => {
            let key = access.handle.clone();
            request.extensions_mut().insert(access);
            let answered = until_revoked(&key, next.run(request)).await;
            answered.unwrap_or_else(|| Problem::locked_out().into_response())
        }
        Err(problem) => problem.into_response(),
    }
}

pub(crate) async fn admit(
    api: &Api,
    scope: Scope,
    method: &Method,
    headers: &HeaderMap,
) -> Result<Access, Problem> {
    let text = key_text(method, headers).ok_or_else(Problem::locked_out)?;
    let keys = api.store().keys();
    let key = keys.verify(&text).await?.ok_or_else(Problem::locked_out)?;
    let access = Access {
        handle: keys.handle(&key.id),
        key,
    };
    if !api.rates().pass(&access.key.id) {
        return Err(Problem::too_many());
    }
    if access.holds(scope) {
        Ok(access)
    } else {
        Err(Problem::forbidden(scope.word()))
    }
}

fn key_text(method: &Method, headers: &HeaderMap) -> Option<String> {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
    if let Some(given) = text(header::AUTHORIZATION) {
        let (scheme, key) = given.split_once(' ')?;
        return scheme
            .eq_ignore_ascii_case("bearer")
            .then(|| key.trim().to_owned());
    }
    // A cookie goes along with whatever a browser sends, so what changes anything must come from
    // our own page: browsers say so, and the origin was compared before.
    if *method != Method::GET && !headers.contains_key(header::ORIGIN) {
        return None;
    }
    let mut cookies = text(header::COOKIE)?.split(';').map(str::trim);
    cookies.find_map(|cookie| Some(cookie.strip_prefix(COOKIE)?.strip_prefix('=')?.to_owned()))
}

/// Requests one key may make in a burst, and how many come back each second.
const BURST: f64 = 200.0;
const PER_SECOND: f64 = 50.0;

/// A bucket for each key.
pub(crate) struct Rates {
    burst: f64,
    per_second: f64,
    /// A mutex, held for the arithmetic.
    buckets: Mutex<HashMap<String, Bucket>>,
}

impl Default for Rates {
    fn default() -> Self {
        Rates::new(BURST, PER_SECOND)
    }
}

struct Bucket {
    left: f64,
    seen: Instant,
}

impl Rates {
    pub(crate) fn new(burst: f64, per_second: f64) -> Self {
        Rates {
            burst,
            per_second,
            buckets: Mutex::default(),
        }
    }

    /// Keys are few: only verified ones come here.
    pub(crate) fn pass(&self, key: &str) -> bool {
        let mut buckets = self.buckets.lock();
        let now = Instant::now();
        let bucket = buckets.entry(key.to_owned()).or_insert(Bucket {
            left: self.burst,
            seen: now,
        });
        let back = now.duration_since(bucket.seen).as_secs_f64() * self.per_second;
        bucket.left = (bucket.left + back).min(self.burst);
        bucket.seen = now;
        let pass = bucket.left >= 1.0;
        bucket.left -= f64::from(pass);
        pass
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_passes_and_a_flood_does_not() {
        let rates = Rates::default();
        let passed = (0..1_000).filter(|_| rates.pass("one")).count();
        assert!((200..1_000).contains(&passed), "{passed}");
        assert!(rates.pass("another"));
    }

    #[test]
    fn a_cookie_alone_changes_nothing() {
        let headers = |pairs: &[(header::HeaderName, &str)]| {
            let pairs = pairs.iter();
            pairs
                .map(|(name, value)| (name.clone(), value.parse().unwrap()))
                .collect::<HeaderMap>()
        };
        let cookie = (header::COOKIE, "a=b; callgate_key=secret");
        let origin = (header::ORIGIN, "http://localhost");
        let read = key_text(&Method::GET, &headers(std::slice::from_ref(&cookie)));
        assert_eq!(read.as_deref(), Some("secret"));
        assert_eq!(
            key_text(&Method::POST, &headers(std::slice::from_ref(&cookie))),
            None
        );
        let from_page = key_text(&Method::POST, &headers(&[cookie.clone(), origin]));
        assert_eq!(from_page.as_deref(), Some("secret"));
        let bearer = (header::AUTHORIZATION, "Bearer other");
        let both = key_text(&Method::POST, &headers(&[cookie, bearer]));
        assert_eq!(both.as_deref(), Some("other"));
    }
}
