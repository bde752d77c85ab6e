//! Which pages may reach remote clients' routes: those on this machine, our own, and those that
//! the operator names. Programs send no origin and need a key anyway. The answers say to a browser
//! what it may do with them (CORS), also before it asks (preflight).

use std::sync::Arc;

use axum::{
    extract::{Request, State},
    http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header},
    middleware::Next,
    response::{IntoResponse, Response},
};

use crate::visitor::{Hosts, is_loopback_host};

const PRIVATE_ASKED: HeaderName = HeaderName::from_static("access-control-request-private-network");
const PRIVATE_ALLOWED: HeaderName = HeaderName::from_static("access-control-allow-private-network");

/// Who is let through.
#[derive(Clone)]
pub(super) struct Guard {
    pub(super) hosts: Hosts,
    /// Besides pages of this machine and our own; `*` allows every page.
    pub(super) origins: Arc<Vec<String>>,
}

impl Guard {
    /// The origin that may read the answer, or why nothing is answered.
    fn decide(
        &self,
        headers: &HeaderMap,
    ) -> Result<Option<HeaderValue>, (StatusCode, &'static str)> {
        if let Some(refusal) = self.hosts.unknown(headers) {
            return Err(refusal);
        }
        let Some(origin) = headers.get(header::ORIGIN) else {
            return Ok(None);
        };
        let text = |value: &HeaderValue| value.to_str().unwrap_or_default().to_owned();
        let host = headers.get(header::HOST).map(text).unwrap_or_default();
        if self.allows(&text(origin), &host) {
            Ok(Some(origin.clone()))
        } else {
            Err((
                StatusCode::FORBIDDEN,
                "pages of this origin may not: remote.origins lists those that may\n",
            ))
        }
    }

    fn allows(&self, origin: &str, host: &str) -> bool {
        let authority = match origin.split_once("://") {
            Some(("http" | "https", authority)) => authority,
            _ => return self.lists(origin),
        };
        is_loopback_host(authority) || authority.eq_ignore_ascii_case(host) || self.lists(origin)
    }

    fn lists(&self, origin: &str) -> bool {
        let same = |listed: &String| listed.trim_end_matches('/').eq_ignore_ascii_case(origin);
        self.origins
            .iter()
            .any(|listed| listed == "*" || same(listed))
    }
}

pub(super) async fn guard(State(guard): State<Guard>, request: Request, next: Next) -> Response {
    let origin = match guard.decide(request.headers()) {
        Ok(origin) => origin,
        Err(refusal) => return refusal.into_response(),
    };
    let mut response = if *request.method() == Method::OPTIONS {
        (StatusCode::NO_CONTENT, permissions(request.headers())).into_response()
    } else {
        next.run(request).await
    };
    let headers = response.headers_mut();
    headers.append(header::VARY, HeaderValue::from_static("Origin"));
    if let Some(origin) = origin {
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    }
    headers
        .entry(header::X_CONTENT_TYPE_OPTIONS)
        .or_insert(HeaderValue::from_static("nosniff"));
    response
}

fn permissions(asked: &HeaderMap) -> HeaderMap {
    let mut allowed = HeaderMap::new();
    allowed.insert(
        header::ACCESS_CONTROL_ALLOW_METHODS,
        HeaderValue::from_static("GET, POST, OPTIONS"),
    );
    allowed.insert(
        header::ACCESS_CONTROL_MAX_AGE,
        HeaderValue::from_static("600"),
    );
    if let Some(names) = asked.get(header::ACCESS_CONTROL_REQUEST_HEADERS) {
        allowed.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, names.clone());
    }
    if asked.contains_key(PRIVATE_ASKED) {
        allowed.insert(PRIVATE_ALLOWED, HeaderValue::from_static("true"));
    }
    allowed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_of_this_machine_and_listed_ones_may() {
        let guard = Guard {
            hosts: Hosts::new([]),
            origins: Arc::new(vec!["https://chat.example.org".to_owned()]),
        };
        for origin in [
            "http://localhost:8000",
            "http://127.0.0.1:8000",
            "http://[::1]:8000",
            "https://app.localhost",
            "https://chat.example.org",
            "http://gate.example.org:4000",
        ] {
            assert!(guard.allows(origin, "gate.example.org:4000"), "{origin}");
        }
        for origin in [
            "null",
            "",
            "file://",
            "https://evil.example",
            "http://localhost.evil.example",
            "http://127.0.0.1.evil.example:8000",
            "https://chat.example.org.evil.example",
            "ftp://localhost",
            "http://localhost@evil.example",
        ] {
            assert!(!guard.allows(origin, "gate.example.org:4000"), "{origin}");
        }
    }
}
