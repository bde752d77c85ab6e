//! Messages as OneBot takes them: which parts go together, and each part as a segment.

use base64::Engine;
use callgate_contract::{Part, SessionKey};
use serde_json::{Value as Json, json};

use super::segment::Segment;
use crate::{Host, plain::plain, split::split};

/// What may stand beside other parts in one message. All else is a message of its own there.
fn mixes(part: &Part) -> bool {
    match part {
        Part::Text { .. } | Part::Image { .. } | Part::Mention { .. } => true,
        Part::Reply { .. } | Part::Face { .. } => true,
        Part::Audio { .. } | Part::Video { .. } | Part::File { .. } => false,
        Part::Forward { .. } | Part::Other { .. } => false,
    }
}

/// `longest` counts the characters of text in one message.
pub(super) fn pieces(parts: &[Part], longest: usize) -> Vec<Vec<Part>> {
    let mut pieces: Vec<Vec<Part>> = Vec::new();
    let mut piece: Vec<Part> = Vec::new();
    let mut length = 0;
    for part in parts {
        if !mixes(part) {
            // What it answers, or whom it is for, goes with the first thing that is said.
            if !piece.iter().all(|part| matches!(part, Part::Reply { .. })) {
                pieces.push(std::mem::take(&mut piece));
            }
            piece.clear();
            length = 0;
            pieces.push(vec![part.clone()]);
            continue;
        }
        let Part::Text { text } = part else {
            piece.push(part.clone());
            continue;
        };
        let text = plain(text);
        if length + text.chars().count() <= longest {
            length += text.chars().count();
            piece.push(Part::Text { text });
            continue;
        }
        for text in split(&text, longest) {
            let more = text.chars().count();
            if length + more > longest {
                pieces.push(std::mem::take(&mut piece));
                length = 0;
            }
            length += more;
            piece.push(Part::Text { text });
        }
    }
    pieces.push(piece);
    pieces.retain(|piece| piece.iter().any(says_something));
    pieces
}

fn says_something(part: &Part) -> bool {
    match part {
        Part::Text { text } => !text.trim().is_empty(),
        Part::Reply { .. } => false,
        _ => true,
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(pieces: &[Vec<Part>]) -> Vec<String> {
        let words = |part: &Part| part.words().unwrap_or("*".into()).into_owned();
        pieces
            .iter()
            .map(|piece| piece.iter().map(words).collect())
            .collect()
    }

    #[test]
    fn what_cannot_be_mixed_goes_by_itself() {
        let image = || Part::Image {
            url: "data:".into(),
        };
        let file = || Part::File {
            name: "a".into(),
            url: "/app/shared/a".into(),
        };
        let reply = || Part::Reply {
            to: "5".into(),
            text: None,
        };
        let parts = [
            reply(),
            Part::text("see"),
            image(),
            file(),
            Part::text("done"),
        ];
        assert_eq!(
            texts(&pieces(&parts, 100)),
            ["[reply to 5]see*", "*", "done"]
        );
        assert_eq!(texts(&pieces(&[reply(), file()], 100)), ["*"]);
        assert!(pieces(&[reply(), Part::text(" ")], 100).is_empty());
    }

    #[test]
    fn long_texts_are_several_messages() {
        let parts = [Part::text("One is. Two is. "), Part::text("Three is.")];
        assert_eq!(
            texts(&pieces(&parts, 9)),
            ["One is.", "Two is.", "Three is."]
        );
        assert_eq!(texts(&pieces(&parts, 100)), ["One is. Two is. Three is."]);
    }
}
