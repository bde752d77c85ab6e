//! A request as the messages wire spells it. Pure: the same request gives the same body.

use std::collections::{HashMap, HashSet};

use callgate_contract::{ModelMessage, ModelOptions, ModelRequest, Part, ToolChoice, ToolSpec};
use serde_json::{Map, Value as Json, json};

use crate::{
    calls, format,
    opaque_blocks::{self, ReplyPart},
    parts::{data, is_web, made, words},
    wire::{Dialect, Wire, insert, overlay, schema},
};

/// This wire demands a limit. Every current model can write as much, thoughts included.
const MAX_TOKENS: u32 = 16_384;

pub fn body(dialect: &Dialect, request: &ModelRequest) -> Json {
    let leading = |message: &&ModelMessage| matches!(message, ModelMessage::System { .. });
    let systems = request.messages.iter().take_while(leading).count();
    let (systems, messages) = request.messages.split_at(systems);
    let mut body = Map::new();
    body.insert("model".to_owned(), json!(dialect.model));
    body.insert("max_tokens".to_owned(), json!(MAX_TOKENS));
    let mut system: Vec<Json> = systems.iter().filter_map(system_block).collect();
    // Tools and system are the same from turn to turn, the conversation grows at its end: what lies
    // before these two marks is read from the provider's cache.
    mark(system.last_mut());
    if !system.is_empty() {
        body.insert("system".to_owned(), Json::Array(system));
    }
    let mut messages = Conversation::new(dialect).written(messages);
    let last = messages.last_mut().and_then(|last| last.get_mut("content"));
    mark(
        last.and_then(Json::as_array_mut)
            .and_then(|content| content.last_mut()),
    );
    body.insert("messages".to_owned(), Json::Array(messages));
    body.insert("stream".to_owned(), json!(true));
    if !request.tools.is_empty() {
        let tools = request.tools.iter().map(tool).collect();
        body.insert("tools".to_owned(), Json::Array(tools));
        let choice = choice(&request.options);
        insert(&mut body, [("tool_choice", choice)]);
    }
    options(dialect, &request.options, &mut body);
    if goes_on_without_thoughts(&body) {
        body.shift_remove("thinking");
    }
    Json::Object(body)
}

/// A model told to think refuses to go on after calls that it did not think about: another model
/// made them, or their thoughts are lost. For the rest of this turn it goes on without.
fn goes_on_without_thoughts(body: &Map<String, Json>) -> bool {
    let kind = |block: &Json| block.get("type").and_then(Json::as_str).map(str::to_owned);
    let told = body.get("thinking").and_then(kind).as_deref() == Some("enabled");
    let messages = body.get("messages").and_then(Json::as_array);
    let content = |message: &Json| message.get("content").and_then(Json::as_array).cloned();
    let [.., reply, results] = messages.map(Vec::as_slice).unwrap_or_default() else {
        return false;
    };
    let first = |message: &Json| content(message)?.first().and_then(kind);
    let answered = first(results).as_deref() == Some("tool_result");
    let thought = first(reply).is_some_and(|kind| kind.ends_with("thinking"));
    told && answered && !thought
}

/// This wire knows neither penalties nor seeds, and of formats only strict schemas.
fn options(dialect: &Dialect, options: &ModelOptions, body: &mut Map<String, Json>) {
    let config = output_config(&dialect.model, options);
    let stop = Some(&options.stop).filter(|stop| !stop.is_empty());
    let fields = [
        ("max_tokens", options.max_tokens.map(Json::from)),
        ("temperature", options.temperature.map(Json::from)),
        ("top_p", options.top_p.map(Json::from)),
        ("stop_sequences", stop.map(|stop| json!(stop))),
        (
            "output_config",
            (!config.is_empty()).then_some(Json::Object(config)),
        ),
    ];
    insert(body, fields);
    overlay(body, &options.extra);
}

fn mark(block: Option<&mut Json>) {
    // Thoughts cannot be marked.
    let block = block.filter(|block| {
        let kind = block.get("type").and_then(Json::as_str);
        !matches!(kind, Some("thinking" | "redacted_thinking"))
    });
    if let Some(block) = block {
        block["cache_control"] = json!({"type": "ephemeral"});
    }
}

fn system_block(message: &ModelMessage) -> Option<Json> {
    match message {
        ModelMessage::System { text } => text_block(text),
        _ => None,
    }
}

/// Blank texts are refused here.
fn text_block(text: &str) -> Option<Json> {
    let blank = text.trim().is_empty();
    (!blank).then(|| json!({"type": "text", "text": text}))
}

/// Roles alternate and ids are unique, whatever other providers have left in the history.
struct Conversation<'a> {
    dialect: &'a Dialect,
    written: Vec<(&'static str, Vec<Json>)>,
    used: HashSet<String>,
    /// Of the last reply: its ids as the history has them, and as they are written.
    ids: HashMap<String, String>,
}

impl<'a> Conversation<'a> {
    fn new(dialect: &'a Dialect) -> Self {
        Conversation {
            dialect,
            written: Vec::new(),
            used: HashSet::new(),
            ids: HashMap::new(),
        }
    }

    fn written(mut self, messages: &[ModelMessage]) -> Vec<Json> {
        for message in messages {
            self.message(message);
        }
        if !matches!(self.written.first(), Some(("user", _))) {
            let begin = json!({"type": "text", "text": "(The conversation begins.)"});
            self.written.insert(0, ("user", vec![begin]));
        }
        let written = self.written.into_iter();
        written
            .map(|(role, content)| json!({"role": role, "content": content}))
            .collect()
    }

    fn message(&mut self, message: &ModelMessage) {
        match message {
            ModelMessage::System { text } => {
                let text = format!("<system>\n{text}\n</system>");
                self.push("user", text_block(&text).into_iter().collect());
            }
            ModelMessage::User { parts } => {
                self.push("user", parts.iter().filter_map(block).collect());
            }
            ModelMessage::Assistant {
                text,
                tool_calls,
                media,
                extra,
                ..
            } => {
                self.ids.clear();
                let kept =
                    opaque_blocks::of_model(Wire::Anthropic, &self.dialect.model, extra.as_ref());
                let pieces = opaque_blocks::interleaved(text, media, tool_calls, kept);
                let blocks = pieces.into_iter().filter_map(|piece| self.piece(piece));
                let blocks = blocks.collect();
                self.push("assistant", blocks);
            }
            ModelMessage::Tool {
                tool_call_id,
                parts,
            } => {
                let id = self.ids.get(tool_call_id).cloned();
                let content: Vec<Json> = parts.iter().filter_map(block).collect();
                let result = json!({
                    "type": "tool_result",
                    "tool_use_id": id.unwrap_or_else(|| plain(tool_call_id)),
                    "content": content,
                });
                self.push("user", vec![result]);
            }
        }
    }

    fn push(&mut self, role: &'static str, blocks: Vec<Json>) {
        if blocks.is_empty() {
            return;
        }
        match self.written.last_mut() {
            Some((last, content)) if *last == role => content.extend(blocks),
            _ => self.written.push((role, blocks)),
        }
    }

    fn piece(&mut self, piece: ReplyPart<'_>) -> Option<Json> {
        match piece {
            ReplyPart::Text(text) => text_block(&text),
            ReplyPart::Media(part) => text_block(&made(part)),
            ReplyPart::Opaque(thoughts) => Some(thoughts),
            ReplyPart::Call(call) => Some(json!({
                "type": "tool_use",
                "id": self.id(&call.id),
                "name": call.name,
                "input": calls::object(&call.arguments),
            })),
        }
    }

    fn id(&mut self, original: &str) -> String {
        let mut id = plain(original);
        for number in 2.. {
            if self.used.insert(id.clone()) {
                break;
            }
            id = format!("{}_{number}", plain(original));
        }
        self.ids.insert(original.to_owned(), id.clone());
        id
    }
}

/// An id in the characters allowed here.
fn plain(id: &str) -> String {
    let allowed = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-');
    id.chars()
        .map(|letter| if allowed(letter) { letter } else { '_' })
        .collect()
}

fn block(part: &Part) -> Option<Json> {
    match part {
        Part::Image { url } if let Some((media_type, data)) = data(url) => Some(json!({
            "type": "image",
            "source": {"type": "base64", "media_type": media_type, "data": data},
        })),
        Part::Image { url } if is_web(url) => {
            Some(json!({"type": "image", "source": {"type": "url", "url": url}}))
        }
        other => text_block(&words(other)),
    }
}

fn tool(tool: &ToolSpec) -> Json {
    json!({
        "name": tool.name,
        "description": tool.description,
        "input_schema": schema(&tool.parameters),
    })
}

/// How much to think, and in which form to answer, for models that know of it: others refuse it.
fn output_config(model: &str, options: &ModelOptions) -> Map<String, Json> {
    const NO_FORMATS: [&str; 5] = [
        "claude-3",
        "claude-opus-4-0",
        "claude-opus-4-2025",
        "claude-sonnet-4-0",
        "claude-sonnet-4-2025",
    ];
    const NO_EFFORT: [&str; 3] = ["claude-opus-4-1", "claude-sonnet-4-5", "claude-haiku-4-5"];
    let among = |names: &[&str]| names.iter().any(|name| model.starts_with(name));
    let mut config = Map::new();
    if among(&NO_FORMATS) {
        return config;
    }
    let effort = match options.reasoning_effort.as_deref() {
        // Whoever is not told to think does not.
        None | Some("none") => None,
        Some("minimal") => Some("low"),
        other => other,
    };
    let format = options.response_format.as_ref();
    let strict = format.is_some_and(|format| format["json_schema"]["strict"] == true);
    let schema = format::schema(format).filter(|_| strict);
    let fields = [
        (
            "effort",
            effort.filter(|_| !among(&NO_EFFORT)).map(Json::from),
        ),
        (
            "format",
            schema.map(|schema| json!({"type": "json_schema", "schema": schema})),
        ),
    ];
    insert(&mut config, fields);
    config
}

/// Which tool, and whether several at once.
fn choice(options: &ModelOptions) -> Option<Json> {
    let mut choice = options.tool_choice.as_ref().map(tool_choice);
    if options.parallel_tool_calls == Some(false) && options.tool_choice != Some(ToolChoice::None) {
        let choice = choice.get_or_insert_with(|| tool_choice(&ToolChoice::Auto));
        choice["disable_parallel_tool_use"] = json!(true);
    }
    choice
}

fn tool_choice(choice: &ToolChoice) -> Json {
    match choice {
        ToolChoice::Auto => json!({"type": "auto"}),
        ToolChoice::None => json!({"type": "none"}),
        ToolChoice::Required => json!({"type": "any"}),
        ToolChoice::Tool(name) => json!({"type": "tool", "name": name}),
    }
}
