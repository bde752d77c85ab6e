//! Messages as Satori takes them: each part as an element. Files of the session are handed to the server first; one
//! that takes none is given their bytes within the message.

use base64::Engine;
use callgate_contract::{Forwarded, Part, SessionKey, media_type};
use serde_json::{Map, Value as Json};

use super::{SEND, Shared, api::ApiError, element::escape, logins::Login};

/// Why there is no content.
pub(super) enum Unsendable {
    Never(String),
    Api(ApiError),
}

pub(super) async fn content(
    shared: &Shared,
    login: &Login,
    session: &SessionKey,
    parts: &[Part],
) -> Result<String, Unsendable> {
    let mut made = String::new();
    for part in parts {
        let media = async |element: &str, name: &str, url: &str| {
            let source = source(shared, login, session, name, url).await?;
            Ok::<_, Unsendable>(tag(element, &[("src", &source), ("title", name)]))
        };
        made += &match part {
            Part::Image { url } => media("img", "", url).await?,
            Part::Audio { url } => media("audio", "", url).await?,
            Part::Video { url } => media("video", "", url).await?,
            Part::File { name, url } => media("file", name, url).await?,
            Part::Forward { messages, .. } => {
                let mut passed_on = String::new();
                for message in messages {
                    // Boxed, since what was passed on may hold what was passed on.
                    let inside = Box::pin(content(shared, login, session, &message.parts)).await?;
                    passed_on += &forwarded(message, &inside);
                }
                format!("<message forward>{passed_on}</message>")
            }
            part => plain(shared, part),
        };
    }
    Ok(made)
}

/// Without files: as far as history can be compared with it.
pub(super) fn plain(shared: &Shared, part: &Part) -> String {
    match part {
        Part::Text { text } => escape(text).replace('\n', "<br/>"),
        Part::Image { .. } => "<img/>".to_owned(),
        Part::Audio { .. } => "<audio/>".to_owned(),
        Part::Video { .. } => "<video/>".to_owned(),
        Part::File { .. } => "<file/>".to_owned(),
        Part::Mention { id, .. } if matches!(id.as_str(), "all" | "here") => {
            tag("at", &[("type", id)])
        }
        Part::Mention { id, name } => tag("at", &[("id", shared.logins.own(id).1), ("name", name)]),
        Part::Reply { to, .. } => tag("quote", &[("id", to)]),
        Part::Face { id, name } => tag("emoji", &[("id", id), ("name", name)]),
        Part::Forward { messages, .. } => {
            let messages = messages.iter().map(|message| {
                let parts = message.parts.iter().map(|part| plain(shared, part));
                forwarded(message, &parts.collect::<String>())
            });
            let messages: String = messages.collect();
            format!("<message forward>{messages}</message>")
        }
        Part::Other { kind, data } => other(kind, data),
    }
}

/// A message that is passed on, with what is inside it; its words, where that is nothing.
fn forwarded(message: &Forwarded, inside: &str) -> String {
    let id = message.id.as_deref().unwrap_or_default();
    let author = tag("author", &[("id", id), ("name", &message.name)]);
    let text = if inside.is_empty() {
        escape(&message.text).replace('\n', "<br/>")
    } else {
        inside.to_owned()
    };
    format!("<message>{author}{text}</message>")
}

fn other(kind: &str, data: &Map<String, Json>) -> String {
    // It becomes a tag: nothing but a name.
    let is_name = |name: &str| {
        let letters = |c: char| c.is_ascii_alphanumeric() || "-_:.".contains(c);
        name.starts_with(|c: char| c.is_ascii_alphabetic()) && name.chars().all(letters)
    };
    if !is_name(kind) {
        return String::new();
    }
    let text = data.get("text").and_then(Json::as_str).unwrap_or_default();
    let values = data
        .iter()
        .filter(|(name, _)| is_name(name) && *name != "text");
    let values: Vec<(&str, String)> = values
        .map(|(name, value)| {
            let value = value.as_str().map(str::to_owned);
            (name.as_str(), value.unwrap_or_default())
        })
        .collect();
    let values: Vec<(&str, &str)> = values
        .iter()
        .map(|(name, value)| (*name, value.as_str()))
        .collect();
    let element = tag(kind, &values);
    match element.strip_suffix("/>") {
        Some(open) if !text.is_empty() => format!("{open}>{}</{kind}>", escape(text)),
        _ => element,
    }
}

/// Without those attributes that say nothing.
fn tag(name: &str, attributes: &[(&str, &str)]) -> String {
    let attributes = attributes.iter().filter(|(_, value)| !value.is_empty());
    let attributes = attributes.map(|(name, value)| format!(" {name}=\"{}\"", escape(value)));
    format!("<{name}{}/>", attributes.collect::<String>())
}

/// As servers take it: an address, or the bytes themselves.
async fn source(
    shared: &Shared,
    login: &Login,
    session: &SessionKey,
    name: &str,
    url: &str,
) -> Result<String, Unsendable> {
    let schemes = ["http://", "https://", "internal:"];
    if schemes.iter().any(|scheme| url.starts_with(scheme)) {
        return Ok(url.to_owned());
    }
    let data = url
        .strip_prefix("data:")
        .and_then(|data| data.split_once(";base64,"));
    let data = data.map(|(kind, data)| (Some(kind), data));
    let data = data.or(url.strip_prefix("base64://").map(|data| (None, data)));
    let (said, bytes) = match data {
        Some((said, data)) => {
            let bytes = base64::engine::general_purpose::STANDARD.decode(data);
            (
                said,
                bytes.map_err(|error| Unsendable::Never(error.to_string()))?,
            )
        }
        None => {
            let read = shared.host.read(session, url).await;
            (None, read.map_err(Unsendable::Never)?)
        }
    };
    let kind = media_type(&bytes).or(said);
    let kind = kind.unwrap_or("application/octet-stream");
    let file_name = url.rsplit('/').next().filter(|_| data.is_none());
    let name = match name {
        "" => file_name.unwrap_or("file"),
        name => name,
    };
    match shared.api.upload(login, name, kind, &bytes, SEND).await {
        Ok(url) => Ok(url),
        // It takes no files, or not this one.
        Err(ApiError::Refused { .. }) => {
            let data = base64::engine::general_purpose::STANDARD.encode(bytes);
            Ok(format!("data:{kind};base64,{data}"))
        }
        // Nobody saw anything of it.
        Err(ApiError::NoAnswer(reason)) => Err(Unsendable::Api(ApiError::Unreachable(reason))),
        Err(error) => Err(Unsendable::Api(error)),
    }
}
