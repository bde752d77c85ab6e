//! `[[platform]]`: chats that Callgate is connected to. A token stands in the file or in a variable that is
//! named there; it is never shown.

mod matrix;
mod onebot;
mod places;
mod satori;
mod telegram;

use callgate_contract::SessionKey;
use callgate_platforms::PlatformSettings;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ServiceError;

pub(crate) use self::places::place_of;

const HINT: &str = "docs/platforms.md shows how platforms are written down";

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PlatformKind {
    /// OneBot v11, as NapCat and Lagrange speak it.
    Onebot,
    /// Telegram, by its Bot API.
    Telegram,
    /// Matrix: an account on a homeserver.
    Matrix,
    /// Satori v1, as Koishi and others speak it.
    Satori,
}

/// Whose invitations into rooms are followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Invites {
    Nobody,
    /// Those whom `agent.administrators` names.
    Administrators,
    Everybody,
}

impl PlatformKind {
    pub fn name(self) -> &'static str {
        match self {
            PlatformKind::Onebot => "onebot",
            PlatformKind::Telegram => "telegram",
            PlatformKind::Matrix => "matrix",
            PlatformKind::Satori => "satori",
        }
    }
}

/// A chat platform as the operator wrote it down.
#[derive(Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PlatformEntry {
    /// The platform of session keys: `qq` in `qq:GroupMessage:123`.
    pub id: String,
    pub kind: PlatformKind,
    /// The address at which the platform's program connects to us, such as `127.0.0.1:6199`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub listen: Option<String>,
    /// OneBot: where we connect, `ws://…`, or `http://…` for actions alone. Telegram: where it posts
    /// updates to, `https://…`; without one they are asked for. Matrix: the homeserver, `https://…`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Telegram: the address of a Bot API server of your own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api_url: Option<String>,
    /// What both sides show each other; of Telegram, what @BotFather gave you, of Matrix the account's
    /// access token. It is never shown to anybody else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
    /// The variable that holds the token.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_env: Option<String>,
    /// What webhooks are signed with, where that is not the token.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret: Option<String>,
    /// The only account that may connect; for Satori a network, or `network:account`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub account: Option<String>,
    /// Characters of one message; a longer answer is several messages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub longest_message: Option<u32>,
    /// Whose invitations into rooms are followed (Matrix); `administrators` where nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub invites: Option<Invites>,
    /// Where the platform's program serves files on this machine or its network, such as `127.0.0.1:6099`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub files: Option<String>,
    /// Actions of the platform that the AI may take in its chats, such as `set_group_ban`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub offer: Vec<String>,
}

/// The rest may be a secret.
impl std::fmt::Debug for PlatformEntry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("PlatformEntry").field(&self.id).finish()
    }
}

/// Of the section as it stands in a file. What is given may hold secrets: only what is wrong with it is
/// repeated.
pub(super) fn check(content: &toml::Value, file: &str) -> Result<(), ServiceError> {
    let entries: Result<Vec<PlatformEntry>, _> = content.clone().try_into();
    let wrong =
        |reason: &str| ServiceError::refused(format!("[[platform]] in {file}: {reason}"), HINT);
    let entries = entries.map_err(|error| wrong(error.message()))?;
    for (place, entry) in entries.iter().enumerate() {
        entry.settings()?;
        if entries.iter().take(place).any(|other| other.id == entry.id) {
            return Err(wrong(&format!("there are two of the id '{}'", entry.id)));
        }
    }
    Ok(())
}

impl PlatformEntry {
    /// Its id, and of which kind it is.
    pub(super) fn named(&self) -> (String, String) {
        (self.id.clone(), self.kind.name().to_owned())
    }

    /// Everything that can be said about it before it is tried.
    pub(crate) fn settings(&self) -> Result<PlatformSettings, ServiceError> {
        self.read().map_err(|reason| {
            ServiceError::invalid(format!("platform '{}': {reason}", self.id), HINT)
        })
    }

    fn read(&self) -> Result<PlatformSettings, String> {
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
        if self.id.is_empty() || self.id.len() > 32 || !self.id.chars().all(plain) {
            return Err("an id has up to 32 letters, digits and _".to_owned());
        }
        if SessionKey::is_our_platform(&self.id) {
            return Err("this id is Callgate's own: choose another".to_owned());
        }
        if self.invites.is_some() && self.kind != PlatformKind::Matrix {
            return Err("only Matrix has invites".to_owned());
        }
        if self
            .files
            .as_deref()
            .is_some_and(|it| place_of(it).is_none())
        {
            return Err("files is where they are served: write it as 127.0.0.1:6099".to_owned());
        }
        let settings = match self.kind {
            PlatformKind::Onebot => PlatformSettings::OneBot(self.onebot()?),
            PlatformKind::Telegram => PlatformSettings::Telegram(self.telegram()?),
            PlatformKind::Matrix => PlatformSettings::Matrix(self.matrix()?),
            PlatformKind::Satori => PlatformSettings::Satori(self.satori()?),
        };
        let names = settings.actions().iter().map(|action| action.name);
        let names: Vec<&str> = names.collect();
        match self
            .offer
            .iter()
            .find(|name| !names.contains(&name.as_str()))
        {
            Some(unknown) => Err(format!(
                "'{unknown}' cannot be offered: choose of {}",
                names.join(", ")
            )),
            None => Ok(settings),
        }
    }

    /// The address that we connect to.
    pub(crate) fn connects_to(&self) -> Option<String> {
        match self.settings() {
            Ok(PlatformSettings::Telegram(settings)) => Some(settings.api_url),
            _ => self.url.clone(),
        }
    }

    /// Characters of one message, where a platform's own limit is `most`.
    fn longest(&self, most: u32) -> usize {
        self.longest_message.unwrap_or(most).clamp(50, 100_000) as usize
    }

    fn token(&self) -> Result<Option<String>, String> {
        let token = match (&self.token, &self.token_env) {
            (Some(_), Some(_)) => return Err("give it token or token_env, not both".to_owned()),
            (Some(token), None) => Some(token.clone()),
            (None, Some(name)) => {
                let token = std::env::var(name);
                Some(token.map_err(|_| format!("the variable {name} is not set"))?)
            }
            (None, None) => None,
        };
        Ok(token.filter(|token| !token.is_empty()))
    }

    pub(super) fn holds_secret(&self) -> bool {
        self.token.is_some() || self.secret.is_some()
    }

    /// As it stands in a file.
    pub(super) fn table(&self) -> Result<toml_edit::Table, ServiceError> {
        let fields = toml::Table::try_from(self).map_err(ServiceError::internal)?;
        let mut table = toml_edit::Table::new();
        for (name, value) in fields {
            let value: toml_edit::Value = match value {
                toml::Value::Integer(number) => number.into(),
                toml::Value::Array(items) => {
                    let items = items.iter().filter_map(toml::Value::as_str);
                    items.collect::<toml_edit::Array>().into()
                }
                value => value.as_str().unwrap_or_default().into(),
            };
            table.insert(&name, value.into());
        }
        Ok(table)
    }

    /// Without what nobody may see.
    pub(crate) fn shown(&self) -> Self {
        PlatformEntry {
            token: None,
            secret: None,
            url: self.url.as_deref().map(without_query),
            api_url: self.api_url.as_deref().map(without_query),
            ..self.clone()
        }
    }
}

/// Some write a token into it.
fn without_query(url: &str) -> String {
    url.split('?').next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_is_said() {
        for (text, expected) in [
            ("id = 'qq'\nkind = 'onebot'", "listen, url or both"),
            (
                "id = 'q q'\nkind = 'onebot'\nlisten = '127.0.0.1:1'",
                "up to 32 letters",
            ),
            (
                "id = 'cli'\nkind = 'onebot'\nlisten = '127.0.0.1:1'",
                "Callgate's own",
            ),
            ("id = 'qq'\nkind = 'onebot'\nlisten = '6199'", "no address"),
            (
                "id = 'qq'\nkind = 'onebot'\nlisten = '0.0.0.0:6199'",
                "give it a token",
            ),
            (
                "id = 'qq'\nkind = 'onebot'\nurl = 'tcp://h'",
                "begins with ws://",
            ),
            (
                "id = 'qq'\nkind = 'onebot'\nurl = 'http://h'",
                "listen as well",
            ),
            (
                "id = 'qq'\nkind = 'onebot'\nurl = 'ws://h'\ntoken_env = 'NONE_SUCH'",
                "NONE_SUCH is not set",
            ),
            (
                "id = 'qq'\nkind = 'onebot'\nurl = 'ws://h'\noffer = ['set_group_bam']",
                "choose of set_group_ban, ",
            ),
            ("id = 'tg'\nkind = 'telegram'", "@BotFather"),
            (
                "id = 'tg'\nkind = 'telegram'\ntoken = 'shh'",
                "looks like 123456:",
            ),
            (
                "id = 'tg'\nkind = 'telegram'\ntoken = '1:a'\nlisten = '127.0.0.1:1'",
                "give it both",
            ),
            (
                "id = 'tg'\nkind = 'telegram'\ntoken = '1:a'\nlisten = '127.0.0.1:1'\n\
                 url = 'http://h'",
                "begins with https://",
            ),
            (
                "id = 'tg'\nkind = 'telegram'\ntoken = '1:a'\napi_url = 'h:8081'",
                "api_url begins with",
            ),
            (
                "id = 'tg'\nkind = 'telegram'\ntoken = '1:a'\naccount = '2'",
                "is of the account 1",
            ),
            (
                "id = 'tg'\nkind = 'telegram'\ntoken = '1:a'\nsecret = 'two words'",
                "letters, digits",
            ),
            ("id = 'm'\nkind = 'matrix'", "url = \"https://"),
            (
                "id = 'm'\nkind = 'matrix'\nurl = 'https://h'",
                "give it the account's access token",
            ),
            (
                "id = 'm'\nkind = 'matrix'\nurl = 'http://example.org'\ntoken = 't'",
                "the token would be read on its way",
            ),
            (
                "id = 'm'\nkind = 'matrix'\nurl = 'https://h'\ntoken = 't'\naccount = 'bot'",
                "@bot:example.org",
            ),
            (
                "id = 'm'\nkind = 'matrix'\nurl = 'https://h'\ntoken = 't'\nlisten = '127.0.0.1:1'",
                "nobody connects to us",
            ),
            (
                "id = 'qq'\nkind = 'onebot'\nurl = 'ws://h'\ninvites = 'nobody'",
                "only Matrix",
            ),
            (
                "id = 'qq'\nkind = 'onebot'\nurl = 'ws://h'\nfiles = ':6099'",
                "write it as 127.0.0.1:6099",
            ),
            ("id = 's'\nkind = 'satori'", "give it url"),
            (
                "id = 's'\nkind = 'satori'\nurl = '127.0.0.1:5140'",
                "begins with http://",
            ),
            (
                "id = 's'\nkind = 'satori'\nurl = 'http://h'\nlisten = '127.0.0.1:1'",
                "takes no listen",
            ),
            (
                "id = 's'\nkind = 'satori'\nurl = 'http://h'\naccount = ':7'",
                "network:account",
            ),
            (
                "id = 's'\nkind = 'satori'\nurl = 'http://h'\noffer = ['set_group_ban']",
                "choose of guild_member_mute, ",
            ),
        ] {
            let entry: PlatformEntry = toml::from_str(text).unwrap();
            let error = entry.settings().err().unwrap().to_string();
            assert!(error.contains(expected), "{error}");
        }
        let text = "id = 'qq'\nkind = 'onebot'\nlisten = '127.0.0.1:1'\ntoken = 'shh'";
        let entry: PlatformEntry = toml::from_str(text).unwrap();
        assert!(entry.settings().is_ok());
        assert!(!format!("{entry:?} {:?}", entry.shown()).contains("shh"));
    }
}
