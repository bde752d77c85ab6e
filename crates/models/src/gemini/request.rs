//! A request as Google's wire spells it. Pure: the same request gives the same body.

use std::collections::HashMap;

use callgate_contract::{
    ModelMessage, ModelOptions, ModelRequest, Part, ToolCall, ToolChoice, ToolSpec,
};
use serde_json::{Map, Value as Json, json};

use super::{SIGNATURE, SIGNED_BY};
use crate::{
    calls, format,
    opaque_blocks::{self, ReplyPart},
    parts::{data, is_web, words},
    wire::{Dialect, Wire, insert, overlay, schema},
};

/// Google's own word for a call whose signature is not to be had: a call that another model made.
const UNSIGNED: &str = "skip_thought_signature_validator";

pub fn body(dialect: &Dialect, request: &ModelRequest) -> Json {
    let leading = |message: &&ModelMessage| matches!(message, ModelMessage::System { .. });
    let systems = request.messages.iter().take_while(leading).count();
    let (systems, messages) = request.messages.split_at(systems);
    let mut body = Map::new();
    let system: Vec<Json> = systems.iter().filter_map(system_part).collect();
    if !system.is_empty() {
        body.insert("systemInstruction".to_owned(), json!({"parts": system}));
    }
    let contents = Conversation::new(dialect).written(messages);
    body.insert("contents".to_owned(), Json::Array(contents));
    if !request.tools.is_empty() {
        let declared: Vec<Json> = request.tools.iter().map(tool).collect();
        let tools = json!([{"functionDeclarations": declared}]);
        body.insert("tools".to_owned(), tools);
        let choice = request.options.tool_choice.as_ref().map(tool_choice);
        insert(&mut body, [("toolConfig", choice)]);
    }
    options(dialect, &request.options, &mut body);
    Json::Object(body)
}

fn options(dialect: &Dialect, options: &ModelOptions, body: &mut Map<String, Json>) {
    let stop = Some(&options.stop).filter(|stop| !stop.is_empty());
    let format = options.response_format.as_ref();
    let json = format::is_json(format).then(|| json!("application/json"));
    let fields = [
        ("responseMimeType", json),
        ("responseJsonSchema", format::schema(format).cloned()),
        ("temperature", options.temperature.map(Json::from)),
        ("topP", options.top_p.map(Json::from)),
        ("presencePenalty", options.presence_penalty.map(Json::from)),
        (
            "frequencyPenalty",
            options.frequency_penalty.map(Json::from),
        ),
        ("maxOutputTokens", options.max_tokens.map(Json::from)),
        ("seed", options.seed.map(Json::from)),
        ("stopSequences", stop.map(|stop| json!(stop))),
        ("thinkingConfig", thinking(&dialect.model, options)),
    ];
    let mut config = Map::new();
    insert(&mut config, fields);
    if !config.is_empty() {
        body.insert("generationConfig".to_owned(), Json::Object(config));
    }
    overlay(body, &options.extra);
}

/// How much to think: a level from the third generation on, tokens before; as Google itself
/// translates OpenAI's words.
fn thinking(model: &str, options: &ModelOptions) -> Option<Json> {
    let effort = options.reasoning_effort.as_deref()?;
    if is_modern(model) {
        let level = match effort {
            "none" | "minimal" => "minimal",
            "low" | "medium" => effort,
            _ => "high",
        };
        return Some(json!({"thinkingLevel": level}));
    }
    let budget = match effort {
        // It cannot do without.
        "none" if model.contains("pro") => 128,
        "none" => 0,
        "minimal" => 512,
        "low" => 1_024,
        "medium" => 8_192,
        _ => 24_576,
    };
    let thinks = model.starts_with("gemini-2.5");
    thinks.then(|| json!({"thinkingBudget": budget}))
}

fn system_part(message: &ModelMessage) -> Option<Json> {
    match message {
        ModelMessage::System { text } => Some(json!({"text": text})),
        _ => None,
    }
}

struct Conversation<'a> {
    dialect: &'a Dialect,
    /// Models before the third generation know neither signatures that must be there nor images in
    /// a function's response.
    modern: bool,
    written: Vec<(&'static str, Vec<Json>)>,
    /// A response is matched to its call by this name too.
    names: HashMap<String, String>,
    /// Images of responses to older models, which follow when all responses are given.
    shown: Vec<Json>,
}

impl<'a> Conversation<'a> {
    fn new(dialect: &'a Dialect) -> Self {
        Conversation {
            dialect,
            modern: is_modern(&dialect.model),
            written: Vec::new(),
            names: HashMap::new(),
            shown: Vec::new(),
        }
    }

    fn written(mut self, messages: &[ModelMessage]) -> Vec<Json> {
        for message in messages {
            if !matches!(message, ModelMessage::Tool { .. }) {
                self.show();
            }
            self.message(message);
        }
        self.show();
        let written = self.written.into_iter();
        written
            .map(|(role, parts)| json!({"role": role, "parts": parts}))
            .collect()
    }

    fn show(&mut self) {
        let shown = std::mem::take(&mut self.shown);
        if !shown.is_empty() {
            self.written.push(("user", shown));
        }
    }

    fn message(&mut self, message: &ModelMessage) {
        match message {
            ModelMessage::System { text } => {
                let text = format!("<system>\n{text}\n</system>");
                self.push("user", vec![json!({"text": text})]);
            }
            ModelMessage::User { parts } => self.push("user", parts.iter().map(part).collect()),
            ModelMessage::Assistant {
                text,
                tool_calls,
                media,
                extra,
                ..
            } => {
                let kept =
                    opaque_blocks::of_model(Wire::Gemini, &self.dialect.model, extra.as_ref());
                let parts = self.reply(opaque_blocks::interleaved(text, media, tool_calls, kept));
                self.push("model", parts);
            }
            ModelMessage::Tool {
                tool_call_id,
                parts,
            } => self.response(tool_call_id, parts),
        }
    }

    fn push(&mut self, role: &'static str, parts: Vec<Json>) {
        if parts.is_empty() {
            return;
        }
        match self.written.last_mut() {
            Some((last, content)) if *last == role => content.extend(parts),
            _ => self.written.push((role, parts)),
        }
    }

    fn reply(&mut self, pieces: Vec<ReplyPart<'_>>) -> Vec<Json> {
        let mut parts: Vec<Json> = Vec::new();
        let mut signed = false;
        for piece in pieces {
            match piece {
                ReplyPart::Text(text) => parts.push(json!({"text": text})),
                ReplyPart::Media(media) => parts.push(part(media)),
                ReplyPart::Opaque(signature) => match parts.last_mut() {
                    Some(part) if part.get("thoughtSignature").is_none() => {
                        part["thoughtSignature"] = signature;
                    }
                    _ => parts.push(json!({"text": "", "thoughtSignature": signature})),
                },
                ReplyPart::Call(call) => {
                    self.names.insert(call.id.clone(), call.name.clone());
                    parts.push(self.call(call, signed));
                    signed = true;
                }
            }
        }
        parts
    }

    /// Of calls made at once only the first is signed.
    fn call(&self, call: &ToolCall, later: bool) -> Json {
        let mut function = json!({"name": call.name, "args": calls::object(&call.arguments)});
        if !calls::is_made_up(&call.id) {
            function["id"] = json!(call.id);
        }
        let mut part = json!({"functionCall": function});
        let left = |path: &str| call.extra.as_ref()?.pointer(path)?.as_str();
        let own = left(SIGNED_BY).is_none_or(|model| model == self.dialect.model);
        match left(SIGNATURE).filter(|_| own) {
            Some(signature) => part["thoughtSignature"] = json!(signature),
            None if self.modern && !later => part["thoughtSignature"] = json!(UNSIGNED),
            None => {}
        }
        part
    }

    fn response(&mut self, id: &str, parts: &[Part]) {
        let is_media = |part: &&Part| matches!(part, Part::Image { .. } | Part::Audio { .. });
        let (media, texts): (Vec<&Part>, Vec<&Part>) = parts.iter().partition(is_media);
        let texts: Vec<String> = texts.into_iter().map(words).collect();
        let name = self.names.get(id).map_or(id, String::as_str);
        let mut response = json!({"name": name, "response": {"result": texts.join("\n")}});
        if !calls::is_made_up(id) {
            response["id"] = json!(id);
        }
        if self.modern && !media.is_empty() {
            response["parts"] = media.into_iter().map(part).collect();
        } else if !media.is_empty() {
            self.shown
                .push(json!({"text": format!("Result of {name}:")}));
            self.shown.extend(media.into_iter().map(part));
        }
        self.push("user", vec![json!({"functionResponse": response})]);
    }
}

/// From the third generation on; a name without a number means the latest.
fn is_modern(model: &str) -> bool {
    let version = model.strip_prefix("gemini-").unwrap_or_default();
    let first: String = version.chars().take_while(char::is_ascii_digit).collect();
    first.parse().is_ok_and(|first: u32| first >= 3)
        || (model.starts_with("gemini-") && first.is_empty())
}

fn part(part: &Part) -> Json {
    match part {
        Part::Image { url } | Part::Audio { url } if let Some((mime_type, data)) = data(url) => {
            json!({"inlineData": {"mimeType": mime_type, "data": data}})
        }
        Part::Image { url } if is_web(url) => json!({"fileData": {"fileUri": url}}),
        other => json!({"text": words(other)}),
    }
}

fn tool(tool: &ToolSpec) -> Json {
    json!({
        "name": tool.name,
        "description": tool.description,
        "parametersJsonSchema": schema(&tool.parameters),
    })
}

fn tool_choice(choice: &ToolChoice) -> Json {
    let config = match choice {
        ToolChoice::Auto => json!({"mode": "AUTO"}),
        ToolChoice::None => json!({"mode": "NONE"}),
        ToolChoice::Required => json!({"mode": "ANY"}),
        ToolChoice::Tool(name) => json!({"mode": "ANY", "allowedFunctionNames": [name]}),
    };
    json!({"functionCallingConfig": config})
}
