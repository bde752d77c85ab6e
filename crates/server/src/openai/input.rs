//! The asker's messages as the model's: chat messages, and the items of responses. What cannot be
//! understood is refused by its place in the request, and nothing is dropped in silence.

use callgate_contract::{CallArguments, ModelMessage, Part, ToolCall, ToolSpec};
use serde_json::{Value as Json, json};

use super::{Failure, Fetch, media};

/// `messages` of a chat.
pub(super) async fn messages(fetch: &Fetch, given: &Json) -> Result<Vec<ModelMessage>, Failure> {
    let Some(list) = given.as_array().filter(|list| !list.is_empty()) else {
        let message = "messages is a list of at least one message";
        return Err(Failure::bad("messages", message));
    };
    let mut messages = Vec::with_capacity(list.len());
    for (number, given) in list.iter().enumerate() {
        messages.push(message(fetch, given, &format!("messages[{number}]")).await?);
    }
    Ok(messages)
}

async fn message(fetch: &Fetch, given: &Json, place: &str) -> Result<ModelMessage, Failure> {
    let within = format!("{place}.content");
    let content = parts(fetch, &given["content"], &within);
    match given["role"].as_str() {
        Some("system" | "developer") => Ok(ModelMessage::system(words(&content.await?))),
        Some("user") => Ok(ModelMessage::User {
            parts: content.await?,
        }),
        Some("assistant") => {
            let text = words(&content.await?);
            let calls = given["tool_calls"].as_array().into_iter().flatten();
            let calls = calls.enumerate().map(|(number, made)| {
                let place = format!("{place}.tool_calls[{number}]");
                let function = &made["function"];
                call(
                    &made["id"],
                    &function["name"],
                    &function["arguments"],
                    &place,
                )
            });
            Ok(ModelMessage::Assistant {
                text,
                reasoning: given["reasoning_content"].as_str().unwrap_or("").into(),
                tool_calls: calls.collect::<Result<_, _>>()?,
                media: Vec::new(),
                extra: None,
            })
        }
        Some("tool") => Ok(ModelMessage::Tool {
            tool_call_id: text(&given["tool_call_id"], &format!("{place}.tool_call_id"))?,
            parts: content.await?,
        }),
        _ => Err(Failure::bad(
            format!("{place}.role"),
            "the role is system, developer, user, assistant or tool",
        )),
    }
}

/// `input` of a response.
pub(super) async fn items(fetch: &Fetch, given: &Json) -> Result<Vec<ModelMessage>, Failure> {
    let list = match given {
        Json::String(text) => return Ok(vec![ModelMessage::user(text)]),
        Json::Array(list) if !list.is_empty() => list,
        _ => return Err(Failure::bad("input", "input is a text, or a list of items")),
    };
    let mut messages: Vec<ModelMessage> = Vec::new();
    for (number, given) in list.iter().enumerate() {
        let place = format!("input[{number}]");
        match given["type"].as_str() {
            None | Some("message") => messages.push(message(fetch, given, &place).await?),
            Some("function_call") => {
                let (id, name) = (&given["call_id"], &given["name"]);
                let made = call(id, name, &given["arguments"], &place)?;
                match messages.last_mut() {
                    // Words and calls of one answer are one message of the model's.
                    Some(ModelMessage::Assistant { tool_calls, .. }) => tool_calls.push(made),
                    _ => messages.push(ModelMessage::Assistant {
                        text: String::new(),
                        reasoning: String::new(),
                        tool_calls: vec![made],
                        media: Vec::new(),
                        extra: None,
                    }),
                }
            }
            Some("function_call_output") => messages.push(ModelMessage::Tool {
                tool_call_id: text(&given["call_id"], &format!("{place}.call_id"))?,
                parts: parts(fetch, &given["output"], &format!("{place}.output")).await?,
            }),
            // Pictures of ours that come back.
            Some("image_generation_call") => {
                let data = text(&given["result"], &format!("{place}.result"))?;
                let url = format!("data:image/png;base64,{data}");
                messages.push(ModelMessage::Assistant {
                    text: String::new(),
                    reasoning: String::new(),
                    tool_calls: Vec::new(),
                    media: vec![Part::Image { url }],
                    extra: None,
                });
            }
            // Thoughts of ours that come back: they are summaries, which no model takes.
            Some("reasoning") => {}
            Some(other) => {
                let message = format!("items of type '{other}' are not known here");
                return Err(Failure::bad(format!("{place}.type"), message));
            }
        }
    }
    Ok(messages)
}

async fn parts(fetch: &Fetch, content: &Json, place: &str) -> Result<Vec<Part>, Failure> {
    let list = match content {
        Json::Null => return Ok(Vec::new()),
        Json::String(text) => return Ok(vec![Part::text(text)]),
        Json::Array(list) => list,
        _ => return Err(Failure::bad(place, "content is a text, or a list of parts")),
    };
    let mut parts = Vec::with_capacity(list.len());
    for (number, given) in list.iter().enumerate() {
        parts.push(part(fetch, given, &format!("{place}[{number}]")).await?);
    }
    Ok(parts)
}

async fn part(fetch: &Fetch, given: &Json, place: &str) -> Result<Part, Failure> {
    match given["type"].as_str().unwrap_or("text") {
        "text" | "input_text" | "output_text" => {
            text(&given["text"], &format!("{place}.text")).map(Part::text)
        }
        "refusal" => text(&given["refusal"], &format!("{place}.refusal")).map(Part::text),
        "image_url" => {
            let place = format!("{place}.image_url.url");
            let url = text(&given["image_url"]["url"], &place)?;
            media::image(fetch, &url, &place).await
        }
        "input_image" => {
            let place = format!("{place}.image_url");
            let url = text(&given["image_url"], &place)?;
            media::image(fetch, &url, &place).await
        }
        "input_audio" => media::audio(&given["input_audio"], &format!("{place}.input_audio")),
        "file" => media::file(&given["file"], &format!("{place}.file")),
        "input_file" => media::file(given, place),
        other => Err(Failure::bad(
            format!("{place}.type"),
            format!("parts of type '{other}' are not known here"),
        )),
    }
}

fn call(id: &Json, name: &Json, arguments: &Json, place: &str) -> Result<ToolCall, Failure> {
    let arguments = arguments.as_str().unwrap_or("{}");
    Ok(ToolCall {
        id: text(id, &format!("{place}.id"))?,
        name: text(name, &format!("{place}.name"))?,
        arguments: match serde_json::from_str(arguments) {
            Ok(Json::Object(object)) => CallArguments::Object(object),
            _ => CallArguments::Malformed(arguments.to_owned()),
        },
        extra: None,
    })
}

/// What the asker wrote as arguments, or the model did.
pub(super) fn arguments(call: &ToolCall) -> String {
    match &call.arguments {
        CallArguments::Object(object) => Json::Object(object.clone()).to_string(),
        CallArguments::Malformed(text) => text.clone(),
    }
}

/// The asker's tools: `{"type": "function", "function": {...}}`, or the same without the inner object.
pub(super) fn tools(given: &Json) -> Result<Vec<ToolSpec>, Failure> {
    let list = match given {
        Json::Null => return Ok(Vec::new()),
        Json::Array(list) => list,
        _ => return Err(Failure::bad("tools", "tools is a list")),
    };
    let tool = |(number, given): (usize, &Json)| {
        if given["type"] != "function" {
            let place = format!("tools[{number}].type");
            return Err(Failure::bad(place, "tools are of type 'function' here"));
        }
        let function = given.get("function").unwrap_or(given);
        let name = text(&function["name"], &format!("tools[{number}].name"))?;
        let parameters = function.get("parameters").filter(|it| it.is_object());
        let nothing = || json!({"type": "object", "properties": {}});
        Ok(ToolSpec {
            name,
            description: function["description"].as_str().unwrap_or("").to_owned(),
            parameters: parameters.cloned().unwrap_or_else(nothing),
        })
    };
    list.iter().enumerate().map(tool).collect()
}

fn text(given: &Json, place: &str) -> Result<String, Failure> {
    let text = given.as_str().map(str::to_owned);
    text.ok_or_else(|| Failure::bad(place, "a text is needed here"))
}

fn words(parts: &[Part]) -> String {
    let texts = parts.iter().filter_map(|part| match part {
        Part::Text { text } => Some(text.as_str()),
        _ => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}
