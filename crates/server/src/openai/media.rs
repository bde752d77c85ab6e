//! Pictures, sounds and files of a request. What is not in the request itself is got by the one
//! fetcher that strangers' addresses go through; no path of ours is ever opened for an asker.

use std::sync::Arc;

use base64::{Engine, engine::general_purpose::STANDARD};
use callgate_contract::{BoxFuture, Part, media_type};
use serde_json::Value as Json;

use super::Failure;

/// The bytes that a URL names; the error says in words why not.
pub type Fetch = Arc<dyn Fn(String) -> BoxFuture<'static, Result<Vec<u8>, String>> + Send + Sync>;

pub(super) async fn image(fetch: &Fetch, url: &str, place: &str) -> Result<Part, Failure> {
    if url.starts_with("data:image/") {
        return Ok(Part::Image { url: url.into() });
    }
    if !url.starts_with("http://") && !url.starts_with("https://") {
        let message = "an image is a data: address with base64, or an http(s) address";
        return Err(Failure::bad(place, message));
    }
    let fetched = fetch(url.to_owned()).await;
    let bytes = fetched.map_err(|reason| {
        let message = format!("{reason}; send the image itself as a data: address instead");
        Failure::bad(place, message)
    })?;
    match media_type(&bytes).filter(|kind| kind.starts_with("image/")) {
        Some(kind) => Ok(Part::Image {
            url: format!("data:{kind};base64,{}", STANDARD.encode(bytes)),
        }),
        None => Err(Failure::bad(place, "what is there is no image")),
    }
}

/// `{"data", "format"}`.
pub(super) fn audio(audio: &Json, place: &str) -> Result<Part, Failure> {
    let text = |name: &str| audio.get(name).and_then(Json::as_str);
    let (Some(data), Some(format)) = (text("data"), text("format")) else {
        return Err(Failure::bad(
            place,
            "audio has 'data' in base64 and a 'format'",
        ));
    };
    let plain = format.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let kind = match format {
        "mp3" => "mpeg",
        _ if plain => format,
        _ => {
            return Err(Failure::bad(
                place,
                "the format is a word such as wav or mp3",
            ));
        }
    };
    let url = format!("data:audio/{kind};base64,{data}");
    Ok(Part::Audio { url })
}

/// `{"filename", "file_data"}`: models of ours read texts.
pub(super) fn file(file: &Json, place: &str) -> Result<Part, Failure> {
    let text = |name: &str| file.get(name).and_then(Json::as_str);
    let Some(data) = text("file_data") else {
        let message = "send the file itself as 'file_data': no files are kept here";
        return Err(Failure::bad(place, message));
    };
    let encoded = data.split_once(";base64,").map_or(data, |(_, data)| data);
    let bytes = STANDARD.decode(encoded.trim());
    let content = bytes.ok().and_then(|bytes| String::from_utf8(bytes).ok());
    let Some(content) = content else {
        let message = "only text files can be read: send its text, or pictures of its pages";
        return Err(Failure::bad(place, message));
    };
    let name = text("filename").unwrap_or("file");
    Ok(Part::text(format!("{name}:\n{content}")))
}
