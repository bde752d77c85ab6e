//! Who asks. A key comes as a bearer token; our own page shows a login in a cookie that scripts cannot
//! read. Neither opens anything in the other's place.

use axum::{
    extract::{Request, State},
    http::{Extensions, HeaderMap, Method, header, request::Parts},
    middleware::Next,
    response::{IntoResponse, Response},
};
use callgate_service::{Capability, Requester};
use callgate_store::{Key, KeyHandle};

use super::{Api, problem::Problem};

use crate::{
    attempts::address,
    revocation::{unless_revoked_before, until_revoked},
    unknown::taken,
};

/// The cookie of the page.
pub(super) const COOKIE: &str = "callgate_login";

/// Bytes of a request without a key: a login holds one.
pub(super) const MOST_UNKNOWN: usize = 4 << 10;

/// Requests one key may make in a burst, and how many come back each second.
pub(super) const BURST: f64 = 200.0;
pub(super) const PER_SECOND: f64 = 50.0;

/// Whoever was let in.
#[derive(Clone, Debug)]
pub(crate) struct Access {
    pub(crate) key: Key,
    /// What outlives the request ends by it: of the key, or of the login that was begun with it.
    pub(crate) handle: KeyHandle,
}

impl Access {
    pub(crate) fn principal(&self) -> Requester {
        Requester::Key(self.key.clone())
    }
}

/// What a request says of itself.
#[derive(Clone, Copy)]
pub(crate) struct Asking<'a> {
    method: &'a Method,
    headers: &'a HeaderMap,
    extensions: &'a Extensions,
}

impl<'a> From<&'a Request> for Asking<'a> {
    fn from(request: &'a Request) -> Self {
        Asking {
            method: request.method(),
            headers: request.headers(),
            extensions: request.extensions(),
        }
    }
}

impl<'a> From<&'a Parts> for Asking<'a> {
    fn from(parts: &'a Parts) -> Self {
        Asking {
            method: &parts.method,
            headers: &parts.headers,
            extensions: &parts.extensions,
        }
    }
}

/// What stands before a route.
#[derive(Clone)]
pub(super) struct Guard {
    pub(super) api: Api,
    pub(super) needs: Capability,
    /// Whoever asks may revoke the key it asks with, and is told that it is done.
    pub(super) may_end_its_key: bool,
}

/// The layer before each route.
pub(super) async fn enter(
    State(guard): State<Guard>,
    mut request: Request,
    next: Next,
) -> Response {
    if guard.needs == Capability::Anyone {
        return match taken(request, MOST_UNKNOWN).await {
            Ok(request) => next.run(request).await,
            Err(why) => Problem::untaken(why).into_response(),
        };
    }
    match admit(&guard.api, guard.needs, Asking::from(&request)).await {
        Ok(access) => {
            let key = access.handle.clone();
            request.extensions_mut().insert(access);
            let answering = next.run(request);
            let answered = if guard.may_end_its_key {
                unless_revoked_before(&key, answering).await
            } else {
                until_revoked(&key, answering).await
            };
            answered.unwrap_or_else(|| Problem::key_ended().into_response())
        }
        Err(problem) => problem.into_response(),
    }
}

pub(crate) async fn admit(
    api: &Api,
    needs: Capability,
    asking: Asking<'_>,
) -> Result<Access, Problem> {
    let shown = shown(asking.method, asking.headers).ok_or_else(Problem::locked_out)?;
    let access = verify(api, &shown, asking.extensions).await?;
    if !api.rates().pass(access.key.id.clone()) {
        return Err(Problem::too_many());
    }
    access.principal().require(needs)?;
    Ok(access)
}

/// Of what opens nothing an address may show so much and no more.
pub(super) async fn verify(
    api: &Api,
    shown: &Shown,
    extensions: &Extensions,
) -> Result<Access, Problem> {
    let (attempts, from) = (api.attempts(), address(extensions));
    let (Shown::Key(text) | Shown::Login(text)) = shown;
    if !attempts.may_try(from, text) {
        return Err(Problem::too_many_attempts());
    }
    let found = match shown {
        Shown::Key(text) => {
            let keys = api.store().keys();
            keys.verify(text).await?.map(|key| Access {
                handle: keys.handle(&key.id),
                key,
            })
        }
        Shown::Login(text) => {
            let logins = api.store().logins();
            logins.verify(text).await?.map(|login| Access {
                handle: logins.handle(&login),
                key: login.key,
            })
        }
    };
    match &found {
        Some(_) => attempts.opened(text),
        None => attempts.failed(from, text),
    }
    found.ok_or_else(|| match shown {
        Shown::Key(_) => Problem::unknown_key(),
        // It has ended, and the page asks for a key again.
        Shown::Login(_) => Problem::locked_out(),
    })
}

/// What somebody shows to be let in.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Shown {
    Key(String),
    Login(String),
}

fn shown(method: &Method, headers: &HeaderMap) -> Option<Shown> {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
    if let Some(given) = text(header::AUTHORIZATION) {
        let (scheme, key) = given.split_once(' ')?;
        let key = || Shown::Key(key.trim().to_owned());
        return scheme.eq_ignore_ascii_case("bearer").then(key);
    }
    // A cookie goes along with whatever a browser sends, so what changes anything must come from
    // our own page: browsers say so, and the origin was compared before.
    if *method != Method::GET && !headers.contains_key(header::ORIGIN) {
        return None;
    }
    cookie(headers).map(Shown::Login)
}

pub(super) fn cookie(headers: &HeaderMap) -> Option<String> {
    let cookies = headers.get(header::COOKIE)?.to_str().ok()?;
    let mut cookies = cookies.split(';').map(str::trim);
    cookies.find_map(|cookie| Some(cookie.strip_prefix(COOKIE)?.strip_prefix('=')?.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cookie_alone_changes_nothing() {
        let headers = |pairs: &[(header::HeaderName, &str)]| {
            let pairs = pairs.iter();
            pairs
                .map(|(name, value)| (name.clone(), value.parse().unwrap()))
                .collect::<HeaderMap>()
        };
        let cookie = (header::COOKIE, "a=b; callgate_login=secret");
        let origin = (header::ORIGIN, "http://localhost");
        let read = shown(&Method::GET, &headers(std::slice::from_ref(&cookie)));
        let login = Some(Shown::Login("secret".to_owned()));
        assert_eq!(read, login);
        assert_eq!(
            shown(&Method::POST, &headers(std::slice::from_ref(&cookie))),
            None
        );
        let from_page = shown(&Method::POST, &headers(&[cookie.clone(), origin]));
        assert_eq!(from_page, login);
        let bearer = (header::AUTHORIZATION, "Bearer other");
        let both = shown(&Method::POST, &headers(&[cookie, bearer]));
        assert_eq!(both, Some(Shown::Key("other".to_owned())));
    }
}
