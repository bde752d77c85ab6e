//! What a platform of kind `telegram` needs.

use std::net::SocketAddr;

use callgate_platforms::{TelegramSettings, WebhookSettings};

use super::PlatformEntry;

/// UTF-16 units of one message, of which Telegram takes no more.
const LONGEST: u32 = 4_096;
const SERVERS: &str = "https://api.telegram.org";
const SECRET: usize = 256;

impl PlatformEntry {
    pub(super) fn telegram(&self) -> Result<TelegramSettings, String> {
        let token = self.token()?;
        let token = token.ok_or("give it the token that @BotFather gave you (/newbot)")?;
        let plain = |c: char| c.is_ascii_alphanumeric() || "_-".contains(c);
        let (account, key) = token.split_once(':').unwrap_or_default();
        let is_account = !account.is_empty() && account.chars().all(|c| c.is_ascii_digit());
        if !is_account || key.is_empty() || !key.chars().all(plain) {
            return Err("a token looks like 123456:ABC-DEF1234ghIkl".to_owned());
        }
        if self.account.as_deref().is_some_and(|own| own != account) {
            return Err(format!("the token is of the account {account}"));
        }
        let secret = self.secret.clone().filter(|secret| !secret.is_empty());
        if let Some(secret) = &secret
            && (secret.len() > SECRET || !secret.chars().all(plain))
        {
            return Err("secret has up to 256 letters, digits, _ and -".to_owned());
        }
        let api_url = self.api_url.clone().filter(|url| !url.is_empty());
        let is_http = |url: &String| url.starts_with("http://") || url.starts_with("https://");
        if api_url.as_ref().is_some_and(|url| !is_http(url)) {
            return Err("api_url begins with http:// or https://".to_owned());
        }
        Ok(TelegramSettings {
            id: self.id.clone(),
            webhook: self.webhook(api_url.is_some())?,
            api_url: api_url.unwrap_or_else(|| SERVERS.to_owned()),
            longest: self.longest(LONGEST).min(LONGEST as usize),
            secret,
            token,
        })
    }

    /// A Bot API server of one's own posts anywhere, and Telegram's over TLS.
    fn webhook(&self, has_own_server: bool) -> Result<Option<WebhookSettings>, String> {
        let (url, listen) = match (&self.url, &self.listen) {
            (None, None) => return Ok(None),
            (Some(url), Some(listen)) => (url, listen),
            _ => {
                let reason = "for a webhook give it both: url is where Telegram reaches it, and \
                              listen where Callgate listens";
                return Err(reason.to_owned());
            }
        };
        let is_taken = url.starts_with("https://") || has_own_server && url.starts_with("http://");
        if !is_taken {
            return Err("url begins with https://".to_owned());
        }
        if listen.parse::<SocketAddr>().is_err() {
            return Err(format!(
                "'{listen}' is no address: write it as 127.0.0.1:6199"
            ));
        }
        Ok(Some(WebhookSettings {
            url: url.clone(),
            listen: listen.clone(),
        }))
    }
}
