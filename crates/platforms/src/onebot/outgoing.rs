//! Messages as OneBot takes them: each part as a segment.

use base64::Engine;
use callgate_contract::{Part, SessionKey};
use serde_json::{Value as Json, json};

use super::segment::Segment;
use crate::Host;

/// The segments of a piece. Files of the session are sent along as they are.
pub(super) async fn segments(
    host: &dyn Host,
    session: &SessionKey,
    parts: &[Part],
) -> Result<Vec<Segment>, String> {
    let mut segments = Vec::new();
    for part in parts {
        segments.extend(segment(host, session, part).await?);
    }
    Ok(segments)
}

async fn segment(
    host: &dyn Host,
    session: &SessionKey,
    part: &Part,
) -> Result<Option<Segment>, String> {
    let media = async |kind: &str, url: &str| {
        let file = file(host, session, url).await?;
        Ok::<_, String>(Some(Segment::new(kind, [("file", file.into())])))
    };
    Ok(Some(match part {
        Part::Text { text } => Segment::new("text", [("text", text.as_str().into())]),
        Part::Image { url } => return media("image", url).await,
        Part::Audio { url } => return media("record", url).await,
        Part::Video { url } => return media("video", url).await,
        Part::File { name, url } => {
            let file = file(host, session, url).await?;
            Segment::new(
                "file",
                [("file", file.into()), ("name", name.as_str().into())],
            )
        }
        Part::Mention { id, .. } => Segment::new("at", [("qq", id.as_str().into())]),
        Part::Reply { to, .. } => Segment::new("reply", [("id", to.as_str().into())]),
        Part::Face { id, .. } => Segment::new("face", [("id", id.as_str().into())]),
        Part::Other { kind, data } => Segment {
            kind: kind.clone(),
            data: data.clone(),
        },
        // Sent as nodes, not as a segment.
        Part::Forward { .. } => return Ok(None),
    }))
}

/// As programs take it: an address, or the bytes themselves.
async fn file(host: &dyn Host, session: &SessionKey, url: &str) -> Result<String, String> {
    if url.starts_with("http://") || url.starts_with("https://") || url.starts_with("base64://") {
        return Ok(url.to_owned());
    }
    if let Some(data) = url.strip_prefix("data:") {
        let data = data.split_once(";base64,");
        let (_, data) = data.ok_or("a data: URL that is not base64 cannot be sent")?;
        return Ok(format!("base64://{data}"));
    }
    let bytes = host.read(session, url).await?;
    let data = base64::engine::general_purpose::STANDARD.encode(bytes);
    Ok(format!("base64://{data}"))
}

/// Messages to pass on together, as from the bot.
pub(super) fn nodes(bot: &str, part: &Part) -> Option<Json> {
    let Part::Forward { messages, .. } = part else {
        return None;
    };
    let nodes = messages.iter().map(|message| {
        let content = Segment::new("text", [("text", message.text.as_str().into())]).json();
        json!({"type": "node", "data": {
            "user_id": bot, "uin": bot, "nickname": message.name, "name": message.name,
            "content": [content],
        }})
    });
    Some(nodes.collect())
}
