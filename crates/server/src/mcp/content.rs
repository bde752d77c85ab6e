//! What a call gave, as content of a tool's result: text, images, sounds and files for models to
//! look at, and the value itself where it is an object.

use base64::{Engine, prelude::BASE64_STANDARD};
use callgate_contract::{Kind, Part, Value, json as value_json, media_type};
use callgate_gate::Outcome;
use rmcp::model::{CallToolResult, ContentBlock, Resource, ResourceContents};
use serde_json::Value as Json;

use super::{
    files::{Home, contents},
    uri::encoded,
};

/// Bytes of a file that goes along; of a larger one only its address does.
const ALONG: u64 = 1 << 20;
/// Bytes of an image or a sound, which nobody can look at by its address.
const MEDIA: u64 = 16 << 20;

/// `home`: the folders that parts may name files of.
pub(super) fn result(outcome: &Outcome, home: Option<&Home>) -> CallToolResult {
    let json = value_json::to_json(&outcome.value);
    let mut result = CallToolResult::success(blocks(outcome, &json, home));
    if let (Value::Dict(_) | Value::Record { .. }, Json::Object(fields)) = (&outcome.value, &json)
        && !fields.contains_key("$type")
    {
        result.structured_content = Some(json);
    }
    result
}

fn blocks(outcome: &Outcome, json: &Json, home: Option<&Home>) -> Vec<ContentBlock> {
    if let Some(text) = &outcome.text {
        return vec![ContentBlock::text(text)];
    }
    if outcome.kind == Kind::MultimodalAgent {
        return outcome.parts.iter().map(|part| block(part, home)).collect();
    }
    match &outcome.value {
        Value::Null => Vec::new(),
        Value::Str(text) => vec![ContentBlock::text(text)],
        Value::Bytes(bytes) => vec![bare(bytes)],
        Value::List(_) => match parts(json) {
            Some(parts) => parts.iter().map(|part| block(part, home)).collect(),
            None => vec![ContentBlock::text(json.to_string())],
        },
        _ => vec![ContentBlock::text(json.to_string())],
    }
}

/// A list of parts, as methods of MCP servers and clients give what is more than text.
fn parts(json: &Json) -> Option<Vec<Part>> {
    let parts: Vec<Part> = serde_json::from_value(json.clone()).ok()?;
    (!parts.is_empty()).then_some(parts)
}

fn block(part: &Part, home: Option<&Home>) -> ContentBlock {
    match part {
        Part::Image { url } | Part::Audio { url } => {
            media(url, home).unwrap_or_else(|| link(url, url, home))
        }
        Part::File { name, url } => file(name, url, home).unwrap_or_else(|| link(name, url, home)),
        other => ContentBlock::text(other.words().unwrap_or_default()),
    }
}

fn media(url: &str, home: Option<&Home>) -> Option<ContentBlock> {
    if let Some((kind, data)) = data_url(url) {
        return shown(kind, data);
    }
    let bytes = home?.read(url, MEDIA)?;
    shown(media_type(&bytes)?, &BASE64_STANDARD.encode(&bytes))
}

/// By its declared kind, which clients can see for themselves.
fn shown(kind: &str, data: &str) -> Option<ContentBlock> {
    match kind.split('/').next() {
        Some("image") => Some(ContentBlock::image(data, kind)),
        Some("audio") => Some(ContentBlock::audio(data, kind)),
        _ => None,
    }
}

fn file(name: &str, url: &str, home: Option<&Home>) -> Option<ContentBlock> {
    if let Some((kind, data)) = data_url(url) {
        let uri = format!("callgate:file/{}", encoded(name));
        let bytes = BASE64_STANDARD.decode(data).ok()?;
        return Some(ContentBlock::resource(contents(uri, bytes, Some(kind))));
    }
    let home = home?;
    let bytes = home.read(url, ALONG)?;
    let uri = home.uri(url)?.to_string();
    Some(ContentBlock::resource(contents(uri, bytes, None)))
}

fn link(name: &str, url: &str, home: Option<&Home>) -> ContentBlock {
    let own = home
        .and_then(|home| home.uri(url))
        .map(|uri| uri.to_string());
    match own.or_else(|| is_web(url).then(|| url.to_owned())) {
        Some(uri) => ContentBlock::resource_link(Resource::new(uri, name)),
        None => ContentBlock::text(name),
    }
}

fn is_web(url: &str) -> bool {
    url.starts_with("https://") || url.starts_with("http://")
}

/// Bytes without a name.
fn bare(bytes: &[u8]) -> ContentBlock {
    let data = BASE64_STANDARD.encode(bytes);
    let media = media_type(bytes).and_then(|kind| shown(kind, &data));
    media.unwrap_or_else(|| {
        let blob = ResourceContents::blob(data, "callgate:bytes");
        ContentBlock::resource(blob.with_mime_type("application/octet-stream"))
    })
}

/// Media type and base64 of a `data:` URL.
fn data_url(url: &str) -> Option<(&str, &str)> {
    let (head, data) = url.strip_prefix("data:")?.split_once(',')?;
    let kind = head.strip_suffix(";base64")?;
    let kind = kind.split(';').next().unwrap_or_default();
    let kind = if kind.is_empty() { "text/plain" } else { kind };
    Some((kind, data))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(kind: Kind, value: Value) -> Json {
        let outcome = Outcome {
            value,
            text: None,
            parts: Vec::new(),
            ends_turn: false,
            kind,
            micros: 0,
        };
        serde_json::to_value(result(&outcome, None)).unwrap()
    }

    fn dict(entries: &[(&str, Value)]) -> Value {
        let entries = entries.iter();
        Value::Dict(entries.map(|(k, v)| ((*k).into(), v.clone())).collect())
    }

    #[test]
    fn text_is_text_and_an_object_is_structured_too() {
        let text = given(Kind::Tool, "as is".into());
        assert_eq!(text["content"][0]["text"], "as is");
        assert!(text.get("structuredContent").is_none());
        let object = given(Kind::Tool, dict(&[("a", 1.into())]));
        assert_eq!(object["structuredContent"]["a"], 1);
        assert_eq!(object["content"][0]["text"], "{\"a\":1}");
        assert_eq!(
            given(Kind::Tool, Value::Null)["content"],
            serde_json::json!([])
        );
        let odd = given(Kind::Tool, Value::Dict(vec![(1.into(), 2.into())]));
        assert!(odd.get("structuredContent").is_none(), "{odd}");
    }

    #[test]
    fn images_sounds_and_files_are_content() {
        let list = Value::List(vec![
            dict(&[("type", "text".into()), ("text", "look".into())]),
            dict(&[
                ("type", "image".into()),
                ("url", "data:image/png;base64,QUJD".into()),
            ]),
            dict(&[
                ("type", "audio".into()),
                ("url", "data:audio/wav;base64,QUJD".into()),
            ]),
            dict(&[
                ("type", "file".into()),
                ("name", "a b.txt".into()),
                ("url", "data:text/plain;base64,aGk=".into()),
            ]),
            dict(&[("type", "image".into()), ("url", "https://h/x.png".into())]),
            dict(&[("type", "image".into()), ("url", "/etc/passwd".into())]),
        ]);
        let content = &given(Kind::Tool, list)["content"];
        let kinds: Vec<&str> = content
            .as_array()
            .unwrap()
            .iter()
            .map(|it| it["type"].as_str().unwrap())
            .collect();
        assert_eq!(
            kinds,
            [
                "text",
                "image",
                "audio",
                "resource",
                "resource_link",
                "text"
            ]
        );
        assert_eq!(content[3]["resource"]["text"], "hi");
        assert_eq!(content[3]["resource"]["uri"], "callgate:file/a%20b.txt");
    }
}
