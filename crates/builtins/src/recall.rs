//! `recall`: the notes of the session, all or those that hold a text.

use callgate_contract::{Effect, Kind, MethodError, Value};
use callgate_gate::{Call, Function};
use callgate_store::{Note, Store};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::moment::utc;

#[derive(Deserialize, JsonSchema)]
struct Recall {
    /// Text that the note's name or content holds, in any case; all notes if left out.
    query: Option<String>,
}

pub(crate) fn method(store: Store) -> Function {
    let handler = move |call, arguments| recall(store.clone(), call, arguments);
    callgate_gate::method("recall", Kind::Tool, handler)
        .doc("Look up what remember() kept in this chat.")
        .returns(
            "list[dict]",
            "The notes, sorted by name, each {\"name\": str, \"text\": str, \"written_at\": \
             datetime}. An empty list if there is none.",
        )
        .example("for note in recall(\"birthday\"):\n    print(note[\"text\"])")
        .effect(Effect::Pure)
        .untrusted()
}

async fn recall(store: Store, call: Call, arguments: Recall) -> Result<Value, MethodError> {
    let (notes, session) = (store.notes(), &call.caller.session);
    let found = match arguments.query {
        None => notes.list(session).await,
        Some(query) => notes.search(session, &query).await,
    };
    Ok(Value::List(
        found
            .map_err(MethodError::from)?
            .into_iter()
            .map(shown)
            .collect(),
    ))
}

fn shown(note: Note) -> Value {
    Value::Dict(vec![
        ("name".into(), note.name.into()),
        ("text".into(), note.text.into()),
        ("written_at".into(), utc(note.written_at)),
    ])
}
