//! A OneBot message as parts. What only the other side knows is asked of it: the words that a reply
//! answers, the messages that were passed on, the name of somebody who is mentioned, the address of a
//! file. A question that fails leaves the part as it came.

use std::time::Duration;

use base64::Engine;
use callgate_contract::{Forwarded, Part, SessionKey};
use serde_json::{Map, Value as Json, json};

use super::{
    bots::Bots,
    event::field,
    segment::{self, Segment},
};
use crate::{Host, MediaSource};

/// For a question on whose answer a message waits.
const ASK: Duration = Duration::from_secs(5);
/// Of messages that were passed on together.
const MOST_FORWARDED: usize = 100;

pub(super) struct PartReader<'a> {
    pub(super) host: &'a dyn Host,
    pub(super) bots: &'a Bots,
    pub(super) bot: &'a str,
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
    pub(super) async fn read(&self, message: &Json) -> Content {
        let mut content = Content::default();
        for segment in segment::read(message) {
            content.addresses_bot |= self.is_for_bot(&segment);
            let part = match segment.kind.as_str() {
                "reply" => {
                    let (part, of_bot) = self.reply(&segment).await;
                    content.addresses_bot |= of_bot;
                    part
                }
                "at" => self.mention(&segment).await,
                "image" | "mface" | "record" | "video" | "file" => Some(self.media(&segment).await),
                "forward" => Some(self.forward(&segment).await),
                _ => plain(&segment),
            };
            content.parts.extend(part);
        }
        content
    }

    fn is_for_bot(&self, segment: &Segment) -> bool {
        segment.kind == "at" && segment.field("qq").as_deref() == Some(self.bot)
    }

    async fn ask(&self, action: &str, parameters: Json) -> Option<Json> {
        let Json::Object(parameters) = parameters else {
            return None;
        };
        let asked = self.bots.call(Some(self.bot), action, parameters, ASK);
        let answer = asked.await;
        if let Err(error) = &answer {
            tracing::debug!(action, %error, "OneBot question not answered");
        }
        answer.ok().filter(|answer| !answer.is_null())
    }

    async fn mention(&self, segment: &Segment) -> Option<Part> {
        let id = segment.field("qq").or(segment.field("user_id"))?;
        let name = segment.field("name").or(segment.field("nickname"));
        let name = match name {
            Some(name) => name,
            None if id == "all" => "all".to_owned(),
            None => self.name_of(&id).await.unwrap_or_default(),
        };
        Some(Part::Mention { id, name })
    }

    async fn name_of(&self, id: &str) -> Option<String> {
        if let Some(name) = self.bots.known_name(self.session, id) {
            return Some(name);
        }
        let member = json!({"group_id": number(self.session.id()), "user_id": number(id)});
        let member = self.ask("get_group_member_info", member).await?;
        let name = field(&member, "card").or(field(&member, "nickname"))?;
        self.bots.remember_name(self.session, id, &name);
        Some(name)
    }

    /// With whether it answers the bot.
    async fn reply(&self, segment: &Segment) -> (Option<Part>, bool) {
        let Some(to) = segment.field("id") else {
            return (None, false);
        };
        let answered = self
            .ask("get_msg", json!({"message_id": number(&to)}))
            .await;
        let (mut text, mut of_bot) = (None, false);
        if let Some(answered) = answered {
            let author = answered.get("sender").and_then(|it| field(it, "user_id"));
            of_bot = author.or(field(&answered, "user_id")).as_deref() == Some(self.bot);
            let message = answered.get("message").unwrap_or(&Json::Null);
            text = Some(words(message)).filter(|text| !text.is_empty());
        }
        (Some(Part::Reply { to, text }), of_bot)
    }

    async fn forward(&self, segment: &Segment) -> Part {
        let id = segment.field("id");
        let inline = segment.data.get("content").filter(|it| it.is_array());
        let asked;
        let messages = match (inline, &id) {
            (Some(inline), _) => inline,
            (None, Some(id)) => {
                let answer = self.ask("get_forward_msg", json!({"id": id, "message_id": id}));
                asked = answer.await.unwrap_or_default();
                asked
                    .get("messages")
                    .or(asked.get("message"))
                    .unwrap_or(&Json::Null)
            }
            (None, None) => &Json::Null,
        };
        let messages = messages.as_array().into_iter().flatten();
        Part::Forward {
            messages: messages.take(MOST_FORWARDED).map(forwarded).collect(),
            id,
        }
    }

    async fn media(&self, segment: &Segment) -> Part {
        let name = ["file_name", "name", "file"].into_iter();
        let name = name
            .filter_map(|it| segment.field(it))
            .find(|name| is_name(name));
        let name = name.unwrap_or_else(|| segment.kind.clone());
        let url = match self.source(segment).await {
            Some(source) => self.kept(&name, source).await,
            None => String::new(),
        };
        match segment.kind.as_str() {
            "record" => Part::Audio { url },
            "video" => Part::Video { url },
            "file" => Part::File { name, url },
            _ => Part::Image { url },
        }
    }

    async fn source(&self, segment: &Segment) -> Option<MediaSource> {
        let candidates = ["url", "file"]
            .into_iter()
            .filter_map(|it| segment.field(it));
        for text in candidates {
            if let Some(data) = text.strip_prefix("base64://") {
                let bytes = base64::engine::general_purpose::STANDARD
                    .decode(data)
                    .ok()?;
                return Some(MediaSource::Bytes(bytes));
            }
            if text.starts_with("http://") || text.starts_with("https://") {
                return Some(MediaSource::Url(text));
            }
        }
        let file = segment.field("file_id")?;
        let is_group = self.session.kind() == callgate_contract::SessionType::GroupMessage;
        let answer = if is_group {
            let group = number(self.session.id());
            let asked = json!({"group_id": group, "file_id": file});
            self.ask("get_group_file_url", asked).await?
        } else {
            self.ask("get_private_file_url", json!({"file_id": file}))
                .await?
        };
        field(&answer, "url").map(MediaSource::Url)
    }

    /// Where it is from now on; addresses that platforms give out end after a while.
    async fn kept(&self, name: &str, source: MediaSource) -> String {
        let url = match &source {
            MediaSource::Url(url) => url.clone(),
            MediaSource::Bytes(_) => String::new(),
        };
        match self.host.keep(self.session, name, source).await {
            Ok(kept) => kept,
            Err(error) => {
                tracing::warn!(session = %self.session, name, error, "could not keep an attachment");
                url
            }
        }
    }
}

/// What needs no question.
fn plain(segment: &Segment) -> Option<Part> {
    Some(match segment.kind.as_str() {
        "text" => Part::text(segment.data.get("text").and_then(segment::text_of)?),
        "markdown" => Part::text(segment.field("content").or(segment.field("markdown"))?),
        "face" => {
            let raw = segment.data.get("raw").unwrap_or(&Json::Null);
            let name = segment.field("name").or(field(raw, "faceText"));
            Part::Face {
                id: segment.field("id")?,
                name: name.unwrap_or_default(),
            }
        }
        kind => Part::Other {
            kind: kind.to_owned(),
            data: segment.data.clone(),
        },
    })
}

fn forwarded(node: &Json) -> Forwarded {
    let data = node.get("data").unwrap_or(node);
    let sender = data.get("sender").unwrap_or(data);
    let name = ["card", "nickname", "name"].into_iter();
    let name = name.filter_map(|it| field(sender, it)).next();
    let message = data
        .get("message")
        .or(data.get("content"))
        .unwrap_or(&Json::Null);
    Forwarded {
        name: name.unwrap_or_default(),
        id: field(sender, "user_id"),
        text: words(message),
        parts: Vec::new(),
    }
}

/// A message in words, of which no more is asked.
pub(super) fn words(message: &Json) -> String {
    let segments = segment::read(message);
    let words = segments.iter().map(|segment| match segment.kind.as_str() {
        "at" => {
            let name = segment.field("name").or(segment.field("qq"));
            format!("@{}", name.unwrap_or_default())
        }
        "reply" => String::new(),
        "image" | "record" | "video" | "file" | "forward" => format!("[{}]", segment.kind),
        _ => plain(segment)
            .and_then(|part| part.words().map(std::borrow::Cow::into_owned))
            .unwrap_or_default(),
    });
    words.collect()
}

/// Ids are numbers to some programs, and text to us.
pub(super) fn number(id: &str) -> Json {
    id.parse::<i64>().map_or_else(|_| id.into(), Json::from)
}

pub(super) fn target(session: &SessionKey) -> Map<String, Json> {
    let name = match session.kind() {
        callgate_contract::SessionType::GroupMessage => "group_id",
        _ => "user_id",
    };
    Map::from_iter([(name.to_owned(), number(session.id()))])
}

/// Rather than an address or bytes.
fn is_name(text: &str) -> bool {
    !text.contains("://") && text.chars().count() <= 200
}
