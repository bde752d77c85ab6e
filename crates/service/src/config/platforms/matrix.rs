//! What a platform of kind `matrix` needs.

use std::net::IpAddr;

use callgate_platforms::{MatrixInvites, MatrixSettings};

use super::{Invites, PlatformEntry};

/// Characters of one message; longer answers are several.
const LONGEST: u32 = 10_000;

impl PlatformEntry {
    pub(super) fn matrix(&self) -> Result<MatrixSettings, String> {
        if self.listen.is_some() || self.secret.is_some() {
            let reason = "nobody connects to us with Matrix: leave out listen and secret";
            return Err(reason.to_owned());
        }
        let url = self.url.as_deref().unwrap_or_default();
        let host = host(url);
        let host =
            host.ok_or("give it the homeserver's address: url = \"https://matrix.example.org\"")?;
        if url.starts_with("http://") && !is_near(host) {
            let reason = "over http:// the token would be read on its way: write https://";
            return Err(reason.to_owned());
        }
        let token = self.token()?;
        let token = token.ok_or("give it the account's access token: token or token_env")?;
        let account = self.account.clone().filter(|account| !account.is_empty());
        let is_account = |account: &String| account.starts_with('@') && account.contains(':');
        if let Some(wrong) = account.as_ref().filter(|it| !is_account(it)) {
            return Err(format!(
                "'{wrong}' is no account of Matrix: write it as @bot:example.org"
            ));
        }
        Ok(MatrixSettings {
            id: self.id.clone(),
            url: url.to_owned(),
            token,
            account,
            longest: self.longest(LONGEST),
            invites: match self.invites {
                Some(Invites::Nobody) => MatrixInvites::Nobody,
                Some(Invites::Everybody) => MatrixInvites::Everybody,
                Some(Invites::Administrators) | None => MatrixInvites::Administrators,
            },
        })
    }
}

/// Of an address of the web.
fn host(url: &str) -> Option<&str> {
    let rest = url
        .strip_prefix("https://")
        .or(url.strip_prefix("http://"))?;
    let place = rest.split(['/', '?', '#']).next()?;
    let host = match place.strip_prefix('[') {
        Some(address) => address.split_once(']')?.0,
        None => place.split(':').next()?,
    };
    // A password in an address would be shown with it.
    (!host.is_empty() && !place.contains('@')).then_some(host)
}

/// On this machine, or in the network that it stands in.
fn is_near(host: &str) -> bool {
    match host.parse() {
        Ok(IpAddr::V4(address)) => address.is_loopback() || address.is_private(),
        Ok(IpAddr::V6(address)) => address.is_loopback() || address.is_unique_local(),
        // A name without a dot is one of this machine or of a container beside it.
        Err(_) => !host.contains('.'),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_goes_in_the_clear_only_nearby() {
        for (url, expected) in [
            ("http://localhost:8008", Some(true)),
            ("http://127.0.0.1:8008/", Some(true)),
            ("http://[::1]:8008", Some(true)),
            ("http://synapse:8008", Some(true)),
            ("http://192.168.1.2", Some(true)),
            ("http://matrix.example.org/x", Some(false)),
            ("http://8.8.8.8", Some(false)),
            ("http://", None),
            ("https://me:secret@h", None),
            ("matrix.example.org", None),
        ] {
            assert_eq!(host(url).map(is_near), expected, "{url}");
        }
    }
}
