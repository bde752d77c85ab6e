//! Who may speak to us over HTTP: requests that name us by a name we have, and pages of our own.
//! A page of somebody else's that makes a browser knock here (by a link, a form, or a name that
//! suddenly points at this machine) is refused before anything is done.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};

use axum::{
    extract::{ConnectInfo, Request, State},
    http::{HeaderMap, HeaderName, StatusCode, header, request::Parts},
    middleware::Next,
    response::{IntoResponse, Response},
};

/// The names we answer to: this machine's own, and those of the operator.
#[derive(Clone, Debug, Default)]
pub struct Hosts(Vec<String>);

impl Hosts {
    /// Names without ports.
    pub fn new(names: impl IntoIterator<Item = String>) -> Self {
        Hosts(names.into_iter().map(|name| canonical(&name)).collect())
    }

    fn knows(&self, authority: &str) -> bool {
        let Some(host) = host_of(authority) else {
            return false;
        };
        let host = canonical(host);
        is_loopback(&host) || self.0.contains(&host)
    }

    /// Why a request that names this host is refused, whatever page it comes from.
    pub(crate) fn unknown(&self, headers: &HeaderMap) -> Option<(StatusCode, &'static str)> {
        let host = headers
            .get(header::HOST)
            .and_then(|host| host.to_str().ok());
        match host.filter(|_| once(headers, &header::HOST)) {
            None => Some((StatusCode::BAD_REQUEST, "say which host you mean\n")),
            Some(host) if self.knows(host) => None,
            Some(_) => {
                let reason = "this host is none of ours; serve.hosts in callgate.toml lists them\n";
                Some((StatusCode::MISDIRECTED_REQUEST, reason))
            }
        }
    }

    fn refusal(&self, headers: &HeaderMap) -> Option<(StatusCode, &'static str)> {
        if let Some(refusal) = self.unknown(headers) {
            return Some(refusal);
        }
        let text = |name: HeaderName| -> Option<Option<&str>> {
            let value = headers.get(name)?;
            Some(value.to_str().ok())
        };
        let host = text(header::HOST).flatten().unwrap_or_default();
        let ours = |origin: &str| {
            let authority = origin.split_once("://").map(|(_, authority)| authority);
            authority.is_some_and(|authority| authority.eq_ignore_ascii_case(host))
        };
        match text(header::ORIGIN) {
            None => None,
            Some(Some(origin)) if ours(origin) => None,
            Some(_) => Some((StatusCode::FORBIDDEN, "pages of others may not do this\n")),
        }
    }
}

fn once(headers: &HeaderMap, name: &HeaderName) -> bool {
    headers.get_all(name).iter().count() == 1
}

/// Does `authority` (a host, perhaps with a port) name this machine?
pub(crate) fn is_loopback_host(authority: &str) -> bool {
    host_of(authority).is_some_and(|host| is_loopback(&canonical(host)))
}

/// The host of `host`, `host:port`, `[address]` or `[address]:port`; `None` where there is none.
fn host_of(authority: &str) -> Option<&str> {
    let (host, rest) = match authority.strip_prefix('[') {
        Some(inner) => inner.split_once(']')?,
        None => match authority.find(':') {
            Some(colon) => authority.split_at(colon),
            None => (authority, ""),
        },
    };
    let port = rest.strip_prefix(':').unwrap_or(rest);
    let plain = port.bytes().all(|byte| byte.is_ascii_digit());
    (!host.is_empty() && plain).then_some(host)
}

fn canonical(host: &str) -> String {
    let host = host.trim_matches(['[', ']']).trim_end_matches('.');
    host.to_ascii_lowercase()
}

fn is_loopback(host: &str) -> bool {
    match host.parse::<IpAddr>() {
        Ok(IpAddr::V4(address)) => address.is_loopback(),
        Ok(IpAddr::V6(address)) => address == Ipv6Addr::LOCALHOST,
        Err(_) => host == "localhost" || host.ends_with(".localhost"),
    }
}

/// Does it speak from this machine? What a proxy passes on does not, wherever the proxy is.
pub(crate) fn is_here(parts: &Parts) -> bool {
    const PASSED_ON: [HeaderName; 4] = [
        header::FORWARDED,
        HeaderName::from_static("x-forwarded-for"),
        HeaderName::from_static("x-real-ip"),
        header::VIA,
    ];
    let address = parts.extensions.get::<ConnectInfo<SocketAddr>>();
    let here =
        address.is_some_and(|ConnectInfo(address)| address.ip().to_canonical().is_loopback());
    here && !PASSED_ON
        .iter()
        .any(|name| parts.headers.contains_key(name))
}

/// The layer before every route.
pub(crate) async fn admit(State(hosts): State<Hosts>, request: Request, next: Next) -> Response {
    match hosts.refusal(request.headers()) {
        Some(refusal) => refusal.into_response(),
        None => next.run(request).await,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(pairs: &[(HeaderName, &str)]) -> Option<u16> {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.append(name.clone(), value.parse().unwrap());
        }
        let hosts = Hosts::new(["Gate.example.org".to_owned(), "10.1.2.3".to_owned()]);
        hosts.refusal(&headers).map(|(status, _)| status.as_u16())
    }

    #[test]
    fn only_our_own_names_are_answered() {
        for host in [
            "localhost",
            "LOCALHOST:8420",
            "app.localhost:8420",
            "127.0.0.1:8420",
            "127.9.9.9",
            "[::1]:8420",
            "gate.example.org",
            "gate.example.org.:443",
            "10.1.2.3:8420",
        ] {
            assert_eq!(status(&[(header::HOST, host)]), None, "{host}");
        }
        for host in [
            "evil.example",
            "localhost.evil.example",
            "127.0.0.1.evil.example",
            "evil.example:8420",
            "gate.example.org.evil.example",
            "10.1.2.4",
            "[::2]",
            "[::1",
            "localhost:80@evil.example",
            "",
            ":8420",
            "0.0.0.0",
        ] {
            assert_eq!(status(&[(header::HOST, host)]), Some(421), "{host}");
        }
        assert_eq!(status(&[]), Some(400));
        let two = [(header::HOST, "localhost"), (header::HOST, "evil.example")];
        assert_eq!(status(&two), Some(400));
    }

    #[test]
    fn only_our_own_pages_may_ask() {
        let from = |origin| status(&[(header::HOST, "localhost:8420"), (header::ORIGIN, origin)]);
        assert_eq!(from("http://localhost:8420"), None);
        for origin in [
            "http://localhost:9999",
            "http://localhost",
            "https://evil.example",
            "null",
            "http://localhost:8420.evil.example",
            "",
        ] {
            assert_eq!(from(origin), Some(403), "{origin}");
        }
    }
}
