//! What a model was asked, in the words of a scenario, and what of an expectation is required. Upstream's
//! own words are not: of a system prompt only what the plugin adds to the base is compared, and of a list of
//! tools not the two that upstream adds itself. The same arguments of a call may be spelled in several ways.

use std::collections::BTreeSet;

use callgate_contract::{CallArguments, ModelMessage, ModelRequest, Part};
use serde_json::{Value as Json, json};

/// What stands for the system prompt before the plugin adds to it.
const BASE: &str = "(base system prompt)";

/// Compat(astrbot): tools that upstream adds to every turn.
const BUILT_IN: &[&str] = &["future_task", "send_message_to_user"];

/// What a turn tells the model of the moment, which no upstream does.
const MOMENT: &str = "# This moment";

/// What is known of system prompts when a step is compared.
#[derive(Default)]
pub struct SystemPrompts {
    /// What ours may be before a plugin adds to it, the longest first: one for each persona.
    pub bases: Vec<String>,
    /// What the plugin adds, as the scenario says it in any of its steps.
    pub additions: Vec<String>,
}

/// The texts after the base in the system prompts of these requests.
pub(super) fn additions(requests: &Json) -> Vec<String> {
    let messages = requests.as_array().into_iter().flatten();
    let messages = messages.filter_map(|request| request["messages"].as_array());
    let texts = messages.flatten().filter_map(|it| it["content"].as_str());
    let added = texts.filter_map(|text| text.strip_prefix(BASE));
    let added = added.filter(|added| !added.trim().is_empty());
    added.map(str::to_owned).collect()
}

/// The requests of a step, as comparable with `expected` as they can be.
pub fn asked(expected: &Json, requests: &[ModelRequest], prompts: &SystemPrompts) -> Json {
    let one = |(index, request)| one(&expected[index], request, prompts);
    requests.iter().enumerate().map(one).collect()
}

fn one(expected: &Json, request: &ModelRequest, prompts: &SystemPrompts) -> Json {
    let messages: Vec<Json> = request
        .messages
        .iter()
        .enumerate()
        .map(|(index, told)| message(&expected["messages"][index], told, prompts))
        .collect();
    let tools: BTreeSet<&str> = request
        .tools
        .iter()
        .map(|tool| tool.name.as_str())
        .collect();
    let tools = if expected["tools"].is_number() {
        json!(tools.len())
    } else {
        json!(tools)
    };
    json!({ "tools": tools, "messages": messages })
}

/// An expectation without what upstream adds to a turn of its own; the requests of a plugin are exact.
pub(super) fn required(requests: &Json) -> Json {
    let mut requests = requests.clone();
    for request in requests.as_array_mut().into_iter().flatten() {
        let first = request["messages"][0]["content"].as_str();
        let is_main = first.is_some_and(|text| text.contains(BASE));
        if let Some(count) = request["tools"].as_u64().filter(|_| is_main) {
            request["tools"] = json!(count.saturating_sub(BUILT_IN.len() as u64));
        }
        if let Some(names) = request["tools"].as_array_mut() {
            names.retain(|name| name.as_str().is_none_or(|name| !BUILT_IN.contains(&name)));
        }
    }
    requests
}

fn message(expected: &Json, told: &ModelMessage, prompts: &SystemPrompts) -> Json {
    let as_list = expected["content"].is_array();
    match told {
        ModelMessage::System { text } => json!({
            "role": "system",
            "content": system(expected["content"].as_str(), text, prompts),
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
            json!({ "role": "tool", "content": content(parts, as_list) })
        }
    }
}

/// With the base as scenarios name it, so that what a plugin adds to it is all that can differ.
fn system(expected: Option<&str>, text: &str, prompts: &SystemPrompts) -> String {
    let Some((before, after)) = prompts.bases.iter().find_map(|base| text.split_once(base)) else {
        return text.to_owned();
    };
    let as_expected = expected.filter(|expected| {
        before.is_empty()
            && expected
                .strip_prefix(BASE)
                .is_some_and(|added| is_same_addition(added, after, &prompts.additions))
    });
    match as_expected {
        Some(expected) => expected.to_owned(),
        None => format!("{before}{BASE}{after}"),
    }
}

/// What the scenario says in full in one step, recordings leave out in others: there it begins alike.
fn is_same_addition(wanted: &str, came: &str, known: &[String]) -> bool {
    let (wanted, came) = (wanted.trim(), came.trim());
    let first_paragraph = |text: &str| text.trim().split("\n\n").next().map(str::to_owned);
    wanted == came
        || wanted.is_empty()
            && known
                .iter()
                .any(|known| first_paragraph(known) == first_paragraph(came))
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
    use crate::scenario::differences;

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

    /// What differs, where the requests of a step were expected to be these.
    fn difference(expected: &Json, requests: &[ModelRequest], known: &[&str]) -> Option<String> {
        let prompts = SystemPrompts {
            bases: vec!["A cat.\n\nOurs.".to_owned(), "Ours.".to_owned()],
            additions: known.iter().map(|text| (*text).to_owned()).collect(),
        };
        let came = asked(expected, requests, &prompts);
        differences("asked", &required(expected), &came)
    }

    #[test]
    fn upstreams_own_words_and_spellings_are_not_required() {
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
            ModelMessage::system("A cat.\n\nOurs.\n\n# Memory\nnothing"),
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
        let came = [request(messages, &["roll"])];
        assert_eq!(difference(&expected, &came, &[]), None);
    }

    #[test]
    fn tools_are_those_that_we_gave() {
        let check = |tools: Json, system: &str, given: &[&str]| {
            let messages = json!([{"role": "system", "content": system}]);
            let expected = json!([{ "tools": tools, "messages": messages }]);
            let system = system.replace(BASE, "Ours.");
            let came = request(vec![ModelMessage::system(system)], given);
            difference(&expected, &[came], &[])
        };
        assert_eq!(check(json!(3), BASE, &["roll"]), None);
        assert!(
            check(json!(1), BASE, &["roll"]).is_some(),
            "two are upstream's"
        );
        assert_eq!(check(json!(1), "a plugin's own", &["roll"]), None);
        assert!(check(json!(3), "a plugin's own", &["roll"]).is_some());
        assert!(check(json!(["roll", "future_task"]), BASE, &[]).is_some());
        assert!(check(json!(["future_task"]), BASE, &["roll"]).is_some());
    }

    #[test]
    fn what_a_plugin_adds_to_the_system_prompt_is_compared() {
        let check = |expected: &str, came: &str, known: &[&str]| {
            let messages = json!([{"role": "system", "content": expected}]);
            let expected = json!([{ "tools": 2, "messages": messages }]);
            let came = request(vec![ModelMessage::system(came)], &[]);
            difference(&expected, &[came], known).is_none()
        };
        let with = |added: &str| format!("{BASE}{added}");
        for persona in ["", "A cat.\n\n"] {
            let ours = |added: &str| format!("{persona}Ours.{added}");
            assert!(check(BASE, &ours(""), &[]));
            assert!(
                !check(BASE, &ours("\nBe polite."), &[]),
                "nothing was to be added"
            );
            assert!(check(&with("\nBe polite."), &ours("\nBe polite."), &[]));
            assert!(!check(&with("\nBe polite."), &ours(""), &[]));
            assert!(!check(
                &with("\nBe polite."),
                &ours("\nBe polite. Or not."),
                &[]
            ));
            assert!(!check(
                &with("\nBe polite."),
                &ours("\nReally:\nBe polite."),
                &[]
            ));
            // Said in full in another step.
            let known = ["\n# Memory\nof you:\n\nnothing"];
            assert!(check(BASE, &ours("\n# Memory\nof you:\n\ntea"), &known));
            assert!(!check(BASE, &ours("\n# Diary\n\ntea"), &known));
        }
        assert!(!check(BASE, "Be rude.\n\nOurs.", &[]), "nor put before it");
        assert!(!check(BASE, "Be rude.", &[]), "nor said instead");
    }
}
