//! What may be fetched. Nothing, until the operator lists hosts; and then nothing that is not at a
//! public address, whatever is listed.

use std::{
    fmt,
    net::{IpAddr, SocketAddr},
    str::FromStr,
};

use reqwest::Url;
use serde::Deserialize;

use super::{FetchError, address};

/// Bytes. Longer ones are data in disguise.
const MAX_URL: usize = 2048;

/// Ports below this belong to other protocols (mail, remote shells), which a request of ours must
/// not speak to.
const FIRST_FREE_PORT: u16 = 1024;

/// `*` (every public host), `example.com` or `*.example.com` (every name below it).
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub enum HostPattern {
    Any,
    Exactly(String),
    Below(String),
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is not a host: write *, example.com or *.example.com")]
pub struct InvalidHost(String);

impl HostPattern {
    fn admits(&self, host: &str) -> bool {
        match self {
            HostPattern::Any => true,
            HostPattern::Exactly(name) => host == name,
            HostPattern::Below(name) => host
                .strip_suffix(name.as_str())
                .is_some_and(|rest| rest.len() > 1 && rest.ends_with('.')),
        }
    }
}

impl FromStr for HostPattern {
    type Err = InvalidHost;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let pattern = match text.strip_prefix("*.") {
            _ if text == "*" => Some(HostPattern::Any),
            Some(name) => canonical(name).map(HostPattern::Below),
            None => canonical(text).map(HostPattern::Exactly),
        };
        pattern.ok_or_else(|| InvalidHost(text.to_owned()))
    }
}

impl TryFrom<String> for HostPattern {
    type Error = InvalidHost;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl fmt::Display for HostPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HostPattern::Any => f.write_str("*"),
            HostPattern::Exactly(name) => f.write_str(name),
            HostPattern::Below(name) => write!(f, "*.{name}"),
        }
    }
}

/// A host as URLs spell it: lower case, punycode, numbers as an address.
fn canonical(host: &str) -> Option<String> {
    let is_ipv6 = host.starts_with('[') && host.ends_with(']');
    if host.contains(['/', '?', '#', '@', '\\', '*']) || (host.contains(':') && !is_ipv6) {
        return None;
    }
    let url = Url::parse(&format!("http://{host}/")).ok()?;
    let found = url.host_str()?.trim_end_matches('.');
    (!found.is_empty()).then(|| found.to_owned())
}

pub(super) fn parse(text: &str) -> Result<Url, FetchError> {
    check_length(text)?;
    Url::parse(text).map_err(|error| FetchError::Invalid {
        url: text.to_owned(),
        reason: error.to_string(),
    })
}

/// First of all, since other refusals repeat the URL.
fn check_length(url: &str) -> Result<(), FetchError> {
    if url.len() > MAX_URL {
        Err(FetchError::TooLong { limit: MAX_URL })
    } else {
        Ok(())
    }
}

#[derive(Clone, Debug, Default)]
pub struct FetchPolicy {
    allow: Vec<HostPattern>,
    exempt: Vec<SocketAddr>,
}

/// Where a URL that may be fetched leads.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Target {
    pub(super) host: Host,
    pub(super) port: u16,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Host {
    Name(String),
    Address(IpAddr),
}

impl FetchPolicy {
    pub fn new(allow: Vec<HostPattern>) -> Self {
        FetchPolicy {
            allow,
            exempt: Vec::new(),
        }
    }

    /// One host that the operator named, at the addresses that its name has now, and nothing else: not even
    /// what it redirects to.
    pub fn only(host: HostPattern, addresses: Vec<SocketAddr>) -> Self {
        FetchPolicy {
            allow: vec![host],
            exempt: addresses,
        }
    }

    /// For tests alone, whose servers are on this machine: these addresses pass although they are
    /// not public. No configuration leads here.
    #[doc(hidden)]
    pub fn for_tests(allow: Vec<HostPattern>, exempt: Vec<SocketAddr>) -> Self {
        FetchPolicy { allow, exempt }
    }

    /// The same walls, and no list of hosts: for callers that reach the network anyway.
    pub(crate) fn anywhere(&self) -> Self {
        FetchPolicy {
            allow: vec![HostPattern::Any],
            exempt: self.exempt.clone(),
        }
    }

    /// Everything about a URL that can be judged before its name is looked up.
    pub(super) fn admit(&self, url: &Url) -> Result<Target, FetchError> {
        if self.allow.is_empty() {
            return Err(FetchError::Off);
        }
        check_length(url.as_str())?;
        if !url.username().is_empty() || url.password().is_some() {
            return Err(FetchError::Credentials);
        }
        if !matches!(url.scheme(), "http" | "https") {
            return Err(FetchError::invalid(url, "only http and https are fetched"));
        }
        let (Some(name), Some(port)) = (url.host_str(), url.port_or_known_default()) else {
            return Err(FetchError::invalid(url, "it has no host"));
        };
        if !matches!(port, 80 | 443 | FIRST_FREE_PORT..) {
            return Err(FetchError::invalid(url, "that port is not for web pages"));
        }
        let name = name.trim_end_matches('.');
        if !self.allow.iter().any(|pattern| pattern.admits(name)) {
            return Err(FetchError::NotAllowed {
                host: name.to_owned(),
            });
        }
        let host = match name.trim_matches(['[', ']']).parse() {
            Ok(address) => Host::Address(address),
            Err(_) => Host::Name(name.to_owned()),
        };
        Ok(Target { host, port })
    }

    pub(super) fn admits(&self, address: SocketAddr) -> bool {
        address::is_public(address.ip()) || self.exempt.contains(&address)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy(allow: &[&str]) -> FetchPolicy {
        FetchPolicy::new(allow.iter().map(|host| host.parse().unwrap()).collect())
    }

    #[test]
    fn patterns_admit_what_they_say() {
        for (pattern, host, expect) in [
            ("*", "example.com", true),
            ("*", "1.1.1.1", true),
            ("Example.com", "example.com", true),
            ("example.com.", "example.com", true),
            ("example.com", "www.example.com", false),
            ("example.com", "badexample.com", false),
            ("*.example.com", "www.example.com", true),
            ("*.example.com", "a.b.example.com", true),
            ("*.example.com", "example.com", false),
            ("*.example.com", ".example.com", false),
            ("*.example.com", "badexample.com", false),
            ("*.example.com", "example.com.evil.org", false),
            ("例え.jp", "xn--r8jz45g.jp", true),
            ("[2606:4700::1]", "[2606:4700::1]", true),
        ] {
            let read: HostPattern = pattern.parse().unwrap();
            assert_eq!(read.admits(host), expect, "{pattern} {host}");
        }
    }

    #[test]
    fn what_is_no_pattern_is_refused() {
        for text in [
            "",
            "*.",
            "**",
            "*.*.com",
            "a.*.com",
            "https://example.com",
            "example.com/path",
            "example.com:8080",
            "example.com:80",
            "example.com:080",
            "example.com:",
            "[::1]:80",
            "user@example.com",
            "a b",
        ] {
            assert!(text.parse::<HostPattern>().is_err(), "{text}");
        }
    }

    #[test]
    fn urls_are_judged_before_any_lookup() {
        let policy = policy(&["*.example.com", "93.184.216.34"]);
        for (url, expect) in [
            ("http://www.example.com/", Ok(("www.example.com", 80))),
            ("HTTPS://WWW.EXAMPLE.COM/a#b", Ok(("www.example.com", 443))),
            (
                "https://www.example.com.:8443/",
                Ok(("www.example.com", 8443)),
            ),
            ("http://0x5db8d822/", Ok(("93.184.216.34", 80))),
            ("http://www.example.com:25/", Err("port")),
            ("http://example.com/", Err("'example.com' is not among")),
            ("http://127.0.0.1/", Err("'127.0.0.1' is not among")),
            ("http://2130706433/", Err("'127.0.0.1' is not among")),
            ("ftp://www.example.com/", Err("only http and https")),
            ("file:///etc/passwd", Err("only http and https")),
            ("data:text/plain,x", Err("only http and https")),
            ("http://me@www.example.com/", Err("name or password")),
            ("ftp://a:b@www.example.com/", Err("name or password")),
            ("http://:x@www.example.com/", Err("name or password")),
        ] {
            let seen = policy.admit(&Url::parse(url).unwrap());
            match (seen, expect) {
                (Ok(target), Ok((host, port))) => {
                    let shown = match target.host {
                        Host::Name(name) => name,
                        Host::Address(address) => address.to_string(),
                    };
                    assert_eq!((shown.as_str(), target.port), (host, port), "{url}");
                }
                (Err(error), Err(expect)) => {
                    assert!(error.to_string().contains(expect), "{url}: {error}");
                }
                (seen, _) => panic!("{url}: {seen:?}"),
            }
        }
        let long = format!("http://www.example.com/{}", "x".repeat(MAX_URL));
        assert!(policy.admit(&Url::parse(&long).unwrap()).is_err());
        assert!(parse(&long).is_err());
    }

    #[test]
    fn nothing_is_allowed_until_something_is_listed() {
        let url = Url::parse("https://example.com/").unwrap();
        let refusal = FetchPolicy::default().admit(&url).unwrap_err();
        assert!(refusal.to_string().contains("fetch.allow"), "{refusal}");
    }

    #[test]
    fn an_address_written_in_the_url_is_seen_as_one() {
        let policy = policy(&["*"]);
        for (url, expect) in [
            ("http://[::1]/", "::1"),
            ("http://[::ffff:10.0.0.1]/", "::ffff:10.0.0.1"),
            ("http://0177.1/", "127.0.0.1"),
            ("http://127.0.0.1./", "127.0.0.1"),
        ] {
            let target = policy.admit(&Url::parse(url).unwrap()).unwrap();
            assert_eq!(target.host, Host::Address(expect.parse().unwrap()), "{url}");
            assert!(!policy.admits(SocketAddr::new(expect.parse().unwrap(), 80)));
        }
    }
}
