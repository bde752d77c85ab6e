//! Requests and replies in the shapes that plugins know: OpenAI's chat body in, a plain dictionary
//! out.

use callgate_contract::{
    CallArguments, Messages, ModelEvent, ModelMessage, ModelOptions, ModelReply, ModelRequest,
    Part, ToolCall, ToolSpec,
};
use serde_json::{Map, Value as Json, json};

use crate::history::from_json;

/// Fields of a body that are not options of the model.
const OTHERS: &[&str] = &["messages", "tools", "model", "stream", "stream_options"];

pub(super) fn request(body: Json) -> Result<ModelRequest, String> {
    let Json::Object(mut body) = body else {
        return Err("a request is an object with 'messages'".into());
    };
    let messages = messages(body.get("messages").unwrap_or(&Json::Null))?;
    let tools = body.get("tools").and_then(Json::as_array);
    let tools = tools.into_iter().flatten().filter_map(tool).collect();
    for name in OTHERS {
        body.remove(*name);
    }
    body.retain(|_, option| !option.is_null());
    Ok(ModelRequest {
        messages,
        tools,
        options: options(body)?,
        output_limit: None,
    })
}

pub(super) fn messages(list: &Json) -> Result<Messages, String> {
    let list = list.as_array().ok_or("'messages' is a list")?;
    let read: Vec<ModelMessage> = list.iter().filter_map(from_json).collect();
    Ok(read.into())
}

pub(super) fn tool(tool: &Json) -> Option<ToolSpec> {
    let function = tool.get("function").unwrap_or(tool);
    let parameters = function.get("parameters").filter(|p| p.is_object());
    let nothing = || json!({"type": "object", "properties": {}});
    Some(ToolSpec {
        name: function["name"].as_str()?.to_owned(),
        description: function["description"].as_str().unwrap_or("").to_owned(),
        parameters: parameters.cloned().unwrap_or_else(nothing),
    })
}

/// What we know by name, and the rest as it is.
fn options(body: Map<String, Json>) -> Result<ModelOptions, String> {
    let mut known = Map::new();
    let mut extra = Map::new();
    for (name, option) in body {
        let alone = json!({ &name: &option });
        match serde_json::from_value::<ModelOptions>(alone) {
            Ok(_) if name != "extra" => known.insert(name, option),
            _ => extra.insert(name, option),
        };
    }
    let mut options: ModelOptions =
        serde_json::from_value(Json::Object(known)).map_err(|error| error.to_string())?;
    options.extra = extra;
    Ok(options)
}

/// Parts of a user's message, each with whether the conversation keeps it.
pub(crate) fn user_parts(list: &Json) -> Vec<(Part, bool)> {
    let part = |part: &Json| {
        let read = match part["type"].as_str()? {
            "text" => Part::text(part["text"].as_str()?),
            "image_url" => Part::Image {
                url: part["image_url"]["url"].as_str()?.to_owned(),
            },
            _ => return None,
        };
        Some((read, part["_no_save"] != true))
    };
    let list = list.as_array().map(Vec::as_slice).unwrap_or_default();
    list.iter().filter_map(part).collect()
}

/// A piece of an answer on its way.
pub(crate) fn piece(event: &ModelEvent) -> Option<Json> {
    match event {
        ModelEvent::TextDelta { text } => Some(json!({"text": text})),
        ModelEvent::ReasoningDelta { text } => Some(json!({"reasoning": text, "thinking": text})),
        ModelEvent::ToolCall(made) => Some(json!({"tool_call": call(made)})),
        ModelEvent::Restarted => Some(json!({"restarted": true})),
        _ => None,
    }
}

pub(super) fn reply(reply: &ModelReply, model: &str) -> Json {
    json!({
        "role": "assistant",
        "text": reply.text,
        "reasoning": reply.reasoning,
        "thinking": reply.reasoning,
        "tool_calls": reply.tool_calls.iter().map(call).collect::<Vec<_>>(),
        "usage": reply.usage,
        "finish": reply.finish,
        "model": reply.model.as_deref().unwrap_or(model),
    })
}

fn call(call: &ToolCall) -> Json {
    let arguments = match &call.arguments {
        CallArguments::Object(arguments) => Json::Object(arguments.clone()),
        CallArguments::Malformed(text) => json!(text),
    };
    json!({"id": call.id, "name": call.name, "arguments": arguments})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_is_read_with_all_its_options() {
        let body = json!({
            "model": "m", "stream": true, "temperature": 0.5, "top_k": 3, "max_tokens": null,
            "messages": [
                {"role": "system", "content": "s"},
                {"role": "user", "content": [{"type": "text", "text": "hi"}]},
            ],
            "tools": [{"type": "function", "function": {"name": "now", "parameters": {}}}],
        });
        let request = request(body).unwrap();
        assert_eq!(request.messages.len(), 2);
        assert_eq!(request.tools[0].name, "now");
        assert_eq!(request.options.temperature, Some(0.5));
        assert_eq!(request.options.max_tokens, None);
        assert_eq!(request.options.extra["top_k"], 3);
        assert!(super::request(json!({"messages": "no"})).is_err());
    }
}
