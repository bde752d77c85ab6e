//! [`Wire`]: the protocols of providers, and all that differs between them but requests and answers
//! themselves: where requests go, how a key is shown, which one a server is likely to speak.

use std::fmt;

use callgate_contract::{Accepts, ModelRequest};
use reqwest::Url;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

use crate::{anthropic, decoder::AnswerReader, gemini, limit, ollama, openai, responses};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Wire {
    /// OpenAI's chat completions, which most servers speak.
    #[default]
    Openai,
    /// OpenAI's responses.
    Responses,
    /// Anthropic's messages.
    Anthropic,
    /// Google's generateContent.
    Gemini,
    /// Ollama's own chat.
    Ollama,
}

/// What differs between servers of one wire.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Dialect {
    /// The model's name on the wire.
    pub model: String,
    /// OpenAI itself has renamed `max_tokens`; its reasoning models refuse the old name, and other
    /// servers do not know the new one.
    pub max_completion_tokens: bool,
    /// Give the model its thoughts back: some servers demand it between tool calls, most refuse it.
    pub return_reasoning: bool,
}

impl fmt::Display for Wire {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Wire::Openai => "openai",
            Wire::Responses => "responses",
            Wire::Anthropic => "anthropic",
            Wire::Gemini => "gemini",
            Wire::Ollama => "ollama",
        })
    }
}

impl Wire {
    pub const ALL: [Wire; 5] = [
        Wire::Openai,
        Wire::Responses,
        Wire::Anthropic,
        Wire::Gemini,
        Wire::Ollama,
    ];

    /// What a server at `base_url` most likely speaks.
    pub fn guess(base_url: &str, model: &str) -> Wire {
        let Ok(url) = Url::parse(base_url) else {
            return Wire::default();
        };
        let path = url.path().trim_end_matches('/');
        match url.host_str().unwrap_or_default() {
            "api.anthropic.com" => Wire::Anthropic,
            // DeepSeek, Moonshot, Zhipu and others offer this wire beside OpenAI's.
            _ if path.ends_with("/anthropic") || path.ends_with("/v1/messages") => Wire::Anthropic,
            "generativelanguage.googleapis.com" if !path.ends_with("/openai") => Wire::Gemini,
            // Their thoughts are lost between tool calls on the older wire.
            "api.openai.com" if responses::reasons(model) => Wire::Responses,
            _ if path.ends_with("/responses") => Wire::Responses,
            _ if path.ends_with("/api/chat") => Wire::Ollama,
            _ if url.port() == Some(11434) && !path.ends_with("/v1") => Wire::Ollama,
            _ => Wire::Openai,
        }
    }

    /// The request's body. Pure: the same request gives the same body.
    pub fn body(self, dialect: &Dialect, request: &ModelRequest) -> Json {
        let mut body = match self {
            Wire::Openai => openai::body(dialect, request),
            Wire::Responses => responses::body(dialect, request),
            Wire::Anthropic => anthropic::body(dialect, request),
            Wire::Gemini => gemini::body(dialect, request),
            Wire::Ollama => ollama::body(dialect, request),
        };
        if let Some(most) = request.output_limit {
            limit::apply(self, dialect, &mut body, most);
        }
        body
    }

    /// Where one wire means one family of models, they all take the same.
    pub(crate) fn usually_accepts(self) -> Accepts {
        let image = matches!(self, Wire::Responses | Wire::Anthropic | Wire::Gemini);
        Accepts {
            image,
            audio: self == Wire::Gemini,
        }
    }

    pub(crate) fn reader(self, model: &str) -> Box<dyn AnswerReader> {
        match self {
            Wire::Openai => Box::new(openai::ChatReader::default()),
            Wire::Responses => Box::new(responses::Responses::default()),
            Wire::Anthropic => Box::new(anthropic::Messages::default()),
            Wire::Gemini => Box::new(gemini::Contents::new(model)),
            Wire::Ollama => Box::new(ollama::LineReader),
        }
    }

    /// Where requests for answers go. A query stays at the end: Azure wants its version there.
    pub(crate) fn answers_at(self, base: &Url, model: &str) -> Url {
        match self {
            Wire::Openai => at(base, &["/chat/completions"], "/chat/completions"),
            Wire::Responses => at(base, &["/responses"], "/responses"),
            Wire::Anthropic => at(base, &["/messages", "/v1"], "/v1/messages"),
            Wire::Gemini => {
                let method = format!("/models/{model}:streamGenerateContent");
                let mut url = at(&versioned(base), &[], &method);
                url.query_pairs_mut().append_pair("alt", "sse");
                url
            }
            Wire::Ollama => at(base, &["/chat", "/api", "/v1"], "/api/chat"),
        }
    }

    /// Where requests for embeddings go, on wires that have them.
    pub(crate) fn embeddings_at(self, base: &Url, model: &str) -> Option<Url> {
        match self {
            Wire::Openai => Some(at(base, &["/chat/completions"], "/embeddings")),
            Wire::Responses => Some(at(base, &["/responses"], "/embeddings")),
            Wire::Anthropic => None,
            Wire::Gemini => {
                let method = format!("/models/{model}:batchEmbedContents");
                Some(at(&versioned(base), &[], &method))
            }
            Wire::Ollama => Some(at(base, &["/chat", "/api", "/v1"], "/api/embed")),
        }
    }

    /// Where the provider lists its models, on wires whose servers want a key.
    pub(crate) fn models_at(self, base: &Url) -> Option<Url> {
        match self {
            Wire::Openai => Some(at(base, &["/chat/completions"], "/models")),
            Wire::Responses => Some(at(base, &["/responses"], "/models")),
            Wire::Anthropic => Some(at(base, &["/messages", "/v1"], "/v1/models")),
            Wire::Gemini => Some(at(&versioned(base), &[], "/models")),
            Wire::Ollama => None,
        }
    }

    /// The header that shows the key, and what stands before the key in it.
    pub(crate) fn key_header(self) -> (&'static str, &'static str) {
        match self {
            Wire::Anthropic => ("x-api-key", ""),
            Wire::Gemini => ("x-goog-api-key", ""),
            Wire::Openai | Wire::Responses | Wire::Ollama => ("authorization", "Bearer "),
        }
    }

    /// What every request carries.
    pub(crate) fn headers(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Wire::Anthropic => &[("anthropic-version", "2023-06-01")],
            _ => &[],
        }
    }
}

/// `base` without the `endings` it has, and then `path`.
fn at(base: &Url, endings: &[&str], path: &str) -> Url {
    let mut url = base.clone();
    let mut kept = base.path().trim_end_matches('/');
    for ending in endings {
        kept = kept.strip_suffix(ending).unwrap_or(kept);
    }
    url.set_path(&format!("{kept}{path}"));
    url
}

/// Google's address is often given without its version.
fn versioned(base: &Url) -> Url {
    match base.path() {
        "" | "/" => at(base, &[], "/v1beta"),
        _ => base.clone(),
    }
}

/// Puts what was configured into the body: see [`callgate_contract::ModelOptions::extra`].
pub(crate) fn overlay(body: &mut Map<String, Json>, extra: &Map<String, Json>) {
    for (name, value) in extra {
        match (body.get_mut(name), value) {
            (_, Json::Null) => drop(body.shift_remove(name)),
            (Some(Json::Object(there)), Json::Object(more)) => overlay(there, more),
            (_, value) => drop(body.insert(name.clone(), value.clone())),
        }
    }
}

/// Only the fields that are set.
pub(crate) fn insert<const N: usize>(
    body: &mut Map<String, Json>,
    fields: [(&str, Option<Json>); N],
) {
    let set = fields
        .into_iter()
        .filter_map(|(name, value)| Some((name.to_owned(), value?)));
    body.extend(set);
}

/// Parameters as wires want them that insist on an object.
pub(crate) fn schema(parameters: &Json) -> Json {
    let mut schema = parameters.as_object().cloned().unwrap_or_default();
    schema.entry("type").or_insert_with(|| Json::from("object"));
    if !schema.contains_key("properties") {
        schema.insert("properties".to_owned(), Json::Object(Map::new()));
    }
    Json::Object(schema)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_wire_is_told_by_the_address() {
        for (base_url, model, expect) in [
            ("https://api.openai.com/v1", "gpt-4o", Wire::Openai),
            ("https://api.openai.com/v1", "gpt-5-mini", Wire::Responses),
            ("https://api.openai.com/v1", "o3", Wire::Responses),
            (
                "https://api.openai.com/v1",
                "text-embedding-3-small",
                Wire::Openai,
            ),
            (
                "https://api.anthropic.com",
                "claude-haiku-4-5",
                Wire::Anthropic,
            ),
            ("https://api.deepseek.com/anthropic", "x", Wire::Anthropic),
            ("https://api.deepseek.com/v1", "x", Wire::Openai),
            (
                "https://generativelanguage.googleapis.com/v1beta",
                "x",
                Wire::Gemini,
            ),
            (
                "https://generativelanguage.googleapis.com/v1beta/openai/",
                "x",
                Wire::Openai,
            ),
            ("http://127.0.0.1:11434", "qwen3", Wire::Ollama),
            ("http://127.0.0.1:11434/v1", "qwen3", Wire::Openai),
            ("http://127.0.0.1:8080/v1", "gpt-5", Wire::Openai),
            ("nonsense", "x", Wire::Openai),
        ] {
            assert_eq!(Wire::guess(base_url, model), expect, "{base_url} {model}");
        }
    }

    #[test]
    fn requests_go_where_the_wire_wants_them() {
        for (wire, base, answers, embeddings) in [
            (
                Wire::Openai,
                "https://h/v1/chat/completions?v=2",
                "https://h/v1/chat/completions?v=2",
                Some("https://h/v1/embeddings?v=2"),
            ),
            (
                Wire::Responses,
                "https://h/v1/",
                "https://h/v1/responses",
                Some("https://h/v1/embeddings"),
            ),
            (Wire::Anthropic, "https://h", "https://h/v1/messages", None),
            (
                Wire::Anthropic,
                "https://h/v1",
                "https://h/v1/messages",
                None,
            ),
            (
                Wire::Anthropic,
                "https://h/a/v1/messages",
                "https://h/a/v1/messages",
                None,
            ),
            (
                Wire::Gemini,
                "https://h",
                "https://h/v1beta/models/m:streamGenerateContent?alt=sse",
                Some("https://h/v1beta/models/m:batchEmbedContents"),
            ),
            (
                Wire::Ollama,
                "http://h:1/v1",
                "http://h:1/api/chat",
                Some("http://h:1/api/embed"),
            ),
        ] {
            let base = Url::parse(base).unwrap();
            assert_eq!(wire.answers_at(&base, "m").as_str(), answers);
            let found = wire.embeddings_at(&base, "m");
            assert_eq!(found.as_ref().map(Url::as_str), embeddings);
        }
    }

    #[test]
    fn what_is_configured_replaces_removes_and_joins() {
        let object = |json: Json| json.as_object().cloned().unwrap();
        let mut body = object(json!({"a": 1, "b": {"c": 1, "d": 2}, "e": 3}));
        let extra = object(json!({"a": null, "b": {"c": 9, "d": null}, "e": {"f": 4}}));
        overlay(&mut body, &extra);
        assert_eq!(Json::Object(body), json!({"b": {"c": 9}, "e": {"f": 4}}));
    }
}
