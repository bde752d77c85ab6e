//! What differs from run to run and machine to machine is replaced by what it is; the rest is told as
//! it is, with keys in order of the alphabet: nobody depends on another.

use std::{path::Path, sync::LazyLock};

use regex::Regex;
use serde_json::{Map, Value as Json, json};

static PATTERNS: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
    let patterns = [
        (r"callgate_[0-9a-f]{64}", "<key>"),
        (r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "<uuid>"),
        (r"\b[0-9a-f]{64}\b", "<digest>"),
        (r"\b[0-9a-f]{12}\b", "<id>"),
        (
            r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)?",
            "<time>",
        ),
        (r"\d{4}-\d\d-\d\d", "<day>"),
        (r"/tmp/\.tmp\w+", "<folder>"),
        (r"127\.0\.0\.1:\d{4,5}", "127.0.0.1:<port>"),
        (r"\b\d+ ms\b", "<number> ms"),
    ];
    let patterns = patterns.map(|(pattern, name)| (Regex::new(pattern).unwrap(), name));
    patterns.into()
});

/// Whose numbers are measured, not decided.
fn is_measured(key: &str) -> bool {
    ["_ms", "micros", "millis", "bytes", "pid"]
        .iter()
        .any(|end| key.ends_with(end))
}

pub struct Redact<'a> {
    pub home: &'a Path,
}

impl Redact<'_> {
    pub fn text(&self, text: &str) -> String {
        // How Python draws one depends on its version.
        if text.starts_with("Traceback (most recent call last):") {
            let last = text.lines().last().unwrap();
            return format!("<traceback> {last}");
        }
        let home = self.home.to_str().unwrap();
        let tree = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let tree = tree.canonicalize().unwrap();
        let text = text.replace(home, "HOME");
        let text = text.replace(env!("CARGO_PKG_VERSION"), "<version>");
        let mut text = text.replace(tree.to_str().unwrap(), "TREE");
        for (pattern, name) in &*PATTERNS {
            text = pattern.replace_all(&text, *name).into_owned();
        }
        text
    }

    pub fn json(&self, value: &Json) -> Json {
        match value {
            Json::String(text) => json!(self.text(text)),
            Json::Number(number) if number.as_f64() > Some(1e9) => json!("<moment>"),
            Json::Array(items) => items.iter().map(|it| self.json(it)).collect(),
            Json::Object(fields) => {
                let mut fields: Vec<_> = fields.iter().collect();
                fields.sort_by_key(|(key, _)| *key);
                let fields = fields.into_iter().map(|(key, value)| match value {
                    Json::Number(_) if is_measured(key) => (key.clone(), json!("<number>")),
                    // Of a connection that is being tried, it may or may not be there yet.
                    _ if key.starts_with("last_error") => (key.clone(), json!("<maybe>")),
                    // It looks like a day and is a name.
                    Json::String(_) if key == "protocolVersion" => (key.clone(), value.clone()),
                    value => (self.text(key), self.json(value)),
                });
                fields.collect::<Map<_, _>>().into()
            }
            other => other.clone(),
        }
    }

    pub fn pretty(&self, value: &Json) -> String {
        serde_json::to_string_pretty(&self.json(value)).unwrap()
    }
}

/// What names a thing, and is told in an outline too.
const NAMING: [&str; 8] = [
    "name",
    "kind",
    "origin",
    "signature",
    "type",
    "role",
    "mode",
    "error",
];

/// Which fields there are, without what they say; items of a list that look alike are told once.
pub fn outline(value: &Json) -> Json {
    match value {
        Json::Null => Json::Null,
        Json::Array(items) => {
            let mut outlines: Vec<Json> = items.iter().map(outline).collect();
            outlines.sort_by_key(Json::to_string);
            outlines.dedup();
            outlines.into()
        }
        Json::Object(fields) => {
            let fields = fields.iter().map(|(key, value)| match value {
                Json::Object(_) if key == "parameters" => (key.clone(), json!("<schema>")),
                Json::Null if key == "hint" => (key.clone(), json!("<text>")),
                Json::String(_) if NAMING.contains(&key.as_str()) => (key.clone(), value.clone()),
                value => (key.clone(), outline(value)),
            });
            fields.collect::<Map<_, _>>().into()
        }
        Json::String(_) => json!("<text>"),
        Json::Number(_) => json!("<number>"),
        Json::Bool(_) => json!("<flag>"),
    }
}
