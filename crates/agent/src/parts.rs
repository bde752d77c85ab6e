//! Media on their way to a model: files of the session become data, and what a model cannot take
//! becomes a note that says so. Nothing is dropped in silence.

use base64::{Engine, engine::general_purpose::STANDARD};
use callgate_contract::{Accepts, ModelMessage, ModelRequest, Part, media_type};
use callgate_store::files::SessionFolders;

/// Largest file that is put into a request.
const LARGEST: u64 = 8 << 20;

/// Makes every part one that a model of these abilities can take.
pub(crate) fn fit(request: &mut ModelRequest, accepts: Accepts, folders: &SessionFolders) {
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
    let media = request.messages.iter().flat_map(|message| match message {
        ModelMessage::User { parts } | ModelMessage::Tool { parts, .. } => parts.as_slice(),
        _ => &[],
    });
    let mut media = media.filter(|part| !matches!(part, Part::File { .. }));
    media.any(|part| !accepts.takes(part))
}

fn fit_part(part: &mut Part, accepts: Accepts, folders: &SessionFolders) {
    let (what, url) = match part {
        Part::Text { .. } => return,
        Part::Image { url } => ("image", url),
        Part::Audio { url } => ("audio", url),
        Part::File { name, url } => {
            *part = Part::text(format!("[file {name}: {url}]"));
            return;
        }
    };
    if url.starts_with("/app/") {
        match embed(url, folders) {
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
