//! A plugin's settings as one form, whatever its flavour: JSON Schema, with what a form should know of
//! a field at `x-ui`. Secrets go in and never out: in their place stands whether one is set.

mod astrbot;
mod checks;
mod pydantic;

use serde_json::{Map, Value as Json, json};

pub use checks::problems;

/// Where a field's hints for a form stand.
pub(crate) const HINTS: &str = "x-ui";
/// In the place of a secret.
const SECRET: &str = "$secret";
/// Deepest field that is described.
const DEPTH: usize = 8;

/// The form of the settings that a plugin of `flavour` described; `None` if it has none.
pub fn form(flavour: &str, described: &Json) -> Option<Json> {
    let described = described.as_object().filter(|it| !it.is_empty())?;
    let mut form = match flavour {
        "astrbot" => astrbot::object(described, DEPTH),
        _ => pydantic::field(described, described, DEPTH),
    };
    let has_fields = form["properties"]
        .as_object()
        .is_some_and(|it| !it.is_empty());
    mark_secrets(&mut form);
    has_fields.then_some(form)
}

/// The values with every secret taken out.
pub fn hidden(form: &Json, values: &Json) -> Json {
    if is_secret(form) {
        return match values {
            Json::Array(items) => items.iter().map(marker).collect(),
            other => marker(other),
        };
    }
    walk(form, values, hidden)
}

/// What was sent, with the secrets of `current` where a marker says that they stay.
pub fn restored(form: &Json, given: &Json, current: &Json) -> Json {
    if is_secret(form) {
        return match given {
            Json::Array(items) => {
                let items = items.iter().enumerate();
                items
                    .map(|(place, item)| kept(item, &current[place]))
                    .collect()
            }
            other => kept(other, current),
        };
    }
    match given {
        Json::Object(fields) => {
            let one = |(name, value): (&String, &Json)| {
                let restored = restored(part(form, name), value, &current[name.as_str()]);
                (name.clone(), restored)
            };
            fields.iter().map(one).collect()
        }
        Json::Array(items) => {
            let items = items.iter().enumerate();
            items
                .map(|(place, item)| restored(&form["items"], item, &current[place]))
                .collect()
        }
        other => other.clone(),
    }
}

fn walk(form: &Json, values: &Json, each: impl Fn(&Json, &Json) -> Json) -> Json {
    match values {
        Json::Object(fields) => {
            let one =
                |(name, value): (&String, &Json)| (name.clone(), each(part(form, name), value));
            fields.iter().map(one).collect()
        }
        Json::Array(items) => items
            .iter()
            .map(|item| each(&form["items"], item))
            .collect(),
        other => other.clone(),
    }
}

/// The form of one field of an object.
fn part<'a>(form: &'a Json, name: &str) -> &'a Json {
    match &form["properties"][name] {
        Json::Null => &form["additionalProperties"],
        found => found,
    }
}

fn is_secret(form: &Json) -> bool {
    form[HINTS]["secret"] == true
}

fn marker(value: &Json) -> Json {
    let is_set = !matches!(value, Json::Null) && value.as_str() != Some("");
    json!({ SECRET: is_set })
}

fn kept(given: &Json, current: &Json) -> Json {
    match given.get(SECRET) {
        Some(_) if current.is_null() => "".into(),
        Some(_) => current.clone(),
        None => given.clone(),
    }
}

/// A text whose name says that it is one is a secret, whatever its plugin says.
fn mark_secrets(form: &mut Json) {
    if let Some(fields) = form.get_mut("properties").and_then(Json::as_object_mut) {
        for (name, field) in fields {
            let texts = field["type"] == "string"
                || (field["type"] == "array" && field["items"]["type"] == "string");
            if texts && sounds_secret(name) && field.get("enum").is_none() {
                field[HINTS]["secret"] = true.into();
            }
            if is_secret(field)
                && let Some(field) = field.as_object_mut()
            {
                // What it is by default is nobody's business either.
                field.remove("default");
            }
            mark_secrets(field);
        }
    }
    if let Some(items) = form.get_mut("items").filter(|items| items.is_object()) {
        mark_secrets(items);
    }
}

const SECRETS: [&str; 11] = [
    "key", "keys", "apikey", "apikeys", "token", "tokens", "secret", "password", "passwd",
    "cookie", "cookies",
];

fn sounds_secret(name: &str) -> bool {
    let mut words = name
        .split(['_', '-', '.', ' '])
        .filter(|word| !word.is_empty());
    let last = words.next_back().unwrap_or_default();
    // As in `apiKey`.
    let tail = last
        .rfind(|c: char| c.is_uppercase())
        .and_then(|at| last.get(at..));
    let is_word = |word: &str| SECRETS.contains(&word.to_lowercase().as_str());
    is_word(last) || tail.is_some_and(is_word)
}

/// The hints that say something.
fn hints(pairs: Vec<(&str, Json)>) -> Map<String, Json> {
    let says = |value: &Json| !matches!(value, Json::Null | Json::Bool(false)) && *value != "";
    let pairs = pairs.into_iter().filter(|(_, value)| says(value));
    pairs
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_secrets_are_told_from_others() {
        for name in [
            "api_key",
            "API_KEY",
            "apiKey",
            "token",
            "bot-token",
            "db.password",
            "keys",
        ] {
            assert!(sounds_secret(name), "{name}");
        }
        for name in ["keyword", "max_tokens_count", "monkey", "", "key_length"] {
            assert!(!sounds_secret(name), "{name}");
        }
    }

    #[test]
    fn secrets_go_in_and_never_out() {
        let described = json!({
            "token": { "type": "string", "default": "preset" },
            "names": { "type": "list" },
            "api_keys": { "type": "list" },
            "mail": { "type": "object", "items": { "password": { "type": "string" } } },
        });
        let form = form("astrbot", &described).unwrap();
        assert_eq!(form["properties"]["token"].get("default"), None);
        let values = json!({
            "token": "t0p", "names": ["a"], "api_keys": ["k1", ""], "mail": { "password": "pw" },
        });
        let shown = hidden(&form, &values);
        assert_eq!(
            shown,
            json!({
                "token": { "$secret": true },
                "names": ["a"],
                "api_keys": [{ "$secret": true }, { "$secret": false }],
                "mail": { "password": { "$secret": true } },
            })
        );
        assert_eq!(restored(&form, &shown, &values), values);
        let given = json!({ "token": "", "api_keys": [{ "$secret": true }, "k2"] });
        let taken = restored(&form, &given, &values);
        assert_eq!(taken, json!({ "token": "", "api_keys": ["k1", "k2"] }));
    }

    #[test]
    fn without_fields_there_is_no_form() {
        assert_eq!(form("native", &Json::Null), None);
        assert_eq!(form("astrbot", &json!({})), None);
        assert_eq!(
            form("nekro", &json!({ "type": "object", "properties": {} })),
            None
        );
    }
}
