//! What of a request is for the model itself: how warm, how long, which tool, in which form. A field
//! that nobody knows is ignored; one that is known and wrong is refused.

use callgate_contract::{ModelOptions, ToolChoice};
use serde::de::DeserializeOwned;
use serde_json::{Value as Json, json};

use super::Failure;

/// Of a chat.
pub(super) fn of_chat(body: &Json) -> Result<ModelOptions, Failure> {
    if field::<u32>(body, "n", "a whole number")?.is_some_and(|n| n != 1) {
        return Err(Failure::bad(
            "n",
            "one answer is given at a time: leave n out",
        ));
    }
    let limit = match field(body, "max_completion_tokens", COUNT)? {
        Some(limit) => Some(limit),
        None => field(body, "max_tokens", COUNT)?,
    };
    Ok(ModelOptions {
        presence_penalty: field(body, "presence_penalty", NUMBER)?,
        frequency_penalty: field(body, "frequency_penalty", NUMBER)?,
        max_tokens: limit,
        seed: field(body, "seed", "a whole number")?,
        stop: stop(body)?,
        response_format: object(body, "response_format")?,
        reasoning_effort: field(body, "reasoning_effort", WORD)?,
        ..common(body)?
    })
}

/// Of a response.
pub(super) fn of_response(body: &Json) -> Result<ModelOptions, Failure> {
    let format = body["text"].get("format").filter(|it| it.is_object());
    Ok(ModelOptions {
        max_tokens: field(body, "max_output_tokens", COUNT)?,
        response_format: format.filter(|it| it["type"] != "text").map(nested),
        reasoning_effort: effort(body)?,
        ..common(body)?
    })
}

fn common(body: &Json) -> Result<ModelOptions, Failure> {
    Ok(ModelOptions {
        temperature: field(body, "temperature", NUMBER)?,
        top_p: field(body, "top_p", NUMBER)?,
        tool_choice: tool_choice(body)?,
        parallel_tool_calls: field(body, "parallel_tool_calls", "true or false")?,
        ..ModelOptions::default()
    })
}

const NUMBER: &str = "a number";
const COUNT: &str = "a whole number above zero";
const WORD: &str = "a word such as low, medium or high";

fn effort(body: &Json) -> Result<Option<String>, Failure> {
    match object(body, "reasoning")? {
        Some(reasoning) => field(&reasoning, "effort", WORD),
        None => Ok(None),
    }
}

/// `None` where it is left out or null.
pub(super) fn field<T: DeserializeOwned>(
    body: &Json,
    name: &str,
    what: &str,
) -> Result<Option<T>, Failure> {
    match body.get(name) {
        None | Some(Json::Null) => Ok(None),
        Some(given) => match serde_json::from_value(given.clone()) {
            Ok(read) => Ok(Some(read)),
            Err(_) => Err(Failure::bad(name, format!("{name} is {what}"))),
        },
    }
}

fn object(body: &Json, name: &str) -> Result<Option<Json>, Failure> {
    let given: Option<Json> = field(body, name, "an object")?;
    match given {
        Some(Json::Object(_)) | None => Ok(given),
        Some(_) => Err(Failure::bad(name, format!("{name} is an object"))),
    }
}

fn stop(body: &Json) -> Result<Vec<String>, Failure> {
    match body.get("stop") {
        Some(Json::String(text)) => Ok(vec![text.clone()]),
        _ => Ok(field(body, "stop", "a text, or a list of texts")?.unwrap_or_default()),
    }
}

fn tool_choice(body: &Json) -> Result<Option<ToolChoice>, Failure> {
    let given = match body.get("tool_choice") {
        None | Some(Json::Null) => return Ok(None),
        Some(given) => given,
    };
    let named = given["function"].get("name").or_else(|| given.get("name"));
    match (given.as_str(), named.and_then(Json::as_str)) {
        (Some("auto"), _) => Ok(Some(ToolChoice::Auto)),
        (Some("none"), _) => Ok(Some(ToolChoice::None)),
        (Some("required"), _) => Ok(Some(ToolChoice::Required)),
        (None, Some(name)) => Ok(Some(ToolChoice::Tool(name.to_owned()))),
        _ => Err(Failure::bad(
            "tool_choice",
            "tool_choice is auto, none, required, or names a function",
        )),
    }
}

/// A response's format as a chat has it.
fn nested(flat: &Json) -> Json {
    let mut inner = flat.clone();
    let kind = inner.as_object_mut().and_then(|it| it.shift_remove("type"));
    match kind {
        Some(kind) if kind == "json_schema" => json!({"type": kind, "json_schema": inner}),
        kind => json!({"type": kind}),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_known_is_read_and_what_is_wrong_refused() {
        let options = of_chat(&json!({
            "temperature": 0.5, "top_p": 1, "max_tokens": 5, "max_completion_tokens": 7,
            "stop": "end", "seed": 3, "n": 1, "logit_bias": {"1": 2}, "user": "ann",
            "parallel_tool_calls": false, "reasoning_effort": "low", "logprobs": true,
            "presence_penalty": null, "response_format": {"type": "json_object"},
            "tool_choice": {"type": "function", "function": {"name": "now"}},
        }));
        let options = options.unwrap();
        assert_eq!((options.temperature, options.top_p), (Some(0.5), Some(1.0)));
        assert_eq!((options.max_tokens, options.seed), (Some(7), Some(3)));
        assert_eq!(options.stop, ["end"]);
        assert_eq!(options.parallel_tool_calls, Some(false));
        assert_eq!(options.reasoning_effort.as_deref(), Some("low"));
        assert_eq!(options.tool_choice, Some(ToolChoice::Tool("now".into())));
        assert_eq!(
            options.response_format,
            Some(json!({"type": "json_object"}))
        );
        assert!(options.extra.is_empty());
        for (name, wrong) in [
            ("temperature", json!("hot")),
            ("n", json!(2)),
            ("max_tokens", json!(-1)),
            ("stop", json!([1])),
            ("parallel_tool_calls", json!("no")),
            ("reasoning_effort", json!(3)),
            ("tool_choice", json!("perhaps")),
            ("response_format", json!("json")),
        ] {
            let refused = of_chat(&json!({ name: wrong })).unwrap_err();
            assert_eq!(refused.to_json()["error"]["param"], name);
        }
    }

    #[test]
    fn a_response_says_the_same_in_other_words() {
        let schema = json!({"type": "object"});
        let options = of_response(&json!({
            "max_output_tokens": 9, "reasoning": {"effort": "high", "summary": "auto"},
            "text": {"format": {"type": "json_schema", "name": "x", "schema": schema}},
            "tool_choice": {"type": "function", "name": "now"},
        }));
        let options = options.unwrap();
        assert_eq!(options.max_tokens, Some(9));
        assert_eq!(options.reasoning_effort.as_deref(), Some("high"));
        assert_eq!(options.tool_choice, Some(ToolChoice::Tool("now".into())));
        let nested = json!({"type": "json_schema", "json_schema": {"name": "x", "schema": schema}});
        assert_eq!(options.response_format, Some(nested));
        let plain = of_response(&json!({"text": {"format": {"type": "text"}}}));
        assert_eq!(plain.unwrap().response_format, None);
    }
}
