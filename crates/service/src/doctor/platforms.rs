//! Can each chat platform be connected? Somebody listens where we would connect; where they would connect,
//! we listen or could.

use std::{net::TcpListener, time::Duration};

use tokio::net::TcpStream;

use crate::{
    config::{Config, PlatformEntry},
    operations::Check,
};

const PATIENCE: Duration = Duration::from_secs(2);
const HINT: &str = "`callgate platform list` shows who is connected and what went wrong last";

pub(super) async fn check(config: &Config) -> Vec<Check> {
    let mut checks = Vec::new();
    for entry in &config.platform {
        checks.push(look_at(entry).await);
    }
    checks
}

async fn look_at(entry: &PlatformEntry) -> Check {
    let name = format!("platform {}", entry.id);
    if let Err(error) = entry.settings() {
        return Check::fail(&name, error);
    }
    let mut found = Vec::new();
    if let Some(url) = entry.connects_to() {
        let place = address(&url);
        if !answers(&place).await {
            return Check::warn(&name, format!("nobody answers at {place}"), HINT);
        }
        found.push(format!("{place} answers"));
    }
    if let Some(listen) = &entry.listen {
        if answers(listen).await {
            found.push(format!("{listen} is listened on"));
        } else if let Err(error) = TcpListener::bind(listen.as_str()) {
            let detail = format!("cannot listen on {listen}: {error}");
            return Check::warn(&name, detail, "choose another address");
        } else {
            found.push(format!(
                "{listen} is free until `callgate serve` listens there"
            ));
        }
    }
    Check::ok(&name, found.join("; "))
}

async fn answers(place: &str) -> bool {
    let connected = tokio::time::timeout(PATIENCE, TcpStream::connect(place)).await;
    matches!(connected, Ok(Ok(_)))
}

/// Host and port of a URL.
fn address(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
    let host = rest.split(['/', '?']).next().unwrap_or_default();
    let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
    let has_port = host
        .rsplit_once(':')
        .is_some_and(|(_, port)| port.parse::<u16>().is_ok());
    match scheme {
        _ if has_port => host.to_owned(),
        "wss" | "https" => format!("{host}:443"),
        _ => format!("{host}:80"),
    }
}

#[cfg(test)]
mod tests {
    use super::address;

    #[test]
    fn a_url_has_a_host_and_a_port() {
        for (url, expected) in [
            ("ws://127.0.0.1:3001", "127.0.0.1:3001"),
            ("ws://h/path?access_token=x", "h:80"),
            ("https://u:p@h/", "h:443"),
            ("ws://[::1]:3001/a", "[::1]:3001"),
        ] {
            assert_eq!(address(url), expected);
        }
    }
}
