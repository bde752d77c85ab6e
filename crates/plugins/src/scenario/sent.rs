//! What was said, in the words of a scenario: messages are lists of parts, each text or an object named
//! like AstrBot's component. Of such an object as many fields are shown as the expectation names.

use std::collections::VecDeque;

use callgate_contract::Part;
use serde_json::{Map, Value as Json, json};

/// What went out to the chat of a step, as comparable with `expected` as it can be. Messages to other chats,
/// which are among `all` (where those to this one are `None`), are shown if they were expected.
pub fn sent(expected: &Json, here: Vec<Vec<Part>>, all: Vec<Option<Vec<Part>>>) -> Json {
    let elsewhere = all.iter().flatten().count();
    let wanted = expected.as_array().map_or(0, Vec::len);
    let messages = if elsewhere > 0 && wanted == here.len() + elsewhere {
        in_order(here, all)
    } else {
        here
    };
    let messages = messages.iter().enumerate();
    let messages = messages.map(|(place, parts)| message(&expected[place], parts));
    messages.collect()
}

/// A plugin's own messages are in both; what others said comes last.
fn in_order(here: Vec<Vec<Part>>, all: Vec<Option<Vec<Part>>>) -> Vec<Vec<Part>> {
    let mut here = VecDeque::from(here);
    let all = all.into_iter();
    let mut messages: Vec<Vec<Part>> = all
        .filter_map(|elsewhere| elsewhere.or_else(|| here.pop_front()))
        .collect();
    messages.extend(here);
    messages
}

fn message(expected: &Json, parts: &[Part]) -> Json {
    let parts = parts.iter().enumerate();
    let parts = parts.map(|(place, part)| shown(&expected[place], part));
    parts.collect()
}

/// Compat(astrbot): the names of its message components and their fields.
fn shown(expected: &Json, part: &Part) -> Json {
    let (kind, usual, fields) = match part {
        Part::Text { text } => return json!(text),
        Part::Image { url } => ("Image", 1, vec![("file", url), ("url", url), ("path", url)]),
        Part::Audio { url } => (
            "Record",
            1,
            vec![("file", url), ("url", url), ("path", url)],
        ),
        Part::File { url, .. } if expected["Video"].is_object() => {
            ("Video", 1, vec![("file", url), ("url", url), ("path", url)])
        }
        Part::File { name, url } => {
            let fields = vec![("name", name), ("file", url), ("file_", url), ("url", url)];
            ("File", 2, fields)
        }
        Part::Mention { id, name } => ("At", 1, vec![("qq", id), ("name", name)]),
        Part::Reply { to, .. } => ("Reply", 1, vec![("id", to)]),
    };
    let wanted = expected[kind].as_object();
    let fields = fields.into_iter().enumerate();
    let told: Map<String, Json> = fields
        .filter(|(place, (name, _))| match wanted {
            Some(wanted) => wanted.contains_key(*name),
            None => *place < usual,
        })
        .map(|(_, (name, value))| (name.to_owned(), like(&expected[kind][name], value)))
        .collect();
    json!({ kind: told })
}

/// The same value may be spelled in several ways: an id as a number, a picture as a file of the plugin's
/// or as what is in it.
fn like(expected: &Json, value: &str) -> Json {
    let inline = value
        .starts_with("data:")
        .then(|| value.split_once(";base64,"));
    match (expected, inline.flatten()) {
        (Json::Number(_), _) => value.parse::<i64>().map_or(json!(value), Json::from),
        (Json::String(wanted), Some((_, body))) if wanted.starts_with("base64://") => {
            json!(format!("base64://{body}"))
        }
        (Json::String(wanted), Some(_))
            if wanted.starts_with("file:") || wanted.starts_with('/') =>
        {
            json!(wanted)
        }
        _ => json!(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(expected: Json, part: Part) {
        assert_eq!(sent(&expected, vec![vec![part]], vec![]), expected);
    }

    #[test]
    fn parts_are_told_as_they_are_expected() {
        let picture = || Part::Image {
            url: "data:image/png;base64,AA==".into(),
        };
        let alice = || Part::Mention {
            id: "7".into(),
            name: "Alice".into(),
        };
        check(json!([["hi"]]), Part::text("hi"));
        check(json!([[{"Image": {"file": "base64://AA=="}}]]), picture());
        check(
            json!([[{"Image": {"file": "file:///tmp/x.png"}}]]),
            picture(),
        );
        check(json!([[{"At": {"qq": 7, "name": "Alice"}}]]), alice());
        check(json!([[{"At": {"qq": "7"}}]]), alice());
        let nothing = sent(&Json::Null, vec![vec![alice()]], vec![]);
        assert_eq!(nothing, json!([[{"At": {"qq": "7"}}]]));
    }

    #[test]
    fn messages_to_other_chats_count_where_they_are_expected() {
        let said = |text: &str| vec![Part::text(text)];
        let here = || vec![said("a"), said("c"), said("d")];
        let all = || vec![None, Some(said("b")), None];
        let both = json!([["a"], ["b"], ["c"], ["d"]]);
        assert_eq!(sent(&both, here(), all()), both);
        let alone = json!([["a"], ["c"], ["d"]]);
        assert_eq!(sent(&alone, here(), all()), alone);
    }
}
