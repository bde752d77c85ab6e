//! Media on their way to a model: files of the session become data, and what a model cannot take
//! becomes a note that says so. Nothing is dropped in silence.

use base64::{Engine, engine::general_purpose::STANDARD};
use callgate_contract::{Accepts, ModelMessage, ModelRequest, Part, Value, json, media_type};
use callgate_store::files::SessionFolders;

/// Largest file that is put into a request.
const LARGEST: u64 = 8 << 20;

/// What a tool gave, where that is a list of parts with a picture or a sound in it, as tools of MCP
/// servers give them: a model looks at it and does not read its bytes.
pub(crate) fn given(value: &Value) -> Option<Vec<Part>> {
    let is_part = |item: &Value| matches!(item, Value::Dict(_));
    if !matches!(value, Value::List(items) if items.iter().all(is_part)) {
        return None;
    }
    let parts: Vec<Part> = serde_json::from_value(json::to_json(value)).ok()?;
    let is_data = |part: &Part| match part {
        Part::Image { url } | Part::Audio { url } => url.starts_with("data:"),
        _ => false,
    };
    parts.iter().any(is_data).then_some(parts)
}

/// Makes every part one that a model of these abilities can take.
/// Those that are files of the session need its folders.
pub(crate) fn fit(request: &mut ModelRequest, accepts: Accepts, folders: Option<&SessionFolders>) {
    for message in &mut request.messages {
        if let ModelMessage::User { parts } | ModelMessage::Tool { parts, .. } = message {
            for part in parts {
                fit_part(part, accepts, folders);
            }
        }
    }
}

/// Whether a request holds a part that a model of these abilities cannot take.
pub(crate) fn exceeds(request: &ModelRequest, accepts: Accepts) -> bool {
    let mut media =
        parts(request).filter(|part| !matches!(part, Part::Video { .. } | Part::File { .. }));
    media.any(|part| !accepts.takes(part))
}

/// Whether [`fit`] would change anything.
pub(crate) fn needs_fitting(request: &ModelRequest, accepts: Accepts) -> bool {
    parts(request).any(|part| match part {
        Part::Text { .. } => false,
        Part::Image { .. } | Part::Audio { .. } => is_file(part) || !accepts.takes(part),
        Part::Video { .. } | Part::File { .. } => true,
        Part::Mention { .. } | Part::Reply { .. } => true,
        Part::Forward { .. } | Part::Face { .. } | Part::Other { .. } => true,
    })
}

pub(crate) fn has_files(request: &ModelRequest) -> bool {
    parts(request).any(is_file)
}

fn is_file(part: &Part) -> bool {
    match part {
        Part::Image { url } | Part::Audio { url } => url.starts_with("/app/"),
        _ => false,
    }
}

fn parts(request: &ModelRequest) -> impl Iterator<Item = &Part> {
    request.messages.iter().flat_map(|message| match message {
        ModelMessage::User { parts } | ModelMessage::Tool { parts, .. } => parts.as_slice(),
        _ => &[],
    })
}

fn fit_part(part: &mut Part, accepts: Accepts, folders: Option<&SessionFolders>) {
    let (what, url) = match part {
        Part::Text { .. } => return,
        Part::Mention { .. }
        | Part::Reply { .. }
        | Part::Forward { .. }
        | Part::Face { .. }
        | Part::Other { .. } => {
            *part = Part::text(part.words().unwrap_or_default());
            return;
        }
        Part::Image { url } => ("image", url),
        Part::Audio { url } => ("audio", url),
        Part::Video { url } => {
            *part = Part::text(format!("[video {url}]"));
            return;
        }
        Part::File { name, url } => {
            *part = Part::text(format!("[file {name}: {url}]"));
            return;
        }
    };
    if url.starts_with("/app/") {
        let embedded = folders.map_or(Err("no folder".into()), |folders| embed(url, folders));
        match embedded {
            Ok(data) => *url = data,
            Err(reason) => {
                *part = Part::text(format!("[{what} {url} cannot be shown: {reason}]"));
                return;
            }
        }
    }
    if !accepts.takes(part) {
        *part = Part::text(format!("[{what} left out: this model cannot take it]"));
    }
}

fn embed(path: &str, folders: &SessionFolders) -> Result<String, String> {
    let (folder, name) = folders.resolve(path).map_err(|error| error.to_string())?;
    let bytes = folder
        .read(name, LARGEST)
        .map_err(|error| error.to_string())?;
    let kind = media_type(&bytes).ok_or("not a known kind of image or audio")?;
    Ok(format!("data:{kind};base64,{}", STANDARD.encode(bytes)))
}
