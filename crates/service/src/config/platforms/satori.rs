//! What a platform of kind `satori` needs.

use callgate_platforms::{SatoriAccount, SatoriSettings};

use super::PlatformEntry;

/// Characters of one message; longer answers are several.
const LONGEST: u32 = 1_500;

impl PlatformEntry {
    pub(super) fn satori(&self) -> Result<SatoriSettings, String> {
        if self.listen.is_some() || self.secret.is_some() {
            let reason = "Satori servers are connected to: it takes no listen and no secret";
            return Err(reason.to_owned());
        }
        let url = self.url.as_deref();
        let url = url.ok_or("give it url, the address of the Satori server")?;
        Ok(SatoriSettings {
            id: self.id.clone(),
            url: server(url)?,
            token: self.token()?,
            account: self.account.as_deref().map(account).transpose()?,
            longest: self.longest(LONGEST),
        })
    }
}

/// The server's address, of any that it has.
fn server(url: &str) -> Result<String, String> {
    let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
    let scheme = match scheme {
        "http" | "ws" => "http",
        "https" | "wss" => "https",
        _ => return Err("url begins with http:// or https://".to_owned()),
    };
    let rest = rest.split(['?', '#']).next().unwrap_or_default();
    let rest = rest.trim_end_matches('/');
    let rest = rest.strip_suffix("/events").unwrap_or(rest);
    let rest = rest.strip_suffix("/v1").unwrap_or(rest);
    if rest.is_empty() {
        return Err("url names no server".to_owned());
    }
    Ok(format!("{scheme}://{rest}"))
}

fn account(text: &str) -> Result<SatoriAccount, String> {
    let (network, account) = match text.split_once(':') {
        Some((network, account)) => (network, Some(account)),
        None => (text, None),
    };
    if network.is_empty() || account.is_some_and(str::is_empty) {
        return Err("account is a network such as discord, or network:account".to_owned());
    }
    Ok(SatoriAccount {
        network: network.to_owned(),
        account: account.map(str::to_owned),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_address_of_the_server_is_its_address() {
        for url in [
            "http://127.0.0.1:5140/satori",
            "http://127.0.0.1:5140/satori/",
            "ws://127.0.0.1:5140/satori/v1/events",
            "http://127.0.0.1:5140/satori/v1?token=x",
        ] {
            assert_eq!(server(url).unwrap(), "http://127.0.0.1:5140/satori");
        }
        assert_eq!(server("wss://h").unwrap(), "https://h");
    }
}
