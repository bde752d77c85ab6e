//! Messages as Matrix takes them: which parts go together, how much one event holds, and what it says in
//! plain words and in HTML.

use callgate_contract::Part;
use serde_json::{Map, Value as Json, json};

use super::markdown;
use crate::split::split;

/// Bytes of an event's content. Servers take 65,536 of a whole event, with names and signatures.
const LARGEST: usize = 60_000;
/// Characters that a block of code may need to be closed and begun again.
const FENCES: usize = 40;

/// What is a message of its own.
fn stands_alone(part: &Part) -> bool {
    part.media().is_some() || matches!(part, Part::Other { .. })
}

/// `longest` counts the characters of text in one message.
pub(super) fn pieces(parts: &[Part], longest: usize) -> Vec<Vec<Part>> {
    let mut pieces: Vec<Vec<Part>> = Vec::new();
    let mut piece: Vec<Part> = Vec::new();
    for part in parts {
        if stands_alone(part) {
            // What a message answers goes with the first thing that is said.
            let alone = if piece.iter().all(|part| matches!(part, Part::Reply { .. })) {
                std::mem::take(&mut piece)
            } else {
                pieces.push(std::mem::take(&mut piece));
                Vec::new()
            };
            pieces.push([alone, vec![part.clone()]].concat());
            continue;
        }
        piece.push(part.clone());
        if fits(&piece, longest) {
            continue;
        }
        let Some(Part::Text { text }) = piece.pop() else {
            continue;
        };
        let mut cut = cut(&text, longest).into_iter();
        // The beginning may have room beside what is there already.
        if let Some(first) = cut.next() {
            piece.push(Part::Text { text: first });
            if !fits(&piece, longest)
                && piece.len() > 1
                && let Some(first) = piece.pop()
            {
                pieces.push(std::mem::replace(&mut piece, vec![first]));
            }
        }
        for text in cut {
            let next = vec![Part::Text { text }];
            pieces.push(std::mem::replace(&mut piece, next));
        }
    }
    pieces.push(piece);
    pieces.retain(|piece| piece.iter().any(says_something));
    pieces
}

fn fits(piece: &[Part], longest: usize) -> bool {
    let texts = piece.iter().map(|part| match part {
        Part::Text { text } => text.chars().count(),
        _ => 0,
    });
    texts.sum::<usize>() <= longest && size(piece) <= LARGEST
}

fn size(piece: &[Part]) -> usize {
    serde_json::to_vec(&content(piece)).map_or(0, |bytes| bytes.len())
}

/// Texts that fit, each in a message. HTML may be many times as long as what it was made of.
fn cut(text: &str, longest: usize) -> Vec<String> {
    let mut longest = longest;
    loop {
        let room = if text.contains("```") {
            longest.saturating_sub(FENCES)
        } else {
            longest
        };
        let mut texts = split(text, room.max(FENCES));
        markdown::mend_fences(&mut texts);
        let fit = |text: &String| size(&[Part::text(text)]) <= LARGEST;
        if texts.iter().all(fit) || longest <= FENCES {
            return texts;
        }
        longest /= 2;
    }
}

fn says_something(part: &Part) -> bool {
    match part {
        Part::Text { text } => !text.trim().is_empty(),
        Part::Reply { .. } => false,
        _ => true,
    }
}

/// Of a piece without media. `thread` is told apart, see [`relate`].
pub(super) fn content(parts: &[Part]) -> Json {
    if let Some((kind, data)) = parts.iter().find_map(own) {
        let mut content = data.clone();
        content.insert("msgtype".to_owned(), kind.into());
        return content.into();
    }
    let mut body = String::new();
    // The same with links to those who are mentioned.
    let mut marked = String::new();
    let mut mentioned: Vec<&str> = Vec::new();
    let mut mentions_all = false;
    let mut is_after_name = false;
    for part in parts {
        let words = match part {
            Part::Reply { .. } => continue,
            Part::Mention { id, .. } if id == "all" => {
                mentions_all = true;
                "@room".into()
            }
            Part::Mention { id, name } => {
                mentioned.push(id);
                if name.is_empty() { id } else { name }.into()
            }
            part => part.words().unwrap_or_default(),
        };
        if is_after_name && words.starts_with(char::is_alphanumeric) {
            body.push(' ');
            marked.push(' ');
        }
        is_after_name = matches!(part, Part::Mention { .. });
        body.push_str(&words);
        match part {
            Part::Mention { id, .. } if id != "all" => {
                let label = words.replace(['[', ']', '\\', '*', '_', '`', '<'], " ");
                marked.push_str(&format!("[{label}](https://matrix.to/#/{id})"));
            }
            _ => marked.push_str(&words),
        }
    }
    let mut content = json!({"msgtype": "m.text", "body": body, "m.mentions": {}});
    if !mentioned.is_empty() {
        content["m.mentions"]["user_ids"] = json!(mentioned);
    }
    if mentions_all {
        content["m.mentions"]["room"] = true.into();
    }
    if let Some(html) = markdown::html(&marked) {
        content["format"] = "org.matrix.custom.html".into();
        content["formatted_body"] = html.into();
    }
    content
}

/// A message of Matrix's own, such as a location, as it came or as a plugin made it.
fn own(part: &Part) -> Option<(String, &Map<String, Json>)> {
    let Part::Other { kind, data } = part else {
        return None;
    };
    let kind = format!("m.{}", kind.trim_start_matches("m."));
    data.contains_key("body").then_some((kind, data))
}

/// What a piece answers.
pub(super) fn answered(parts: &[Part]) -> Option<&str> {
    parts.iter().find_map(|part| match part {
        Part::Reply { to, .. } => Some(to.as_str()),
        _ => None,
    })
}

/// `content` answers a message; in the thread of that one, if it is in any.
pub(super) fn relate(content: &mut Json, to: &str, thread: Option<&str>) {
    let mut relation = json!({"m.in_reply_to": {"event_id": to}});
    if let Some(root) = thread {
        relation["rel_type"] = "m.thread".into();
        relation["event_id"] = root.into();
        relation["is_falling_back"] = false.into();
    }
    content["m.relates_to"] = relation;
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn texts(pieces: &[Vec<Part>]) -> Vec<String> {
        let words = |part: &Part| part.words().unwrap_or("*".into()).into_owned();
        let text = |piece: &Vec<Part>| piece.iter().map(words).collect();
        pieces.iter().map(text).collect()
    }

    fn reply() -> Part {
        Part::Reply {
            to: "$5".into(),
            text: None,
        }
    }

    #[test]
    fn media_go_by_themselves() {
        let image = || Part::Image {
            url: "data:".into(),
        };
        let parts = [reply(), Part::text("see"), image(), Part::text("done")];
        assert_eq!(
            texts(&pieces(&parts, 100)),
            ["[reply to $5]see", "*", "done"]
        );
        assert_eq!(texts(&pieces(&[reply(), image()], 100)), ["[reply to $5]*"]);
        assert!(pieces(&[reply(), Part::text(" ")], 100).is_empty());
    }

    #[test]
    fn who_is_mentioned_is_linked_and_told() {
        let mention = |id: &str, name: &str| Part::Mention {
            id: id.into(),
            name: name.into(),
        };
        let said = content(&[mention("@ann:x", "Ann"), Part::text("tea?")]);
        assert_eq!(said["body"], "Ann tea?");
        let link = "<p><a href=\"https://matrix.to/#/@ann:x\">Ann</a> tea?</p>";
        assert_eq!(said["formatted_body"], link);
        assert_eq!(said["m.mentions"], json!({"user_ids": ["@ann:x"]}));
        let all = content(&[mention("all", "")]);
        assert_eq!(
            (&all["body"], &all["m.mentions"]),
            (&json!("@room"), &json!({"room": true}))
        );
        assert_eq!(content(&[Part::text("tea")]).get("format"), None);
    }

    #[test]
    fn an_answer_stays_in_its_thread() {
        let mut said = content(&[reply(), Part::text("tea")]);
        relate(&mut said, "$5", None);
        assert_eq!(
            said["m.relates_to"],
            json!({"m.in_reply_to": {"event_id": "$5"}})
        );
        relate(&mut said, "$5", Some("$1"));
        assert_eq!(said["m.relates_to"]["rel_type"], "m.thread");
        assert_eq!(said["m.relates_to"]["event_id"], "$1");
    }

    #[test]
    fn an_event_holds_what_servers_take() {
        let long = "**茶**、".repeat(9_000);
        let cut = pieces(&[reply(), Part::text(long.clone())], 100_000);
        assert!(cut.len() > 1);
        assert!(cut.iter().all(|piece| size(piece) <= LARGEST));
        let said: String = texts(&cut).concat().replace("[reply to $5]", "");
        assert_eq!(said, long.trim_end());
    }

    proptest! {
        #[test]
        fn nothing_is_lost(words in proptest::collection::vec("[a-c。 \n]{0,60}", 0..6), longest in 50_usize..90) {
            let parts: Vec<Part> = words.iter().map(Part::text).collect();
            let cut = pieces(&parts, longest);
            let solid = |text: &str| text.split_whitespace().collect::<String>();
            prop_assert_eq!(solid(&texts(&cut).concat()), solid(&words.concat()));
            prop_assert!(cut.iter().all(|piece| fits(piece, longest)));
        }
    }
}
