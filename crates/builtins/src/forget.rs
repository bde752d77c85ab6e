//! `forget`: a note of the session is gone.

use callgate_contract::{Change, Effect, Kind, MethodError, Reply};
use callgate_gate::{Call, Function};
use callgate_store::{Note, Store};
use schemars::JsonSchema;
use serde::Deserialize;

/// Names that an error lists.
const LISTED: usize = 20;

#[derive(Deserialize, JsonSchema)]
struct Forget {
    /// The name it was remembered by.
    name: String,
}

pub(crate) fn method(store: Store) -> Function {
    let handler = move |call, arguments| forget(store.clone(), call, arguments);
    callgate_gate::method("forget", Kind::Behavior, handler)
        .doc("Delete a note that remember() kept, because it is wrong, or somebody asked for it.")
        .returns("str", "A sentence that says what was forgotten.")
        .example("forget(\"birthday\")")
        .effect(Effect::Rows)
}

async fn forget(store: Store, call: Call, arguments: Forget) -> Result<Reply, MethodError> {
    let (session, name) = (call.caller.session, arguments.name);
    if store
        .notes()
        .get(&session, &name)
        .await
        .map_err(MethodError::from)?
        .is_none()
    {
        let notes = store
            .notes()
            .list(&session)
            .await
            .map_err(MethodError::from)?;
        return Err(MethodError::new(unknown(&name, &notes)));
    }
    Ok(Reply {
        value: format!("Forgot '{name}'.").into(),
        changes: vec![Change::Forget { session, name }],
    })
}

fn unknown(name: &str, notes: &[Note]) -> String {
    let names: Vec<&str> = notes
        .iter()
        .take(LISTED)
        .map(|note| note.name.as_str())
        .collect();
    match notes.len() {
        0 => format!("no note '{name}': nothing is remembered here"),
        count if count > LISTED => {
            format!(
                "no note '{name}'; of {count} notes the first are: {}",
                names.join(", ")
            )
        }
        _ => format!("no note '{name}'; there are: {}", names.join(", ")),
    }
}
