//! Parts of messages as wires need them: addresses taken apart, and words for what cannot be sent,
//! so that neither side wonders.

use callgate_contract::Part;

/// Of a `data:` address in base64, the media type and the base64 text.
pub(crate) fn data(url: &str) -> Option<(&str, &str)> {
    let (head, data) = url.strip_prefix("data:")?.split_once(";base64,")?;
    let media_type = head.split(';').next().unwrap_or_default();
    Some((media_type, data)).filter(|_| !media_type.is_empty())
}

pub(crate) fn is_web(url: &str) -> bool {
    ["http://", "https://"]
        .iter()
        .any(|scheme| url.starts_with(scheme))
}

/// The format by its name at OpenAI, and the base64 text.
pub(crate) fn sound(url: &str) -> Option<(&str, &str)> {
    let (media_type, data) = data(url)?;
    let format = match media_type.strip_prefix("audio/")? {
        "mpeg" | "mp3" => "mp3",
        "wav" | "x-wav" | "wave" => "wav",
        other => other,
    };
    Some((format, data))
}

/// The part in words, or that it is not shown.
pub(crate) fn words(part: &Part) -> String {
    match part {
        Part::Image { url } if data(url).is_some() => "[an image that is not shown]".to_owned(),
        Part::Image { url } => format!("[image '{url}' is not shown]"),
        Part::Audio { .. } => "[a sound that cannot be played to you]".to_owned(),
        Part::Video { .. } => "[a video that is not shown]".to_owned(),
        Part::File { name, .. } => format!("[file '{name}' is not shown]"),
        other => other.words().unwrap_or_default().into_owned(),
    }
}

/// What stands for an image or sound of the model's own on wires that cannot return it.
pub(crate) fn made(part: &Part) -> String {
    match part {
        Part::Image { .. } => "[an image you made]".to_owned(),
        Part::Audio { .. } => "[a sound you made]".to_owned(),
        other => words(other),
    }
}

/// The text, and words for what else the model made.
pub(crate) fn text_with_media(text: &str, media: &[Part]) -> String {
    let made = media.iter().map(made);
    let own = Some(text.to_owned()).filter(|text| !text.is_empty());
    own.into_iter().chain(made).collect::<Vec<_>>().join("\n")
}
