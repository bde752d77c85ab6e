//! `send_message`: a text into the session's outbox.

use callgate_contract::{Change, Effect, Kind, Message, MethodError, Part, Reply, Value};
use callgate_gate::{Call, Function};
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
struct SendMessage {
    /// What the people in the chat will read.
    #[schemars(length(min = 1))]
    text: String,
}

pub(crate) fn method() -> Function {
    callgate_gate::method("send_message", Kind::Tool, send_message)
        .doc(
            "Say something in this chat. What your code prints is seen by you alone; people see \
             only what is sent. Each call is one message.",
        )
        .returns(
            "None",
            "Nothing. The message is stored and will be delivered in order.",
        )
        .example("send_message(\"The report is ready: 3 files, 12 pages.\")")
        .effect(Effect::Rows)
}

async fn send_message(call: Call, arguments: SendMessage) -> Result<Reply, MethodError> {
    if arguments.text.trim().is_empty() {
        return Err(MethodError::new(
            "the text is blank: there is nothing to send",
        ));
    }
    let message = Message {
        session: call.caller.session,
        parts: vec![Part::text(arguments.text)],
    };
    Ok(Reply {
        value: Value::Null,
        changes: vec![Change::Send { message }],
    })
}
