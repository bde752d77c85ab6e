//! `list_timers`: what the session still waits for.

use callgate_contract::{Effect, Kind, MethodError, Value};
use callgate_gate::{Call, Function};
use callgate_store::{Store, Timer};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::moment::utc;

#[derive(Deserialize, JsonSchema)]
struct ListTimers {}

pub(crate) fn method(store: Store) -> Function {
    let handler = move |call, arguments| list_timers(store.clone(), call, arguments);
    callgate_gate::method("list_timers", Kind::Tool, handler)
        .doc("The timers that wait in this chat.")
        .returns(
            "list[dict]",
            "The next one first, each {\"id\": str, \"due_at\": datetime, \"text\": str}. An \
             empty list if there is none.",
        )
        .example("for timer in list_timers():\n    print(timer[\"due_at\"], timer[\"text\"])")
        .effect(Effect::Pure)
        .untrusted()
}

async fn list_timers(store: Store, call: Call, _: ListTimers) -> Result<Value, MethodError> {
    let waiting = store.timers().list(&call.caller.session).await;
    let waiting = waiting.map_err(MethodError::from)?.into_iter();
    Ok(Value::List(waiting.map(shown).collect()))
}

fn shown(timer: Timer) -> Value {
    Value::Dict(vec![
        ("id".into(), timer.id.to_string().into()),
        ("due_at".into(), utc(timer.due_at)),
        ("text".into(), timer.text.into()),
    ])
}
