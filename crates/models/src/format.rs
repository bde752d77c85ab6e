//! What an answer must look like: OpenAI's `response_format`, and what other wires make of it.

use serde_json::{Value as Json, json};

/// The schema that the answer must fit, where there is one.
pub(crate) fn schema(format: Option<&Json>) -> Option<&Json> {
    format?.get("json_schema")?.get("schema")
}

/// Some JSON, whether a schema says which or not.
pub(crate) fn is_json(format: Option<&Json>) -> bool {
    let kind = format.and_then(|format| format.get("type"));
    matches!(
        kind.and_then(Json::as_str),
        Some("json_object" | "json_schema")
    )
}

/// The same without its inner object, as the newer of OpenAI's wires has it.
pub(crate) fn flat(format: &Json) -> Json {
    let mut flat = json!({"type": format.get("type")});
    let inner = format.get("json_schema").and_then(Json::as_object);
    for (name, value) in inner.into_iter().flatten() {
        flat[name] = value.clone();
    }
    flat
}
