//! A request as the responses wire spells it. Pure: the same request gives the same body.

use callgate_contract::{ModelMessage, ModelOptions, ModelRequest, Part, ToolChoice, ToolSpec};
use serde_json::{Map, Value as Json, json};

use crate::{
    calls, format,
    opaque_blocks::{self, ReplyPart},
    parts::{is_web, made, sound, words},
    wire::{Dialect, Wire, insert, overlay},
};

pub fn body(dialect: &Dialect, request: &ModelRequest) -> Json {
    let mut body = Map::new();
    body.insert("model".to_owned(), json!(dialect.model));
    body.insert("input".to_owned(), input(dialect, &request.messages));
    body.insert("stream".to_owned(), json!(true));
    body.insert("store".to_owned(), json!(false));
    if can_reason(&dialect.model) {
        let include = json!(["reasoning.encrypted_content"]);
        body.insert("include".to_owned(), include);
    }
    if !request.tools.is_empty() {
        let tools = request.tools.iter().map(tool).collect();
        body.insert("tools".to_owned(), Json::Array(tools));
        let choice = request.options.tool_choice.as_ref().map(tool_choice);
        let parallel = request.options.parallel_tool_calls.map(Json::from);
        let fields = [("tool_choice", choice), ("parallel_tool_calls", parallel)];
        insert(&mut body, fields);
    }
    options(&request.options, &mut body);
    Json::Object(body)
}

/// A model that cannot refuses to be asked for its thoughts. Of a name never heard nothing is known,
/// and other servers ignore the wish.
fn can_reason(model: &str) -> bool {
    let older = ["gpt-3", "gpt-4"].iter().any(|old| model.starts_with(old));
    !older && !model.contains("-chat")
}

/// This wire knows neither penalties nor seeds nor stop texts.
fn options(options: &ModelOptions, body: &mut Map<String, Json>) {
    let format = options.response_format.as_ref().map(format::flat);
    let effort = options.reasoning_effort.as_ref();
    let fields = [
        ("reasoning", effort.map(|effort| json!({"effort": effort}))),
        ("text", format.map(|format| json!({"format": format}))),
        ("temperature", options.temperature.map(Json::from)),
        ("top_p", options.top_p.map(Json::from)),
        ("max_output_tokens", options.max_tokens.map(Json::from)),
    ];
    insert(body, fields);
    overlay(body, &options.extra);
}

fn input(dialect: &Dialect, messages: &[ModelMessage]) -> Json {
    let mut items = Vec::with_capacity(messages.len());
    for message in messages {
        match message {
            ModelMessage::System { text } => items.push(json!({"role": "system", "content": text})),
            ModelMessage::User { parts } => {
                items.push(json!({"role": "user", "content": content(parts)}));
            }
            ModelMessage::Assistant {
                text,
                tool_calls,
                media,
                extra,
                ..
            } => {
                let kept = opaque_blocks::of_model(Wire::Responses, &dialect.model, extra.as_ref());
                let pieces = opaque_blocks::interleaved(text, media, tool_calls, kept);
                items.extend(pieces.into_iter().map(item));
            }
            ModelMessage::Tool {
                tool_call_id,
                parts,
            } => items.push(json!({
                "type": "function_call_output",
                "call_id": tool_call_id,
                "output": content(parts),
            })),
        }
    }
    Json::Array(items)
}

fn item(piece: ReplyPart<'_>) -> Json {
    let said = |text: String| json!({"role": "assistant", "content": text});
    match piece {
        ReplyPart::Text(text) => said(text),
        ReplyPart::Media(part) => said(made(part)),
        ReplyPart::Opaque(reasoning) => reasoning,
        ReplyPart::Call(call) => json!({
            "type": "function_call",
            "call_id": call.id,
            "name": call.name,
            "arguments": calls::object(&call.arguments).to_string(),
        }),
    }
}

fn content(parts: &[Part]) -> Json {
    match parts {
        [] => json!(""),
        [Part::Text { text }] => json!(text),
        parts => parts.iter().map(part).collect(),
    }
}

fn part(part: &Part) -> Json {
    match part {
        Part::Image { url } if url.starts_with("data:") || is_web(url) => {
            json!({"type": "input_image", "image_url": url, "detail": "auto"})
        }
        Part::Audio { url } if let Some((format, data)) = sound(url) => {
            json!({"type": "input_audio", "input_audio": {"data": data, "format": format}})
        }
        other => json!({"type": "input_text", "text": words(other)}),
    }
}

fn tool(tool: &ToolSpec) -> Json {
    json!({
        "type": "function",
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.parameters,
        // Strict is the default here and refuses schemas with optional parameters.
        "strict": false,
    })
}

fn tool_choice(choice: &ToolChoice) -> Json {
    match choice {
        ToolChoice::Auto => json!("auto"),
        ToolChoice::None => json!("none"),
        ToolChoice::Required => json!("required"),
        ToolChoice::Tool(name) => json!({"type": "function", "name": name}),
    }
}
