//! A request as the chat-completions wire spells it. Pure: the same request gives the same body.

use callgate_contract::{
    ModelMessage, ModelOptions, ModelRequest, Part, ToolCall, ToolChoice, ToolSpec,
};
use serde_json::{Map, Value as Json, json};

use crate::{
    calls,
    parts::{is_web, sound, text_with_media, words},
    wire::{Dialect, insert, overlay},
};

pub fn body(dialect: &Dialect, request: &ModelRequest) -> Json {
    let mut body = Map::new();
    body.insert("model".to_owned(), json!(dialect.model));
    body.insert("messages".to_owned(), messages(dialect, &request.messages));
    body.insert("stream".to_owned(), json!(true));
    body.insert("stream_options".to_owned(), json!({"include_usage": true}));
    if !request.tools.is_empty() {
        let tools = request.tools.iter().map(tool).collect();
        body.insert("tools".to_owned(), Json::Array(tools));
        if let Some(choice) = &request.options.tool_choice {
            body.insert("tool_choice".to_owned(), tool_choice(choice));
        }
        // Without tools it is refused.
        let parallel = request.options.parallel_tool_calls.map(Json::from);
        insert(&mut body, [("parallel_tool_calls", parallel)]);
    }
    options(dialect, &request.options, &mut body);
    Json::Object(body)
}

fn options(dialect: &Dialect, options: &ModelOptions, body: &mut Map<String, Json>) {
    let limit = if dialect.max_completion_tokens {
        "max_completion_tokens"
    } else {
        "max_tokens"
    };
    let stop = Some(&options.stop).filter(|stop| !stop.is_empty());
    let fields = [
        ("temperature", options.temperature.map(Json::from)),
        ("top_p", options.top_p.map(Json::from)),
        ("presence_penalty", options.presence_penalty.map(Json::from)),
        (
            "frequency_penalty",
            options.frequency_penalty.map(Json::from),
        ),
        (limit, options.max_tokens.map(Json::from)),
        ("seed", options.seed.map(Json::from)),
        ("stop", stop.map(|stop| json!(stop))),
        ("response_format", options.response_format.clone()),
        (
            "reasoning_effort",
            options.reasoning_effort.clone().map(Json::from),
        ),
    ];
    insert(body, fields);
    overlay(body, &options.extra);
}

fn messages(dialect: &Dialect, messages: &[ModelMessage]) -> Json {
    let mut written = Vec::with_capacity(messages.len());
    // A tool's result may hold text only here. Its other parts follow in a user message, which must
    // not come between the results of one reply.
    let mut shown: Vec<Json> = Vec::new();
    for message in messages {
        if !matches!(message, ModelMessage::Tool { .. }) && !shown.is_empty() {
            written.push(json!({"role": "user", "content": std::mem::take(&mut shown)}));
        }
        written.push(match message {
            ModelMessage::System { text } => json!({"role": "system", "content": text}),
            ModelMessage::User { parts } => json!({"role": "user", "content": content(parts)}),
            ModelMessage::Assistant {
                text,
                reasoning,
                tool_calls,
                media,
                ..
            } => {
                let text = text_with_media(text, media);
                assistant(dialect, &text, reasoning, tool_calls)
            }
            ModelMessage::Tool {
                tool_call_id,
                parts,
            } => {
                let is_text = |part: &&Part| matches!(part, Part::Text { .. });
                let (texts, media): (Vec<&Part>, Vec<&Part>) = parts.iter().partition(is_text);
                let texts: Vec<&str> = texts.into_iter().filter_map(text).collect();
                if !media.is_empty() {
                    shown.push(
                        json!({"type": "text", "text": format!("Result of {tool_call_id}:")}),
                    );
                    shown.extend(media.into_iter().map(part));
                }
                let content = texts.join("\n");
                json!({"role": "tool", "tool_call_id": tool_call_id, "content": content})
            }
        });
    }
    if !shown.is_empty() {
        written.push(json!({"role": "user", "content": shown}));
    }
    Json::Array(written)
}

fn assistant(dialect: &Dialect, text: &str, reasoning: &str, calls: &[ToolCall]) -> Json {
    let mut message = Map::new();
    message.insert("role".to_owned(), json!("assistant"));
    let content = if text.is_empty() && !calls.is_empty() {
        Json::Null
    } else {
        json!(text)
    };
    message.insert("content".to_owned(), content);
    if dialect.return_reasoning && !reasoning.is_empty() {
        message.insert("reasoning_content".to_owned(), json!(reasoning));
    }
    if !calls.is_empty() {
        let calls = calls.iter().map(call).collect();
        message.insert("tool_calls".to_owned(), Json::Array(calls));
    }
    Json::Object(message)
}

fn call(call: &ToolCall) -> Json {
    let arguments = calls::object(&call.arguments);
    let mut written = json!({
        "id": call.id,
        "type": "function",
        "function": {"name": call.name, "arguments": arguments.to_string()},
    });
    if let Some(extra) = &call.extra {
        written["extra_content"] = extra.clone();
    }
    written
}

/// A text alone stays a plain string: some servers know nothing else.
fn content(parts: &[Part]) -> Json {
    match parts {
        [] => json!(""),
        [Part::Text { text }] => json!(text),
        parts => parts.iter().map(part).collect(),
    }
}

fn text(part: &Part) -> Option<&str> {
    match part {
        Part::Text { text } => Some(text),
        _ => None,
    }
}

/// What cannot be sent is said in its place, so that neither side wonders.
fn part(part: &Part) -> Json {
    match part {
        Part::Image { url } if url.starts_with("data:") || is_web(url) => {
            json!({"type": "image_url", "image_url": {"url": url}})
        }
        Part::Audio { url } if let Some((format, data)) = sound(url) => {
            json!({"type": "input_audio", "input_audio": {"data": data, "format": format}})
        }
        other => json!({"type": "text", "text": words(other)}),
    }
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

fn tool_choice(choice: &ToolChoice) -> Json {
    match choice {
        ToolChoice::Auto => json!("auto"),
        ToolChoice::None => json!("none"),
        ToolChoice::Required => json!("required"),
        ToolChoice::Tool(name) => json!({"type": "function", "function": {"name": name}}),
    }
}
