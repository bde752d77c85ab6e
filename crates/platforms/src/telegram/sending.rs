//! A piece as a request, and what is tried where Telegram does not take it so. A refusal means that nothing
//! was sent; everything else that goes wrong leaves open whether it was, and Telegram has no history that
//! a bot could look at.

use std::time::Duration;

use base64::Engine;
use callgate_contract::{DeliveryError, Part, Piece, Receipt};
use serde_json::{Map, Value as Json, json};

use super::{
    SEND, Shared,
    api::{ApiError, Upload},
    chats::{Place, message_number},
    html::{escaped, html},
};
use crate::plain::plain;

/// Where Telegram does not say how long to wait.
const WAIT: Duration = Duration::from_secs(3);
/// Before a message is tried again that could not be put on its way.
const AGAIN: Duration = Duration::from_secs(5);
/// What Telegram takes as a picture; a larger one is a file.
const LARGEST_PHOTO: usize = 10 << 20;

struct Sending {
    method: &'static str,
    parameters: Map<String, Json>,
    upload: Option<Upload>,
    /// The parameter that text goes in, and the text without marks.
    text: Option<(&'static str, String)>,
}

impl Shared {
    pub(super) async fn deliver(&self, piece: Piece<'_>) -> Result<Receipt, DeliveryError> {
        let refused = |reason: String| DeliveryError::Refused { reason };
        let place = self.chats.lock().place(piece.session.id());
        let place = place.ok_or_else(|| refused("this is no chat of Telegram".to_owned()))?;
        let sending = self.prepare(&piece, place).await;
        let mut sending = sending.map_err(refused)?;
        let draft = self.drafts.of(piece.session);
        let mut draft = draft.going.lock().await;
        let answer = self.send(&mut sending).await;
        draft.delivered();
        drop(draft);
        let answer = answer.map_err(|error| self.not_delivered(error))?;
        self.arrivals.sent();
        let number = |value: Option<&Json>| value.and_then(Json::as_i64);
        let chat = number(answer.get("chat").and_then(|it| it.get("id")));
        let id = number(answer.get("message_id"));
        let chats = self.chats.lock();
        Ok(Receipt {
            message_id: id.map(|id| chats.message(chat.unwrap_or(place.chat), id)),
        })
    }

    async fn send(&self, sending: &mut Sending) -> Result<Json, ApiError> {
        loop {
            let (method, parameters) = (sending.method, &sending.parameters);
            let sent = match &sending.upload {
                Some(file) => {
                    let files = std::slice::from_ref(file);
                    self.api.upload(method, parameters, files, SEND).await
                }
                None => self.api.call(method, parameters, SEND).await,
            };
            let error = match sent {
                Ok(answer) => return Ok(answer),
                Err(error) => error,
            };
            let ApiError::Refused {
                ref description,
                migrate_to,
                ..
            } = error
            else {
                return Err(error);
            };
            let goes_on = match migrate_to {
                Some(new) => self.migrated(sending, new).await,
                None => sending.humbler(description),
            };
            if !goes_on {
                return Err(error);
            }
        }
    }

    /// The group has another id by now.
    async fn migrated(&self, sending: &mut Sending, new: i64) -> bool {
        let old = sending.parameters.insert("chat_id".to_owned(), new.into());
        let Some(old) = old.and_then(|it| it.as_i64()).filter(|old| *old != new) else {
            return false;
        };
        if self.chats.lock().migrate(old, new) {
            self.save().await;
        }
        true
    }

    fn not_delivered(&self, error: ApiError) -> DeliveryError {
        let reason = error.to_string();
        match error {
            ApiError::Refused {
                code: 429,
                retry_after,
                ..
            } => DeliveryError::Later {
                after: retry_after.unwrap_or(WAIT),
                reason,
            },
            ApiError::Refused { .. } => DeliveryError::Refused { reason },
            // Who asks for updates finds out when it is over.
            ApiError::Unreachable(_) if !self.is_reached() => DeliveryError::Unreachable { reason },
            ApiError::Unreachable(_) => DeliveryError::Later {
                after: AGAIN,
                reason,
            },
            ApiError::NoAnswer(_) => DeliveryError::Unknown { reason },
        }
    }

    async fn prepare(&self, piece: &Piece<'_>, place: Place) -> Result<Sending, String> {
        let mut parameters = target(place);
        let (mut rich, mut bare) = (String::new(), String::new());
        let mut main = None;
        for (part, next) in piece
            .parts
            .iter()
            .zip(piece.parts.iter().skip(1).map(Some).chain([None]))
        {
            match part {
                Part::Text { text } => {
                    rich.push_str(&html(text));
                    bare.push_str(&plain(text));
                }
                Part::Mention { id, name } => {
                    let (shown, linked) = mention(id, name);
                    rich.push_str(&linked);
                    bare.push_str(&shown);
                    if next.is_some_and(begins_with_word) {
                        rich.push(' ');
                        bare.push(' ');
                    }
                }
                Part::Reply { to, .. } => {
                    if let Some(id) = message_number(to) {
                        let to = json!({"message_id": id, "allow_sending_without_reply": true});
                        parameters.insert("reply_parameters".to_owned(), to);
                    }
                }
                part => main = Some(part),
            }
        }
        let (rich, bare) = (rich.trim().to_owned(), bare.trim().to_owned());
        let mut sending = match main {
            None => Sending::new("sendMessage", parameters),
            Some(part) => self.carry(piece, part, parameters).await?,
        };
        if !rich.is_empty() {
            let field = if main.is_none() { "text" } else { "caption" };
            let mut add = |name: &str, value: Json| sending.parameters.insert(name.into(), value);
            add(field, rich.into());
            add("parse_mode", "HTML".into());
            sending.text = Some((field, bare));
        }
        Ok(sending)
    }

    /// What is not text.
    async fn carry(
        &self,
        piece: &Piece<'_>,
        part: &Part,
        mut parameters: Map<String, Json>,
    ) -> Result<Sending, String> {
        let (url, name) = match part {
            Part::Face { id, .. } => {
                parameters.insert("sticker".to_owned(), id.as_str().into());
                return Ok(Sending::new("sendSticker", parameters));
            }
            Part::Other { kind, data } => {
                let method = match kind.as_str() {
                    "location" => "sendLocation",
                    "venue" => "sendVenue",
                    "contact" => "sendContact",
                    "poll" => "sendPoll",
                    "dice" => "sendDice",
                    _ => return Err(format!("Telegram cannot be sent a '{kind}'")),
                };
                parameters.extend(data.clone());
                return Ok(Sending::new(method, parameters));
            }
            Part::File { url, name } => (url.as_str(), name.as_str()),
            part => (part.media().unwrap_or_default(), ""),
        };
        let file = self.file(piece, url).await?;
        let method = method_for(part, &file);
        let field = field_of(method);
        let mut sending = Sending::new(method, parameters);
        match file {
            File::Address(url) => {
                sending.parameters.insert(field.to_owned(), url.into());
            }
            File::Bytes(bytes) => {
                let own = url.rsplit('/').next().filter(|_| url.starts_with('/'));
                let name = [name, own.unwrap_or_default()].into_iter();
                let name = name.filter(|it| !it.is_empty()).map(str::to_owned).next();
                let ending = ending(&bytes);
                sending.upload = Some(Upload {
                    field: field.to_owned(),
                    name: name.unwrap_or_else(|| format!("{field}{ending}")),
                    bytes,
                });
            }
        }
        Ok(sending)
    }

    async fn file(&self, piece: &Piece<'_>, url: &str) -> Result<File, String> {
        if url.starts_with("http://") || url.starts_with("https://") {
            return Ok(File::Address(url.to_owned()));
        }
        let encoded = url.strip_prefix("base64://").or_else(|| {
            let data = url.strip_prefix("data:")?;
            Some(data.split_once(";base64,")?.1)
        });
        Ok(File::Bytes(match encoded {
            Some(data) => base64::engine::general_purpose::STANDARD
                .decode(data)
                .map_err(|_| "a file that is not base64 cannot be sent")?,
            None => self.host.read(piece.session, url).await?,
        }))
    }
}

impl Sending {
    fn new(method: &'static str, parameters: Map<String, Json>) -> Self {
        Sending {
            method,
            parameters,
            upload: None,
            text: None,
        }
    }

    /// Another way to send the same, after a refusal; false where there is none.
    fn humbler(&mut self, description: &str) -> bool {
        let says = |words: &str| description.to_ascii_lowercase().contains(words);
        if says("can't parse entities")
            && let Some((field, bare)) = self.text.take()
        {
            self.parameters.remove("parse_mode");
            self.parameters.insert(field.to_owned(), bare.into());
            return true;
        }
        // Dimensions, a kind of picture that it does not know, a person who takes no voice messages.
        let is_picture =
            says("photo_") || says("image_process") || says("wrong type of the web page");
        let other = match self.method {
            "sendPhoto" if is_picture => "sendDocument",
            "sendVoice" if says("voice_messages_forbidden") => "sendAudio",
            _ => return false,
        };
        let (old, new) = (field_of(self.method), field_of(other));
        self.method = other;
        if let Some(upload) = &mut self.upload {
            upload.field = new.to_owned();
        } else if let Some(url) = self.parameters.remove(old) {
            self.parameters.insert(new.to_owned(), url);
        }
        true
    }
}

pub(super) fn target(place: Place) -> Map<String, Json> {
    let mut parameters = Map::from_iter([("chat_id".to_owned(), place.chat.into())]);
    if let Some(topic) = place.topic {
        parameters.insert("message_thread_id".to_owned(), topic.into());
    }
    parameters
}

/// As plain text, and as a link by which the person is told.
fn mention(id: &str, name: &str) -> (String, String) {
    let name = if name.is_empty() { id } else { name };
    let name = name.trim_start_matches('@');
    let shown = format!("@{name}");
    let linked = match id.parse::<i64>() {
        Ok(id) => format!("<a href=\"tg://user?id={id}\">{}</a>", escaped(name)),
        Err(_) => escaped(&shown),
    };
    (shown, linked)
}

fn begins_with_word(part: &Part) -> bool {
    match part {
        Part::Text { text } => text.chars().next().is_some_and(char::is_alphanumeric),
        Part::Mention { .. } => true,
        _ => false,
    }
}

enum File {
    /// Telegram fetches it.
    Address(String),
    Bytes(Vec<u8>),
}

fn method_for(part: &Part, file: &File) -> &'static str {
    let kind = match file {
        File::Bytes(bytes) => callgate_contract::media_type(bytes),
        File::Address(_) => None,
    };
    let is_large = matches!(file, File::Bytes(bytes) if bytes.len() > LARGEST_PHOTO);
    match part {
        Part::Image { .. } if is_large => "sendDocument",
        Part::Image { .. } if kind == Some("image/gif") => "sendAnimation",
        Part::Image { .. } => "sendPhoto",
        // Voice is Opus in Ogg; all else is music to Telegram.
        Part::Audio { url } if kind == Some("audio/ogg") || url.ends_with(".ogg") => "sendVoice",
        Part::Audio { .. } => "sendAudio",
        Part::Video { .. } => "sendVideo",
        _ => "sendDocument",
    }
}

fn field_of(method: &str) -> &'static str {
    match method {
        "sendPhoto" => "photo",
        "sendAnimation" => "animation",
        "sendVoice" => "voice",
        "sendAudio" => "audio",
        "sendVideo" => "video",
        _ => "document",
    }
}

/// Telegram goes by it.
fn ending(bytes: &[u8]) -> &'static str {
    match callgate_contract::media_type(bytes) {
        Some("image/png") => ".png",
        Some("image/jpeg") => ".jpg",
        Some("image/gif") => ".gif",
        Some("image/webp") => ".webp",
        Some("audio/wav") => ".wav",
        Some("audio/mpeg") => ".mp3",
        Some("audio/ogg") => ".ogg",
        _ => "",
    }
}
