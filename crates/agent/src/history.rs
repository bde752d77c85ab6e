//! Messages of a conversation as they are stored: OpenAI's options, which plugins and people know.
//! What cannot be read back is left out, never guessed.

use callgate_contract::{CallArguments, ModelMessage, Part, ToolCall};
use serde_json::{Map, Value as Json, json};

pub(crate) fn to_json(message: &ModelMessage) -> Json {
    match message {
        ModelMessage::System { text } => json!({"role": "system", "content": text}),
        ModelMessage::User { parts } => json!({"role": "user", "content": content(parts)}),
        ModelMessage::Assistant {
            text, tool_calls, ..
        } => {
            let mut object = Map::new();
            object.insert("role".into(), "assistant".into());
            object.insert("content".into(), text.clone().into());
            if !tool_calls.is_empty() {
                let calls = tool_calls.iter().map(call_to_json).collect();
                object.insert("tool_calls".into(), Json::Array(calls));
            }
            Json::Object(object)
        }
        ModelMessage::Tool {
            tool_call_id,
            parts,
        } => json!({"role": "tool", "tool_call_id": tool_call_id, "content": content(parts)}),
    }
}

/// Compat(astrbot): the words of an assistant are a list of parts, and none are null.
pub(crate) fn to_plugins_json(message: &ModelMessage) -> Json {
    let mut object = to_json(message);
    if let ModelMessage::Assistant { text, .. } = message {
        object["content"] = if text.is_empty() {
            Json::Null
        } else {
            json!([{"type": "text", "text": text}])
        };
    }
    object
}

pub(crate) fn from_json(message: &Json) -> Option<ModelMessage> {
    let parts = || parts_of(&message["content"]);
    match message["role"].as_str()? {
        "system" | "developer" => Some(ModelMessage::system(text_of(&parts()))),
        "user" => Some(ModelMessage::User { parts: parts() }),
        "assistant" => {
            let calls = message["tool_calls"].as_array();
            let calls = calls.into_iter().flatten().filter_map(call_from_json);
            Some(ModelMessage::Assistant {
                text: text_of(&parts()),
                reasoning: String::new(),
                tool_calls: calls.collect(),
                media: Vec::new(),
                extra: None,
            })
        }
        "tool" => Some(ModelMessage::Tool {
            tool_call_id: message["tool_call_id"].as_str()?.to_owned(),
            parts: parts(),
        }),
        _ => None,
    }
}

/// The text parts, one after another.
pub(crate) fn text_of(parts: &[Part]) -> String {
    let texts = parts.iter().filter_map(|part| match part {
        Part::Text { text } => Some(text.as_str()),
        _ => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}

/// A single text is stored as such: that is what readers of a history expect.
fn content(parts: &[Part]) -> Json {
    match parts {
        [Part::Text { text }] => text.clone().into(),
        parts => parts.iter().map(part_to_json).collect(),
    }
}

fn part_to_json(part: &Part) -> Json {
    match part {
        Part::Image { url } => json!({"type": "image_url", "image_url": {"url": url}}),
        Part::Audio { url } => json!({"type": "audio_url", "audio_url": {"url": url}}),
        Part::Video { url } => json!({"type": "video_url", "video_url": {"url": url}}),
        Part::File { name, url } => json!({"type": "file", "file": {"name": name, "url": url}}),
        part => json!({"type": "text", "text": part.words().unwrap_or_default()}),
    }
}

fn parts_of(content: &Json) -> Vec<Part> {
    match content {
        Json::String(text) => vec![Part::text(text.as_str())],
        Json::Array(parts) => parts.iter().filter_map(part_from_json).collect(),
        _ => Vec::new(),
    }
}

fn part_from_json(part: &Json) -> Option<Part> {
    let url = |field: &str| Some(part[field]["url"].as_str()?.to_owned());
    match part["type"].as_str()? {
        "text" => Some(Part::text(part["text"].as_str()?)),
        "image_url" => url("image_url").map(|url| Part::Image { url }),
        "audio_url" => url("audio_url").map(|url| Part::Audio { url }),
        "video_url" => url("video_url").map(|url| Part::Video { url }),
        "file" => {
            let name = part["file"]["name"].as_str()?.to_owned();
            url("file").map(|url| Part::File { name, url })
        }
        _ => None,
    }
}

fn call_to_json(call: &ToolCall) -> Json {
    let arguments = match &call.arguments {
        CallArguments::Object(object) => Json::Object(object.clone()).to_string(),
        CallArguments::Malformed(text) => text.clone(),
    };
    let function = json!({"name": call.name, "arguments": arguments});
    let mut object = json!({"id": call.id, "type": "function", "function": function});
    if let Some(extra) = &call.extra {
        object["extra_content"] = extra.clone();
    }
    object
}

fn call_from_json(call: &Json) -> Option<ToolCall> {
    let function = &call["function"];
    let arguments = function["arguments"].as_str().unwrap_or("{}");
    Some(ToolCall {
        id: call["id"].as_str()?.to_owned(),
        name: function["name"].as_str()?.to_owned(),
        arguments: match serde_json::from_str(arguments) {
            Ok(Json::Object(object)) => CallArguments::Object(object),
            _ => CallArguments::Malformed(arguments.to_owned()),
        },
        extra: call.get("extra_content").cloned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_stored_is_read_back() {
        let call = ToolCall {
            id: "c1".into(),
            name: "now".into(),
            arguments: CallArguments::Object(Map::from_iter([("zone".into(), "UTC".into())])),
            extra: Some(json!({"signature": "s"})),
        };
        for message in [
            ModelMessage::user("你好"),
            ModelMessage::User {
                parts: vec![
                    Part::text("look"),
                    Part::Image {
                        url: "data:image/png;base64,AA==".into(),
                    },
                ],
            },
            ModelMessage::Assistant {
                text: "let me see".into(),
                reasoning: String::new(),
                tool_calls: vec![call],
                media: Vec::new(),
                extra: None,
            },
            ModelMessage::tool("c1", "noon"),
        ] {
            assert_eq!(from_json(&to_json(&message)), Some(message));
        }
        assert_eq!(to_json(&ModelMessage::user("hi"))["content"], "hi");
        assert_eq!(from_json(&json!({"role": "_checkpoint"})), None);
    }
}
