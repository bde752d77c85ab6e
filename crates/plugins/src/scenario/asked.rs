//! What a model was asked, in the words of a scenario. What upstream and we say differently on
//! purpose is said upstream's way: the base system prompt, its two built-in tools, how arguments of
//! a call are spelled.

use std::collections::BTreeSet;

use callgate_contract::{CallArguments, ModelMessage, ModelRequest, Part};
use serde_json::{Value as Json, json};

/// What stands for the system prompt that upstream would have.
const BASE: &str = "(base system prompt)";

/// Compat(astrbot): tools that upstream adds to every turn.
const BUILT_IN: &[&str] = &["future_task", "send_message_to_user"];

/// What a turn tells the model of the moment, which no upstream does.
const MOMENT: &str = "# This moment";

/// The requests of a step, as comparable with `expected` as they can be.
pub fn asked(expected: &Json, requests: &[ModelRequest]) -> Json {
    let one = |(index, request)| one(expected.get(index).unwrap_or(&Json::Null), request);
    requests.iter().enumerate().map(one).collect()
}

fn one(expected: &Json, request: &ModelRequest) -> Json {
    let messages: Vec<Json> = request
        .messages
        .iter()
        .enumerate()
        .map(|(index, told)| message(&expected["messages"][index], told))
        .collect();
    json!({ "tools": tools(&expected["tools"], request), "messages": messages })
}

fn tools(expected: &Json, request: &ModelRequest) -> Json {
    let ours: BTreeSet<&str> = request
        .tools
        .iter()
        .map(|tool| tool.name.as_str())
        .collect();
    match expected {
        Json::Number(count) => {
            let count = count.as_u64().and_then(|it| usize::try_from(it).ok());
            let with_theirs = ours.len() + BUILT_IN.len();
            match count {
                Some(count) if count == with_theirs => json!(count),
                _ => json!(ours.len()),
            }
        }
        Json::Array(names) => {
            let theirs = names.iter().filter_map(Json::as_str);
            let theirs = theirs.filter(|name| BUILT_IN.contains(name));
            json!(ours.into_iter().chain(theirs).collect::<BTreeSet<_>>())
        }
        _ => json!(ours),
    }
}

fn message(expected: &Json, told: &ModelMessage) -> Json {
    let as_list = expected["content"].is_array();
    match told {
        ModelMessage::System { text } => json!({
            "role": "system",
            "content": system(expected["content"].as_str(), text),
        }),
        ModelMessage::User { parts } => {
            let of_moment = |part: &Part| part.words().is_some_and(|it| it.starts_with(MOMENT));
            let parts: Vec<Part> = parts.iter().filter(|it| !of_moment(it)).cloned().collect();
            json!({ "role": "user", "content": content(&parts, as_list) })
        }
        ModelMessage::Assistant {
            text, tool_calls, ..
        } => {
            let parts: Vec<Part> = if text.is_empty() {
                Vec::new()
            } else {
                vec![Part::text(text.as_str())]
            };
            let mut shown = json!({ "role": "assistant", "content": content(&parts, as_list) });
            if text.is_empty() && !as_list {
                shown["content"] = Json::Null;
            }
            if !tool_calls.is_empty() {
                let calls = tool_calls.iter().enumerate();
                let calls = calls.map(|(index, call)| {
                    let expected = &expected["tool_calls"][index]["arguments"];
                    json!({ "name": call.name, "arguments": arguments(expected, &call.arguments) })
                });
                shown["tool_calls"] = calls.collect();
            }
            shown
        }
        ModelMessage::Tool { parts, .. } => {
            let told = content(parts, as_list);
            json!({ "role": "tool", "content": with_theirs(&expected["content"], told) })
        }
    }
}

/// A list of the tools there are names the built-in ones last.
fn with_theirs(expected: &Json, told: Json) -> Json {
    let built_in = BUILT_IN.join(", ");
    let added = |told: &str| [format!("{told}, {built_in}"), format!("{told}{built_in}")];
    match (expected.as_str(), told.as_str()) {
        (Some(expected), Some(text)) if added(text).iter().any(|it| it == expected) => {
            json!(expected)
        }
        _ => told,
    }
}

/// Only what a plugin adds is compared.
fn system(expected: Option<&str>, text: &str) -> String {
    let added = expected.and_then(|expected| expected.strip_prefix(BASE));
    match added {
        Some(added) if text.contains(added.trim()) => format!("{BASE}{added}"),
        _ => text.to_owned(),
    }
}

fn content(parts: &[Part], as_list: bool) -> Json {
    if !as_list && parts.iter().all(|part| matches!(part, Part::Text { .. })) {
        let texts = parts.iter().filter_map(Part::words);
        return json!(texts.collect::<Vec<_>>().join("\n"));
    }
    parts
        .iter()
        .map(|part| match part {
            Part::Image { url } => json!({ "type": "image_url", "image_url": { "url": url } }),
            other => json!(other),
        })
        .collect()
}

/// The same arguments may be spelled in many ways.
fn arguments(expected: &Json, told: &CallArguments) -> String {
    let (told, text) = match told {
        CallArguments::Object(fields) => (json!(fields), json!(fields).to_string()),
        CallArguments::Malformed(text) => (Json::Null, text.clone()),
    };
    match expected.as_str() {
        Some(spelled) if serde_json::from_str::<Json>(spelled).is_ok_and(|it| it == told) => {
            spelled.to_owned()
        }
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use callgate_contract::{ToolCall, ToolSpec};

    use super::*;

    fn request(messages: Vec<ModelMessage>, tools: &[&str]) -> ModelRequest {
        let tool = |name: &&str| ToolSpec {
            name: (*name).to_owned(),
            description: String::new(),
            parameters: json!({}),
        };
        ModelRequest {
            tools: tools.iter().map(tool).collect::<Vec<_>>().into(),
            ..ModelRequest::new(messages)
        }
    }

    #[test]
    fn what_differs_on_purpose_compares_equal() {
        let call = ToolCall {
            id: "1".to_owned(),
            name: "roll".to_owned(),
            arguments: CallArguments::Object(json!({"a": "感"}).as_object().unwrap().clone()),
            extra: None,
        };
        let answer = ModelMessage::Assistant {
            text: String::new(),
            reasoning: String::new(),
            tool_calls: vec![call],
            media: Vec::new(),
            extra: None,
        };
        let messages = vec![
            ModelMessage::system("Ours.\n\n# Memory\nnothing"),
            ModelMessage::user("hi"),
            answer,
            ModelMessage::tool("1", "3"),
        ];
        let expected = json!([{
            "tools": ["future_task", "roll", "send_message_to_user"],
            "messages": [
                {"role": "system", "content": "(base system prompt)\n# Memory\nnothing"},
                {"role": "user", "content": [{"type": "text", "text": "hi"}]},
                {"role": "assistant", "content": null,
                 "tool_calls": [{"name": "roll", "arguments": "{\"a\": \"\\u611f\"}"}]},
                {"role": "tool", "content": "3"},
            ],
        }]);
        assert_eq!(
            asked(&expected, &[request(messages.clone(), &["roll"])]),
            expected
        );
        let counted = |count: u64| json!([{ "tools": count, "messages": [] }]);
        let tools = |expected: Json, tools: &[&str]| {
            asked(&expected, &[request(Vec::new(), tools)])[0]["tools"].clone()
        };
        assert_eq!(tools(counted(3), &["roll"]), json!(3));
        assert_eq!(tools(counted(1), &["roll"]), json!(1));
        assert_eq!(tools(counted(2), &["roll"]), json!(1));
        assert_eq!(tools(json!([{"tools": ["a"]}]), &["b"]), json!(["b"]));
    }
}
