//! Messages as the items that a response was made from.

use callgate_contract::{JournalId, ModelMessage, Part};
use serde_json::{Value as Json, json};

use super::super::input;

/// What was asked in the turn, each with an id of its own.
pub(super) fn of(turn: JournalId, messages: &[ModelMessage]) -> Vec<Json> {
    let mut items: Vec<Json> = messages.iter().flat_map(written).collect();
    for (place, item) in items.iter_mut().enumerate() {
        let kind = match item["type"].as_str() {
            Some("function_call") => "fc",
            Some("function_call_output") => "fco",
            _ => "msg",
        };
        item["id"] = json!(format!("{kind}_{}_in{place}", turn.0.simple()));
        item["status"] = json!("completed");
    }
    items
}

fn written(message: &ModelMessage) -> Vec<Json> {
    let said = |role: &str, content: Vec<Json>| json!({"type": "message", "role": role, "content": content});
    match message {
        ModelMessage::System { text } => {
            vec![said("system", vec![part(&Part::text(text.as_str()))])]
        }
        ModelMessage::User { parts } => vec![said("user", parts.iter().map(part).collect())],
        ModelMessage::Assistant {
            text, tool_calls, ..
        } => {
            let words = json!({
                "type": "output_text", "text": text, "annotations": [], "logprobs": [],
            });
            let words = (!text.is_empty()).then(|| said("assistant", vec![words]));
            let calls = tool_calls.iter().map(|call| {
                json!({
                    "type": "function_call", "call_id": call.id, "name": call.name,
                    "arguments": input::arguments(call),
                })
            });
            words.into_iter().chain(calls).collect()
        }
        ModelMessage::Tool {
            tool_call_id,
            parts,
        } => {
            let output = match parts.as_slice() {
                [Part::Text { text }] => json!(text),
                parts => parts.iter().map(part).collect(),
            };
            let kind = "function_call_output";
            vec![json!({"type": kind, "call_id": tool_call_id, "output": output})]
        }
    }
}

fn part(part: &Part) -> Json {
    match part {
        Part::Image { url } => json!({"type": "input_image", "image_url": url, "detail": "auto"}),
        Part::Audio { url } => {
            let (kind, data) = url.split_once(";base64,").unwrap_or_default();
            let format = kind.rsplit('/').next();
            json!({"type": "input_audio", "input_audio": {"data": data, "format": format}})
        }
        other => json!({"type": "input_text", "text": other.words().unwrap_or_default()}),
    }
}
