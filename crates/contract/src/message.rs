//! Messages and their parts, and the row changes a method may ask for.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};
use uuid::Uuid;

use crate::{Principal, Provenance, Role, SessionKey};

/// A piece of a message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Part {
    Text {
        text: String,
    },
    /// `url` is `data:`, `http(s):` or a name under the session's folders (`/app/shared/...`).
    Image {
        url: String,
    },
    Audio {
        url: String,
    },
    Video {
        url: String,
    },
    File {
        name: String,
        url: String,
    },
    /// Somebody is spoken to by name.
    Mention {
        id: String,
        #[serde(default)]
        name: String,
    },
    /// The message is an answer to another one.
    Reply {
        /// The platform's id of that message.
        to: String,
        /// What it says, where known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        text: Option<String>,
    },
    /// Messages that were passed on together.
    Forward {
        /// The platform's id of them.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id: Option<String>,
        messages: Vec<Forwarded>,
    },
    /// One of the platform's own little pictures.
    Face {
        id: String,
        #[serde(default)]
        name: String,
    },
    /// What only the platform knows: a card, a location, a poke.
    Other {
        /// The platform's word for it.
        kind: String,
        data: Map<String, Json>,
    },
}

/// A message that was passed on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Forwarded {
    /// Of whoever said it.
    pub name: String,
    /// Their account, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// In words.
    pub text: String,
    /// The whole of it, where words do not say it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<Part>,
}

impl Forwarded {
    /// With what has no words by its kind.
    fn words(&self) -> Cow<'_, str> {
        if self.parts.is_empty() {
            return self.text.as_str().into();
        }
        let words = self.parts.iter().map(|part| match part {
            Part::Image { .. } => "[image]".into(),
            Part::Audio { .. } => "[audio]".into(),
            Part::Video { .. } => "[video]".into(),
            Part::File { name, .. } => format!("[file {name}]").into(),
            part => part.words().unwrap_or_default(),
        });
        words.collect::<String>().into()
    }
}

impl Part {
    pub fn text(text: impl Into<String>) -> Self {
        Part::Text { text: text.into() }
    }

    /// The part in words, where words can say it: what models and terminals read.
    pub fn words(&self) -> Option<Cow<'_, str>> {
        match self {
            Part::Text { text } => Some(text.into()),
            Part::Mention { id, name } if name.is_empty() => Some(format!("@{id}").into()),
            Part::Mention { name, .. } => Some(format!("@{name}").into()),
            Part::Reply { to, text: None } => Some(format!("[reply to {to}]").into()),
            Part::Reply {
                text: Some(text), ..
            } => Some(format!("[reply to: {text}]").into()),
            Part::Forward { messages, .. } => {
                let said = messages
                    .iter()
                    .map(|message| format!("\n{}: {}", message.name, message.words()));
                Some(format!("[forwarded messages:{}]", said.collect::<String>()).into())
            }
            Part::Face { id, name } if name.is_empty() => Some(format!("[face {id}]").into()),
            Part::Face { name, .. } => Some(format!("[{}]", name.trim_start_matches('/')).into()),
            Part::Other { kind, data } => Some(match summary(data) {
                Some(summary) => format!("[{kind}: {summary}]").into(),
                None => format!("[{kind}]").into(),
            }),
            Part::Image { .. } | Part::Audio { .. } | Part::Video { .. } | Part::File { .. } => {
                None
            }
        }
    }

    /// Where its bytes are, of one that has some.
    pub fn media(&self) -> Option<&str> {
        match self {
            Part::Image { url } | Part::Audio { url } | Part::Video { url } => Some(url),
            Part::File { url, .. } => Some(url),
            _ => None,
        }
    }
}

/// What a platform's own part is about, as far as it has a title or the like.
fn summary(data: &Map<String, Json>) -> Option<&str> {
    let names = [
        "title", "name", "prompt", "summary", "content", "text", "url",
    ]
    .into_iter();
    let mut texts = names.filter_map(|name| data.get(name).and_then(Json::as_str));
    texts.find(|text| !text.is_empty() && text.len() <= MAX_SUMMARY)
}

const MAX_SUMMARY: usize = 400;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Message {
    pub session: SessionKey,
    pub parts: Vec<Part>,
}

/// A change of rows in our own store, described as data so that it commits together with the
/// outcome of the call that asked for it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "change", rename_all = "snake_case")]
pub enum Change {
    /// Put a message into the session's outbox.
    Send {
        message: Message,
    },
    /// Write or replace a note of the session.
    Remember {
        session: SessionKey,
        name: String,
        text: String,
    },
    Forget {
        session: SessionKey,
        name: String,
    },
    /// A system row in the session's log, visible to the user and to later turns.
    SystemRow {
        session: SessionKey,
        text: String,
        provenance: Provenance,
    },
    /// The beginning of an answer that was stopped or broke off, as it was read while it came: in the
    /// session's log, and never sent.
    Unfinished {
        session: SessionKey,
        text: String,
    },
    /// At its time the text arrives in the session as a message from whoever set it, with the role they
    /// had then.
    SetTimer {
        /// Chosen by the method, so that it can tell its caller before the change is made.
        id: Uuid,
        session: SessionKey,
        principal: Principal,
        role: Role,
        /// Milliseconds since 1970.
        due_at: i64,
        text: String,
    },
    CancelTimer {
        session: SessionKey,
        id: Uuid,
    },
}
