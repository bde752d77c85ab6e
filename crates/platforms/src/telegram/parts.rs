//! A Telegram message as parts. Files are fetched and kept: their addresses hold the token, and end. One
//! that cannot be had leaves its part without an address.

use std::time::Duration;

use callgate_contract::{Forwarded, Part, SessionKey};
use serde_json::{Map, Value as Json};

use super::{
    api::{Api, ApiError},
    chats::Chats,
    entities::{self, Me},
    event::{name, text},
};
use crate::{Host, MediaSource};

const ASK: Duration = Duration::from_secs(20);
const DOWNLOAD: Duration = Duration::from_secs(90);
/// Before a download that failed is tried again.
const PAUSE: Duration = Duration::from_secs(1);

pub(super) struct PartReader<'a> {
    pub(super) host: &'a dyn Host,
    pub(super) api: &'a Api,
    pub(super) me: &'a Me,
    pub(super) session: &'a SessionKey,
}

/// What a message says.
#[derive(Debug, Default)]
pub(super) struct Content {
    pub(super) parts: Vec<Part>,
    /// It mentions the bot, or answers what it said.
    pub(super) addresses_bot: bool,
}

impl PartReader<'_> {
    pub(super) async fn read(&self, message: &Json, chats: &Chats) -> Content {
        let mut content = Content::default();
        if let Some((part, of_bot)) = self.reply(message, chats) {
            content.parts.push(part);
            content.addresses_bot = of_bot;
        }
        let said = self.said(message);
        if let Some(origin) = message.get("forward_origin") {
            let messages = vec![Forwarded {
                name: author(origin),
                id: None,
                text: words(message),
                parts: Vec::new(),
            }];
            content.parts.push(Part::Forward { id: None, messages });
            content.parts.extend(self.media(message).await);
            return content;
        }
        content.addresses_bot |= said.addresses_bot;
        content.parts.extend(self.media(message).await);
        content.parts.extend(other(message));
        content.parts.extend(said.parts);
        content
    }

    fn said(&self, message: &Json) -> entities::Said {
        let (words, marks) = match text(message, "text") {
            Some(words) => (words, message.get("entities")),
            None => {
                let words = text(message, "caption").unwrap_or_default();
                (words, message.get("caption_entities"))
            }
        };
        entities::read(&words, marks, self.me)
    }

    /// With whether it answers the bot.
    fn reply(&self, message: &Json, chats: &Chats) -> Option<(Part, bool)> {
        let quote = message.get("quote").and_then(|it| text(it, "text"));
        if let Some(elsewhere) = message.get("external_reply") {
            let id = elsewhere.get("message_id").and_then(Json::as_i64);
            let part = Part::Reply {
                to: id.map(|id| id.to_string()).unwrap_or_default(),
                text: quote,
            };
            return Some((part, false));
        }
        let answered = message.get("reply_to_message")?;
        let id = answered.get("message_id")?.as_i64()?;
        // All that is said in a topic answers the message it began with, whoever began it.
        let is_root = message.get("is_topic_message") == Some(&Json::Bool(true))
            && message.get("message_thread_id").and_then(Json::as_i64) == Some(id);
        if is_root || answered.get("forum_topic_created").is_some() {
            return None;
        }
        let author = answered.get("from").and_then(|it| it.get("id"));
        let of_bot = author.and_then(Json::as_i64) == Some(self.me.id);
        let chat = answered.get("chat").and_then(|it| it.get("id"));
        let chat = chat.and_then(Json::as_i64).unwrap_or_default();
        let part = Part::Reply {
            to: chats.message(chat, id),
            text: quote.or_else(|| Some(words(answered)).filter(|text| !text.is_empty())),
        };
        Some((part, of_bot))
    }

    async fn media(&self, message: &Json) -> Option<Part> {
        if let Some(sticker) = message.get("sticker") {
            return Some(Part::Face {
                id: text(sticker, "file_id")?,
                name: text(sticker, "emoji").unwrap_or_default(),
            });
        }
        let (kind, file) = media(message)?;
        let given = text(file, "file_name");
        let fetched = self.fetch(&text(file, "file_id")?).await;
        let (path, bytes) = match fetched {
            Ok(fetched) => fetched,
            Err(error) => {
                tracing::warn!(session = %self.session, kind, %error, "could not fetch an attachment");
                return Some(part(kind, given, String::new()));
            }
        };
        let ending = path.rsplit_once('.').map(|(_, ending)| ending);
        let ending = ending.filter(|it| it.len() <= 5 && it.chars().all(char::is_alphanumeric));
        let own = match ending {
            Some(ending) => format!("{kind}.{ending}"),
            None => kind.to_owned(),
        };
        let name = given.clone().unwrap_or(own);
        let kept = self
            .host
            .keep(self.session, &name, MediaSource::Bytes(bytes))
            .await;
        let url = kept.unwrap_or_else(|error| {
            tracing::warn!(session = %self.session, name, error, "could not keep an attachment");
            String::new()
        });
        Some(part(kind, given, url))
    }

    /// Its path at Telegram, and its bytes.
    async fn fetch(&self, id: &str) -> Result<(String, Vec<u8>), ApiError> {
        match self.try_fetch(id).await {
            Err(ApiError::Unreachable(_) | ApiError::NoAnswer(_)) => {
                tokio::time::sleep(PAUSE).await;
                self.try_fetch(id).await
            }
            fetched => fetched,
        }
    }

    async fn try_fetch(&self, id: &str) -> Result<(String, Vec<u8>), ApiError> {
        let asked = Map::from_iter([("file_id".to_owned(), id.into())]);
        let file = self.api.call("getFile", &asked, ASK).await?;
        let path = text(&file, "file_path")
            .ok_or_else(|| ApiError::NoAnswer("the file has no path".to_owned()))?;
        let bytes = self.api.download(&path, DOWNLOAD).await?;
        Ok((path, bytes))
    }
}

/// What kind of file a message brings, and which: of a photo the largest.
fn media(message: &Json) -> Option<(&'static str, &Json)> {
    if let Some(sizes) = message.get("photo").and_then(Json::as_array) {
        return Some(("photo", sizes.last()?));
    }
    // An animation is told as a document too.
    let kinds = [
        "animation",
        "video",
        "video_note",
        "voice",
        "audio",
        "document",
    ]
    .into_iter();
    kinds
        .filter_map(|kind| Some((kind, message.get(kind)?)))
        .next()
}

fn part(kind: &str, name: Option<String>, url: String) -> Part {
    match kind {
        "photo" => Part::Image { url },
        "voice" | "audio" => Part::Audio { url },
        "document" => Part::File {
            name: name.unwrap_or_else(|| "document".to_owned()),
            url,
        },
        _ => Part::Video { url },
    }
}

/// What only Telegram knows.
fn other(message: &Json) -> Option<Part> {
    // A venue is told as a location too.
    let kinds = [
        "venue",
        "location",
        "contact",
        "poll",
        "dice",
        "game",
        "story",
        "paid_media",
        "invoice",
        "checklist",
        "giveaway",
    ];
    let (kind, data) = kinds
        .into_iter()
        .find_map(|kind| Some((kind, message.get(kind)?.as_object()?)))?;
    Some(Part::Other {
        kind: kind.to_owned(),
        data: data.clone(),
    })
}

/// Who said what is passed on.
fn author(origin: &Json) -> String {
    let somebody = ["sender_user", "sender_chat", "chat"].into_iter();
    let somebody = somebody.filter_map(|it| origin.get(it)).next();
    let hidden = || text(origin, "sender_user_name").unwrap_or_default();
    somebody.map_or_else(hidden, name)
}

/// A message in words, of which no more is asked.
fn words(message: &Json) -> String {
    let said = text(message, "text").or(text(message, "caption"));
    let shown = match message.get("sticker") {
        Some(sticker) => text(sticker, "emoji").map(|emoji| format!("[{emoji}]")),
        None => media(message).map(|(kind, _)| format!("[{kind}]")),
    };
    let other = || other(message).and_then(|part| Some(part.words()?.into_owned()));
    let shown = shown.or_else(other);
    shown.into_iter().chain(said).collect::<Vec<_>>().join(" ")
}
