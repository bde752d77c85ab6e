//! Messages as OneBot takes them: each part as a segment.

use base64::Engine;
use callgate_contract::{Forwarded, Part, SessionKey};
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

/// Messages to pass on together; as from the bot, where nobody else is named.
pub(super) async fn nodes(
    host: &dyn Host,
    session: &SessionKey,
    bot: &str,
    messages: &[Forwarded],
) -> Result<Json, String> {
    let mut nodes = Vec::new();
    for message in messages {
        let content: Json = match &message.parts[..] {
            [] => json!([Segment::new("text", [("text", message.text.as_str().into())]).json()]),
            // Boxed, since what was passed on may hold what was passed on.
            [Part::Forward { messages, .. }] => {
                Box::pin(self::nodes(host, session, bot, messages)).await?
            }
            parts => {
                let segments = segments(host, session, parts).await?;
                segments.iter().map(Segment::json).collect()
            }
        };
        let id = message.id.as_deref().filter(|id| !id.is_empty());
        let id = id.unwrap_or(bot);
        nodes.push(json!({"type": "node", "data": {
            "user_id": id, "uin": id, "nickname": message.name, "name": message.name,
            "content": content,
        }}));
    }
    Ok(nodes.into())
}
