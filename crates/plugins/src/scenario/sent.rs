//! What was said, in the words of a scenario: messages are lists of parts, each text or an object named
//! like AstrBot's component. Of such an object as many fields are shown as the expectation names; a file
//! that it names by path is the one with the same bytes.

use std::{collections::VecDeque, fs, path::Path};

use base64::{Engine, prelude::BASE64_STANDARD};
use callgate_contract::Part;
use serde_json::{Map, Value as Json, json};

/// What went out to the chat of a step, as comparable with `expected` as it can be. Messages to other chats,
/// which are among `all` (where those to this one are `None`), are shown if they were expected. `root` is the
/// plugin's working directory.
pub fn sent(
    expected: &Json,
    here: Vec<Vec<Part>>,
    all: Vec<Option<Vec<Part>>>,
    root: &Path,
) -> Json {
    let elsewhere = all.iter().flatten().count();
    let wanted = expected.as_array().map_or(0, Vec::len);
    let messages = if elsewhere > 0 && wanted == here.len() + elsewhere {
        in_order(here, all)
    } else {
        here
    };
    let messages = messages.iter().enumerate();
    let messages = messages.map(|(place, parts)| message(&expected[place], parts, root));
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

fn message(expected: &Json, parts: &[Part], root: &Path) -> Json {
    let parts = parts.iter().enumerate();
    let parts = parts.map(|(place, part)| shown(&expected[place], part, root));
    parts.collect()
}

/// Compat(astrbot): the names of its message components and their fields.
fn shown(expected: &Json, part: &Part, root: &Path) -> Json {
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
        Part::Video { url } => ("Video", 1, vec![("file", url), ("url", url), ("path", url)]),
        Part::Face { id, .. } => ("Face", 1, vec![("id", id)]),
        Part::Forward { .. } | Part::Other { .. } => return json!(part.words()),
    };
    let wanted = expected[kind].as_object();
    let fields = fields.into_iter().enumerate();
    let told: Map<String, Json> = fields
        .filter(|(place, (name, _))| match wanted {
            Some(wanted) => wanted.contains_key(*name),
            None => *place < usual,
        })
        .map(|(_, (name, value))| (name.to_owned(), like(&expected[kind][name], value, root)))
        .collect();
    json!({ kind: told })
}

/// The same value may be spelled in several ways: an id as a number, a picture as a file of the plugin's
/// or as what is in it.
fn like(expected: &Json, value: &str, root: &Path) -> Json {
    let inline = value
        .starts_with("data:")
        .then(|| value.split_once(";base64,"));
    match (expected, inline.flatten()) {
        (Json::Number(_), _) => value.parse::<i64>().map_or(json!(value), Json::from),
        (Json::String(wanted), Some((_, body))) if wanted.starts_with("base64://") => {
            json!(format!("base64://{body}"))
        }
        (Json::String(wanted), Some((_, body))) if holds(wanted, body, root) => json!(wanted),
        _ => json!(value),
    }
}

/// Is `body` what the file holds? A path of the system where a scenario was recorded means the same place in
/// ours, from the folder `data` on.
fn holds(wanted: &str, body: &str, root: &Path) -> bool {
    let path = wanted.strip_prefix("file:").unwrap_or(wanted);
    let path = path.strip_prefix("//").unwrap_or(path);
    let below = path.match_indices("/data/");
    let below = below.filter_map(|(place, _)| path.get(place + 1..));
    let mut places = below.chain([path]).map(|path| root.join(path));
    places.any(|place| fs::read(place).is_ok_and(|bytes| BASE64_STANDARD.encode(bytes) == body))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(expected: &Json, here: Vec<Vec<Part>>, all: Vec<Option<Vec<Part>>>) -> Json {
        sent(expected, here, all, Path::new("/nowhere"))
    }

    fn check(expected: Json, part: Part) {
        assert_eq!(told(&expected, vec![vec![part]], vec![]), expected);
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
        check(json!([[{"At": {"qq": 7, "name": "Alice"}}]]), alice());
        check(json!([[{"At": {"qq": "7"}}]]), alice());
        let nothing = told(&Json::Null, vec![vec![alice()]], vec![]);
        assert_eq!(nothing, json!([[{"At": {"qq": "7"}}]]));
    }

    #[test]
    fn a_picture_is_the_file_that_holds_it() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("data/plugins/painter");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("a.png"), [0]).unwrap();
        fs::write(folder.join("b.png"), [1]).unwrap();
        let url = "data:image/png;base64,AA==";
        let is_same = |path: &str| {
            let expected = json!([[{"Image": {"file": path}}]]);
            let picture = Part::Image { url: url.into() };
            sent(&expected, vec![vec![picture]], vec![], root.path()) == expected
        };
        let here = folder.join("a.png").display().to_string();
        for same in [
            "file:///home/them/data/bot/data/plugins/painter/a.png",
            "/home/them/data/plugins/painter/a.png",
            "data/plugins/painter/a.png",
            &here,
            &format!("file://{here}"),
        ] {
            assert!(is_same(same), "{same}");
        }
        for other in ["/home/them/data/plugins/painter/b.png", "file:///gone.png"] {
            assert!(!is_same(other), "{other}");
        }
    }

    #[test]
    fn messages_to_other_chats_count_where_they_are_expected() {
        let said = |text: &str| vec![Part::text(text)];
        let here = || vec![said("a"), said("c"), said("d")];
        let all = || vec![None, Some(said("b")), None];
        let both = json!([["a"], ["b"], ["c"], ["d"]]);
        assert_eq!(told(&both, here(), all()), both);
        let alone = json!([["a"], ["c"], ["d"]]);
        assert_eq!(told(&alone, here(), all()), alone);
    }
}
