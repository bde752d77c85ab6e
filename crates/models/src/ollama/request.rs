//! A request as Ollama's wire spells it. Pure: the same request gives the same body.

use std::collections::HashMap;

use callgate_contract::{ModelMessage, ModelOptions, ModelRequest, Part, ToolChoice, ToolSpec};
use serde_json::{Map, Value as Json, json};

use crate::{
    calls, format,
    parts::{data, text_with_media, words},
    wire::{Dialect, insert, overlay},
};

pub fn body(dialect: &Dialect, request: &ModelRequest) -> Json {
    let mut body = Map::new();
    body.insert("model".to_owned(), json!(dialect.model));
    body.insert("messages".to_owned(), messages(&request.messages));
    body.insert("stream".to_owned(), json!(true));
    let choice = request.options.tool_choice.as_ref();
    let offered = request.tools.iter().filter(|tool| is_offered(tool, choice));
    let tools: Vec<Json> = offered.map(tool).collect();
    if !tools.is_empty() {
        body.insert("tools".to_owned(), Json::Array(tools));
    }
    options(&request.options, &mut body);
    Json::Object(body)
}

/// This wire cannot say which tool to call, only which there are.
fn is_offered(tool: &ToolSpec, choice: Option<&ToolChoice>) -> bool {
    match choice {
        None | Some(ToolChoice::Auto | ToolChoice::Required) => true,
        Some(ToolChoice::None) => false,
        Some(ToolChoice::Tool(name)) => tool.name == *name,
    }
}

fn options(options: &ModelOptions, body: &mut Map<String, Json>) {
    let stop = Some(&options.stop).filter(|stop| !stop.is_empty());
    let fields = [
        ("temperature", options.temperature.map(Json::from)),
        ("top_p", options.top_p.map(Json::from)),
        ("presence_penalty", options.presence_penalty.map(Json::from)),
        (
            "frequency_penalty",
            options.frequency_penalty.map(Json::from),
        ),
        ("num_predict", options.max_tokens.map(Json::from)),
        ("seed", options.seed.map(Json::from)),
        ("stop", stop.map(|stop| json!(stop))),
    ];
    let format = options.response_format.as_ref();
    let json = format::is_json(format).then(|| json!("json"));
    let think = options.reasoning_effort.as_deref().map(think);
    let fields_of_body = [
        ("format", format::schema(format).cloned().or(json)),
        ("think", think),
    ];
    insert(body, fields_of_body);
    let mut set = Map::new();
    insert(&mut set, fields);
    if !set.is_empty() {
        body.insert("options".to_owned(), Json::Object(set));
    }
    overlay(body, &options.extra);
}

/// Three levels, or none at all.
fn think(effort: &str) -> Json {
    match effort {
        "none" => json!(false),
        "minimal" | "low" => json!("low"),
        "medium" => json!("medium"),
        _ => json!("high"),
    }
}

fn messages(messages: &[ModelMessage]) -> Json {
    let mut names: HashMap<&str, &str> = HashMap::new();
    let mut written = Vec::with_capacity(messages.len());
    for message in messages {
        written.push(match message {
            ModelMessage::System { text } => json!({"role": "system", "content": text}),
            ModelMessage::User { parts } => said("user", parts),
            ModelMessage::Assistant {
                text,
                reasoning,
                tool_calls,
                media,
                ..
            } => {
                let content = text_with_media(text, media);
                let mut message = json!({"role": "assistant", "content": content});
                if !tool_calls.is_empty() {
                    names.extend(tool_calls.iter().map(|call| (&*call.id, &*call.name)));
                    let calls = tool_calls.iter().map(|call| {
                        let arguments = calls::object(&call.arguments);
                        json!({"function": {"name": call.name, "arguments": arguments}})
                    });
                    message["tool_calls"] = calls.collect();
                    // What it thought is part of its call; templates leave older thoughts out.
                    if !reasoning.is_empty() {
                        message["thinking"] = json!(reasoning);
                    }
                }
                message
            }
            ModelMessage::Tool {
                tool_call_id,
                parts,
            } => {
                let mut message = said("tool", parts);
                let name = names.get(tool_call_id.as_str()).copied();
                message["tool_name"] = json!(name.unwrap_or(tool_call_id));
                message
            }
        });
    }
    Json::Array(written)
}

fn said(role: &str, parts: &[Part]) -> Json {
    let (mut texts, mut images) = (Vec::new(), Vec::new());
    for part in parts {
        match part {
            Part::Image { url } if let Some((_, data)) = data(url) => images.push(data),
            other => texts.push(words(other)),
        }
    }
    let mut message = json!({"role": role, "content": texts.join("\n")});
    if !images.is_empty() {
        message["images"] = json!(images);
    }
    message
}

fn tool(tool: &ToolSpec) -> Json {
    json!({
        "type": "function",
        "function": {
            "name": tool.name,
            "description": tool.description,
            "parameters": tool.parameters,
        },
    })
}
