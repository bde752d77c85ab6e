//! What a platform of kind `onebot` needs.

use std::net::SocketAddr;

use callgate_platforms::OneBotSettings;

use super::PlatformEntry;

/// Characters of one message; longer answers are several.
const LONGEST: u32 = 1_500;
const SCHEMES: [&str; 4] = ["ws://", "wss://", "http://", "https://"];

impl PlatformEntry {
    pub(super) fn onebot(&self) -> Result<OneBotSettings, String> {
        if self.listen.is_none() && self.url.is_none() {
            return Err("give it listen, url or both".to_owned());
        }
        let token = self.token()?;
        if let Some(listen) = &self.listen {
            let address: Result<SocketAddr, _> = listen.parse();
            let address = address
                .map_err(|_| format!("'{listen}' is no address: write it as 127.0.0.1:6199"))?;
            if !address.ip().is_loopback() && token.is_none() {
                let reason =
                    "whoever can reach this address could speak as the bot: give it a token";
                return Err(reason.to_owned());
            }
        }
        if let Some(url) = &self.url {
            if !SCHEMES.iter().any(|scheme| url.starts_with(scheme)) {
                return Err("url begins with ws://, wss://, http:// or https://".to_owned());
            }
            if url.starts_with("http") && self.listen.is_none() {
                let reason = "over http:// events come by webhook: give it listen as well";
                return Err(reason.to_owned());
            }
        }
        Ok(OneBotSettings {
            id: self.id.clone(),
            listen: self.listen.clone(),
            url: self.url.clone(),
            token,
            secret: self.secret.clone().filter(|secret| !secret.is_empty()),
            account: self.account.clone().filter(|account| !account.is_empty()),
            longest: self.longest(LONGEST),
        })
    }
}
