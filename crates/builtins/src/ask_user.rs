//! `ask_user`: a question into the session's outbox. Nothing waits: the answer is the next message.

use callgate_contract::{Change, Effect, Kind, Message, MethodError, Part, Reply, Value};
use callgate_gate::{Call, Function};
use schemars::JsonSchema;
use serde::Deserialize;

/// More than people would read through.
const MAX_OPTIONS: usize = 20;

#[derive(Deserialize, JsonSchema)]
struct AskUser {
    /// The question, as people will read it.
    #[schemars(length(min = 1))]
    question: String,
    /// Answers to choose from, shown as a numbered list; people may still answer otherwise.
    options: Option<Vec<String>>,
}

pub(crate) fn method() -> Function {
    callgate_gate::method("ask_user", Kind::Tool, ask_user)
        .doc(
            "Ask the people in this chat for what you need to know to go on. It does not wait: \
             the answer comes as their next message, which you are shown then. So end your code \
             here.",
        )
        .returns("None", "Nothing: the answer is not known yet.")
        .example("ask_user(\"Which month do you mean?\", [\"May\", \"June\"])")
        .effect(Effect::Rows)
}

async fn ask_user(call: Call, arguments: AskUser) -> Result<Reply, MethodError> {
    let options = arguments.options.unwrap_or_default();
    let message = Message {
        session: call.caller.session,
        parts: vec![Part::text(question(&arguments.question, &options)?)],
    };
    Ok(Reply {
        value: Value::Null,
        changes: vec![Change::Send { message }],
    })
}

fn question(question: &str, options: &[String]) -> Result<String, MethodError> {
    if question.trim().is_empty() {
        return Err(MethodError::new("the question is blank"));
    }
    if options.len() > MAX_OPTIONS {
        return Err(MethodError::new(format!(
            "{} options are more than anybody reads: give at most {MAX_OPTIONS}",
            options.len()
        )));
    }
    let mut text = question.to_owned();
    for (place, option) in options.iter().enumerate() {
        if option.trim().is_empty() {
            return Err(MethodError::new(format!("options[{place}] is blank")));
        }
        text += &format!("\n{}. {option}", place + 1);
    }
    Ok(text)
}
