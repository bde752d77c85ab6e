//! [`Document`]: `docs/openapi.json`, asked whether an answer is as it says. An object whose schema
//! names its properties has no others, unless the schema says so.

use std::{collections::BTreeSet, path::Path};

use serde_json::{Value as Json, json};

pub struct Document(Json);

/// What an answer may be, by its media type.
pub enum Described {
    /// The route never says this.
    Unknown,
    /// Nothing comes.
    Nothing,
    /// Bytes of a file, whose format is not the document's business.
    File,
    /// JSON, or events whose data is JSON; `None` where the document does not say which.
    Json(Option<Json>),
}

/// How a file is named in the document.
const FILES: [&str; 2] = ["application/octet-stream", "application/x-ndjson"];

/// Words that put a schema together from several.
const PARTS: [&str; 3] = ["allOf", "anyOf", "oneOf"];

/// What methods, plugins and models make up: any JSON.
const OF_OTHERS: [&str; 9] = [
    "arguments",
    "value",
    "parameters",
    "schema",
    "message",
    // Of a provider, for which it is kept or passed on as it is.
    "extra",
    "response_format",
    // A method's arguments or value, where a replay came to another.
    "expected",
    "found",
];

impl Document {
    pub fn read() -> Self {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/openapi.json");
        let mut document: Json = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
        close(&mut document, false);
        Document(document)
    }

    /// All there are, as `GET /api/sessions`.
    pub fn operations(&self) -> BTreeSet<String> {
        let paths = self.0["paths"].as_object().unwrap().iter();
        let operations = paths.flat_map(|(path, verbs)| {
            let verbs = verbs.as_object().unwrap().keys();
            verbs.map(move |verb| format!("{} {path}", verb.to_uppercase()))
        });
        operations.collect()
    }

    pub fn answer(&self, operation: &str, status: u16, media: &str) -> Described {
        let (verb, path) = operation.split_once(' ').unwrap();
        let responses = &self.0["paths"][path][verb.to_lowercase()]["responses"];
        let response = &responses[status.to_string()];
        let response = match response {
            Json::Null if status >= 400 => &responses["default"],
            response => response,
        };
        if response.is_null() {
            return Described::Unknown;
        }
        let Some(content) = response.get("content") else {
            return match status {
                204 => Described::Nothing,
                _ => Described::Json(None),
            };
        };
        let schema = match content.get(media) {
            None => return Described::Unknown,
            Some(_) if FILES.contains(&media) => return Described::File,
            Some(content) => content.get("schema"),
        };
        Described::Json(schema.filter(|schema| !self.is_trivial(schema)).cloned())
    }

    /// Places within where anything may stand, though it is ours to say what stands there.
    pub fn untyped(&self, schema: &Json) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        self.look_for_untyped(schema, &mut Vec::new(), "", &mut found);
        found
    }

    fn look_for_untyped<'a>(
        &'a self,
        schema: &'a Json,
        within: &mut Vec<&'a str>,
        place: &str,
        found: &mut BTreeSet<String>,
    ) {
        if let Some(name) = schema["$ref"].as_str() {
            // One that holds itself has been looked at.
            if !within.contains(&name) {
                within.push(name);
                self.look_for_untyped(self.referred(name), within, place, found);
                within.pop();
            }
            return;
        }
        let properties = schema["properties"].as_object().into_iter().flatten();
        let inner = properties.map(|(name, inner)| (name.as_str(), inner));
        let items = schema.get("items").map(|items| ("*", items));
        for (name, inner) in inner.chain(items) {
            let place = format!("{place}/{name}");
            if self.is_trivial(inner) {
                if !OF_OTHERS.contains(&name) {
                    found.insert(format!("{place}: anything"));
                }
            } else {
                self.look_for_untyped(inner, within, &place, found);
            }
        }
        for word in PARTS {
            for part in schema[word].as_array().into_iter().flatten() {
                self.look_for_untyped(part, within, place, found);
            }
        }
    }

    fn referred(&self, name: &str) -> &Json {
        self.0.pointer(name.strip_prefix('#').unwrap()).unwrap()
    }

    /// Lets everything pass.
    fn is_trivial(&self, schema: &Json) -> bool {
        if let Some(name) = schema["$ref"].as_str() {
            return self.is_trivial(self.referred(name));
        }
        match schema {
            Json::Bool(all) => *all,
            Json::Object(words) => words
                .keys()
                .all(|word| ["title", "description", "default"].contains(&word.as_str())),
            _ => true,
        }
    }

    /// Where `value` is not as `schema` says, each place once: positions in lists are left out.
    pub fn violations(&self, schema: &Json, value: &Json) -> BTreeSet<String> {
        let whole = json!({ "allOf": [schema], "components": self.0["components"] });
        let validator = jsonschema::validator_for(&whole).unwrap();
        let errors = validator.iter_errors(value);
        let told = errors.map(|error| {
            let place = error.instance_path().to_string();
            let place = place.split('/').map(|step| match step.parse::<usize>() {
                Ok(_) => "*",
                Err(_) => step,
            });
            let place: Vec<&str> = place.collect();
            format!("{}: {}", place.join("/"), error.masked())
        });
        told.collect()
    }
}

/// Adds to each schema of an object that nothing else may be in it; to one that is put together from
/// several, only as a whole.
fn close(schema: &mut Json, is_part: bool) {
    match schema {
        Json::Array(items) => items.iter_mut().for_each(|item| close(item, is_part)),
        Json::Object(words) => {
            let of_type = |it: &Json| {
                it == "object"
                    || it
                        .as_array()
                        .is_some_and(|it| it.contains(&json!("object")))
            };
            let is_object = words.get("type").is_some_and(of_type);
            let is_whole = words.keys().any(|word| PARTS.contains(&word.as_str()));
            for (word, inner) in words.iter_mut() {
                let of_this = PARTS.contains(&word.as_str());
                close(inner, of_this && (is_part || is_object));
            }
            if is_object && !is_part && !words.contains_key("additionalProperties") {
                let word = if is_whole {
                    "unevaluatedProperties"
                } else {
                    "additionalProperties"
                };
                words.insert(word.to_owned(), json!(false));
            }
        }
        _ => {}
    }
}
