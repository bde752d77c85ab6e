//! A message's content as parts. What only the server knows is asked of it: the words that a quote stands for, the
//! name of somebody who is mentioned, the bytes of a file. A question that fails leaves the part as it came.

use std::time::Duration;

use base64::Engine;
use callgate_contract::{Forwarded, Part, SessionKey};
use serde_json::{Map, Value as Json, json};

use super::{
    Shared,
    element::{Element, Node, parse},
    event::{field, name},
    flat::{Piece, flatten, name_or_id, words},
    logins::Login,
};
use crate::MediaSource;

/// For a question on whose answer a message waits.
const ASK: Duration = Duration::from_secs(5);
/// Of messages that were passed on together.
const MOST_FORWARDED: usize = 100;

pub(super) struct PartReader<'a> {
    pub(super) shared: &'a Shared,
    pub(super) login: &'a Login,
    pub(super) session: &'a SessionKey,
    /// What the network calls the chat.
    pub(super) channel: String,
    pub(super) guild: Option<String>,
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
        let source = field(message, "content").unwrap_or_default();
        let row = flatten(&parse(&source));
        let quoted = message.get("quote").filter(|quote| quote.is_object());
        let is_quote = |piece: &Piece| matches!(piece, Piece::Element(it) if it.name == "quote");
        if let Some(quoted) = quoted.filter(|_| !row.iter().any(is_quote)) {
            let part = self.quoted(quoted, &mut content.addresses_bot);
            content.parts.extend(part);
        }
        for piece in row {
            let part = match piece {
                Piece::Text(text) => Some(Part::text(text)),
                Piece::Element(element) => self.part(&element, &mut content.addresses_bot).await,
            };
            content.parts.extend(part);
        }
        content
    }

    async fn part(&self, element: &Element, addresses_bot: &mut bool) -> Option<Part> {
        Some(match element.name.as_str() {
            "at" => {
                *addresses_bot |= element.attribute("id") == Some(&self.login.account);
                return self.mention(element).await;
            }
            "quote" => return self.quote(element, addresses_bot).await,
            "img" | "image" => Part::Image {
                url: self.kept(element, "image").await,
            },
            "audio" => Part::Audio {
                url: self.kept(element, "audio").await,
            },
            "video" => Part::Video {
                url: self.kept(element, "video").await,
            },
            "file" => Part::File {
                name: title(element).unwrap_or("file").to_owned(),
                url: self.kept(element, "file").await,
            },
            "emoji" | "face" => Part::Face {
                id: element.attribute("id")?.to_owned(),
                name: element.attribute("name").unwrap_or_default().to_owned(),
            },
            "message" => forward(element),
            _ => other(element),
        })
    }

    async fn ask(&self, method: &str, parameters: Json) -> Option<Json> {
        let Json::Object(parameters) = parameters else {
            return None;
        };
        let asked = self.shared.api.call(self.login, method, &parameters, ASK);
        let answer = asked.await;
        if let Err(error) = &answer {
            tracing::debug!(method, %error, "Satori question not answered");
        }
        answer.ok().filter(|answer| !answer.is_null())
    }

    async fn mention(&self, element: &Element) -> Option<Part> {
        if let Some(everybody) = element.attribute("type") {
            return Some(Part::Mention {
                id: everybody.to_owned(),
                name: everybody.to_owned(),
            });
        }
        let Some(id) = element.attribute("id") else {
            // A role.
            return Some(other(element));
        };
        let name = match element.attribute("name") {
            Some(name) => name.to_owned(),
            None if id == self.login.account => self.login.name.clone(),
            None => self.name_of(id).await.unwrap_or_default(),
        };
        let id = self.shared.logins.id(&self.login.network, id);
        Some(Part::Mention { id, name })
    }

    async fn name_of(&self, id: &str) -> Option<String> {
        let logins = &self.shared.logins;
        if let Some(name) = logins.known_name(self.session, id) {
            return Some(name);
        }
        let member = match &self.guild {
            Some(guild) => {
                let member = json!({"guild_id": guild, "user_id": id});
                self.ask("guild.member.get", member).await
            }
            None => None,
        };
        let member = member.unwrap_or_default();
        let found = name(&member, member.get("user").unwrap_or(&Json::Null));
        let found = if found.is_empty() {
            let user = self.ask("user.get", json!({"user_id": id})).await?;
            name(&Json::Null, &user)
        } else {
            found
        };
        if !found.is_empty() {
            logins.remember_name(self.session, id, &found);
        }
        Some(found).filter(|name| !name.is_empty())
    }

    async fn quote(&self, element: &Element, addresses_bot: &mut bool) -> Option<Part> {
        let to = element.attribute("id")?.to_owned();
        let author = element.child("author").and_then(|it| it.attribute("id"));
        let said = words(&element.children, name_or_id);
        if let Some(author) = author.filter(|_| !said.is_empty()) {
            *addresses_bot |= author == self.login.account;
            let text = Some(said);
            return Some(Part::Reply { to, text });
        }
        *addresses_bot |= author == Some(&self.login.account);
        let asked = json!({"channel_id": self.channel, "message_id": to});
        let Some(answered) = self.ask("message.get", asked).await else {
            let text = Some(said).filter(|text| !text.is_empty());
            return Some(Part::Reply { to, text });
        };
        let answered = Json::Object(Map::from_iter([
            ("id".to_owned(), to.into()),
            (
                "content".to_owned(),
                answered.get("content").cloned().unwrap_or_default(),
            ),
            (
                "user".to_owned(),
                author_of(&answered).cloned().unwrap_or_default(),
            ),
        ]));
        self.quoted(&answered, addresses_bot)
    }

    /// A message that another one answers, as the server told it.
    fn quoted(&self, message: &Json, addresses_bot: &mut bool) -> Option<Part> {
        let author = author_of(message).and_then(|user| field(user, "id"));
        *addresses_bot |= author.as_deref() == Some(&self.login.account);
        let said = field(message, "content").unwrap_or_default();
        let said = words(&parse(&said), name_or_id);
        Some(Part::Reply {
            to: field(message, "id")?,
            text: Some(said).filter(|text| !text.is_empty()),
        })
    }

    /// Where the file is from now on; addresses that networks give out end after a while.
    async fn kept(&self, element: &Element, kind: &str) -> String {
        let Some(url) = element.attribute("src").or(element.attribute("url")) else {
            return String::new();
        };
        let is_data = url.starts_with("data:");
        let kept = async {
            let source = self.source(url).await?;
            let name = title(element).unwrap_or(kind);
            self.shared.host.keep(self.session, name, source).await
        };
        match kept.await {
            Ok(kept) => kept,
            Err(error) => {
                tracing::warn!(session = %self.session, error, "could not keep an attachment");
                if is_data {
                    String::new()
                } else {
                    url.to_owned()
                }
            }
        }
    }

    async fn source(&self, url: &str) -> Result<MediaSource, String> {
        if let Some(data) = url.strip_prefix("data:") {
            let (_, data) = data.split_once(";base64,").ok_or("it is not base64")?;
            let bytes = base64::engine::general_purpose::STANDARD.decode(data);
            return Ok(MediaSource::Bytes(
                bytes.map_err(|error| error.to_string())?,
            ));
        }
        // What only the server reaches is fetched through it, and no other address on its network.
        if url.starts_with("internal:")
            || self.shared.is_proxied(url)
            || self.shared.api.is_own(url)
        {
            let bytes = self.shared.api.fetch(url).await;
            return Ok(MediaSource::Bytes(
                bytes.map_err(|error| error.to_string())?,
            ));
        }
        if url.starts_with("http://") || url.starts_with("https://") {
            Ok(MediaSource::Url(url.to_owned()))
        } else {
            Err("its address cannot be read".to_owned())
        }
    }
}

fn title(element: &Element) -> Option<&str> {
    let names = ["title", "name", "file"].into_iter();
    names
        .filter_map(|name| element.attribute(name))
        .find(|name| name.chars().count() <= 200 && !name.contains("://"))
}

fn author_of(message: &Json) -> Option<&Json> {
    let user = |it: &'static str| message.get(it).filter(|user| user.is_object());
    user("user").or(message.get("member").and_then(|member| member.get("user")))
}

/// Messages that were passed on together.
fn forward(element: &Element) -> Part {
    let messages = element.children.iter().filter_map(|node| match node {
        Node::Element(message) if message.name == "message" => {
            let author = message.child("author");
            let name = author.and_then(name_or_id).unwrap_or_default();
            Some(Forwarded {
                name: name.to_owned(),
                id: author.and_then(|it| it.attribute("id")).map(str::to_owned),
                text: words(&message.children, name_or_id),
                parts: Vec::new(),
            })
        }
        _ => None,
    });
    Part::Forward {
        id: element.attribute("id").map(str::to_owned),
        messages: messages.take(MOST_FORWARDED).collect(),
    }
}

/// What only the network knows, with the words inside it.
fn other(element: &Element) -> Part {
    let attributes = element.attributes.iter();
    let mut data: Map<String, Json> = attributes
        .map(|(name, value)| (name.clone(), value.as_str().into()))
        .collect();
    let inside = words(&element.children, name_or_id);
    if !inside.is_empty() {
        data.insert("text".to_owned(), inside.into());
    }
    Part::Other {
        kind: element.name.clone(),
        data,
    }
}
