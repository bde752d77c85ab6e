//! [`SessionKey`]: the name of one chat on one platform, in both spellings users know.
//! A key is an id and never a path: folders are named by uuid.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

/// Platforms of session keys that are surfaces of ours: the terminal, the APIs, the page.
const OUR_PLATFORMS: [&str; 3] = ["cli", "api", "web"];

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum SessionType {
    GroupMessage,
    FriendMessage,
    OtherMessage,
}

impl SessionType {
    const ALL: [SessionType; 3] = [Self::GroupMessage, Self::FriendMessage, Self::OtherMessage];

    fn unified(self) -> &'static str {
        match self {
            Self::GroupMessage => "GroupMessage",
            Self::FriendMessage => "FriendMessage",
            Self::OtherMessage => "OtherMessage",
        }
    }

    fn chat(self) -> &'static str {
        match self {
            Self::GroupMessage => "group",
            Self::FriendMessage => "private",
            Self::OtherMessage => "other",
        }
    }
}

/// `platform:type:id`, split at the first two colons; the id may hold anything printable.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(try_from = "String", into = "String")]
pub struct SessionKey {
    platform: String,
    kind: SessionType,
    id: String,
}

#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error(
    "'{0}' is not a session: write platform:GroupMessage|FriendMessage|OtherMessage:id, \
     or platform-group|private|other_id"
)]
pub struct InvalidSession(String);

impl SessionKey {
    pub fn new(platform: &str, kind: SessionType, id: &str) -> Result<Self, InvalidSession> {
        format!("{platform}:{}:{id}", kind.unified()).parse()
    }

    pub fn platform(&self) -> &str {
        &self.platform
    }

    /// Is it on a surface of ours, which shows by itself what waits for an answer?
    pub fn is_ours(&self) -> bool {
        SessionKey::is_our_platform(&self.platform)
    }

    pub fn is_our_platform(platform: &str) -> bool {
        OUR_PLATFORMS.contains(&platform)
    }

    pub fn kind(&self) -> SessionType {
        self.kind
    }

    pub fn id(&self) -> &str {
        &self.id
    }

    /// Compat(nekro): the chat_key spelling, `<platform>-<group|private|other>_<id>`.
    pub fn chat_key(&self) -> String {
        format!("{}-{}_{}", self.platform, self.kind.chat(), self.id)
    }
}

impl FromStr for SessionKey {
    type Err = InvalidSession;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let invalid = || InvalidSession(text.to_owned());
        let (platform, kind, id) = split_unified(text)
            .or_else(|| split_chat_key(text))
            .ok_or_else(invalid)?;
        let printable = |part: &str| !part.is_empty() && !part.chars().any(char::is_control);
        if !printable(platform) || !printable(id) || text.len() > 512 {
            return Err(invalid());
        }
        Ok(SessionKey {
            platform: platform.to_owned(),
            kind,
            id: id.to_owned(),
        })
    }
}

fn split_unified(text: &str) -> Option<(&str, SessionType, &str)> {
    let (platform, rest) = text.split_once(':')?;
    let (kind, id) = rest.split_once(':')?;
    let kind = SessionType::ALL.into_iter().find(|k| k.unified() == kind)?;
    Some((platform, kind, id))
}

fn split_chat_key(text: &str) -> Option<(&str, SessionType, &str)> {
    let (platform, rest) = text.split_once('-')?;
    let (kind, id) = rest.split_once('_')?;
    let kind = SessionType::ALL.into_iter().find(|k| k.chat() == kind)?;
    Some((platform, kind, id))
}

impl fmt::Display for SessionKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.platform, self.kind.unified(), self.id)
    }
}

impl TryFrom<String> for SessionKey {
    type Error = InvalidSession;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<SessionKey> for String {
    fn from(key: SessionKey) -> Self {
        key.to_string()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn both_spellings_name_the_same_session() {
        let unified: SessionKey = "onebot:GroupMessage:1:2!3".parse().unwrap();
        assert_eq!(unified.id(), "1:2!3");
        assert_eq!(unified.chat_key(), "onebot-group_1:2!3");
        assert_eq!(unified.chat_key().parse(), Ok(unified));
    }

    #[test]
    fn what_is_not_a_session_is_refused() {
        for text in [
            "",
            "a:b",
            "p:Channel:1",
            "p:GroupMessage:",
            ":GroupMessage:1",
            "p-group_",
        ] {
            assert!(text.parse::<SessionKey>().is_err(), "{text}");
        }
        assert!("p:GroupMessage:a\nb".parse::<SessionKey>().is_err());
    }
}
