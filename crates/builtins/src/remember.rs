//! `remember`: a note of the session, kept for later turns.

use callgate_contract::{Change, Effect, Kind, MethodError, Reply};
use callgate_gate::{Call, Function};
use callgate_store::Notes;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::session::failed;

#[derive(Deserialize, JsonSchema)]
struct Remember {
    /// A short name to find the note by, such as "birthday". A note of that name is replaced.
    name: String,
    /// What to remember, in full sentences: it will be read without this conversation.
    text: String,
}

pub(crate) fn method() -> Function {
    callgate_gate::method("remember", Kind::Behavior, remember)
        .doc(
            "Keep a note for later conversations in this chat. Use it for what people tell you \
             about themselves and for what they ask you to keep in mind.",
        )
        .returns("str", "A sentence that says what was remembered.")
        .example("remember(\"birthday\", \"Ada's birthday is on 10 December.\")")
        .effect(Effect::Rows)
}

async fn remember(call: Call, arguments: Remember) -> Result<Reply, MethodError> {
    let Remember { name, text } = arguments;
    Notes::check(&name, &text).map_err(failed)?;
    let said = format!("Remembered '{name}': {text}");
    let session = call.caller.session;
    Ok(Reply {
        value: said.into(),
        changes: vec![Change::Remember {
            session,
            name,
            text,
        }],
    })
}
