//! `cancel_timer`: a timer of the session will not fire.

use callgate_contract::{Change, Effect, Kind, MethodError, Reply};
use callgate_gate::{Call, Function};
use callgate_store::Store;
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
struct CancelTimer {
    /// The timer's id, as set_timer() and list_timers() tell it.
    id: String,
}

pub(crate) fn method(store: Store) -> Function {
    let handler = move |call, arguments| cancel_timer(store.clone(), call, arguments);
    callgate_gate::method("cancel_timer", Kind::Behavior, handler)
        .doc("Cancel a timer that set_timer() set in this chat.")
        .returns("str", "A sentence that says what was cancelled.")
        .example(
            "for timer in list_timers():\n    if \"cake\" in timer[\"text\"]:\n        \
             cancel_timer(timer[\"id\"])",
        )
        .effect(Effect::Rows)
}

async fn cancel_timer(
    store: Store,
    call: Call,
    arguments: CancelTimer,
) -> Result<Reply, MethodError> {
    let session = call.caller.session;
    let waiting = store
        .timers()
        .list(&session)
        .await
        .map_err(MethodError::from)?;
    let named = |id: &str| waiting.iter().find(|timer| timer.id.to_string() == id);
    let Some(timer) = named(&arguments.id) else {
        return Err(MethodError::new(format!(
            "no timer '{}' is waiting in this chat: list_timers() shows those that are",
            arguments.id
        )));
    };
    Ok(Reply {
        value: format!("Cancelled timer {}: {}", timer.id, timer.text).into(),
        changes: vec![Change::CancelTimer {
            session,
            id: timer.id,
        }],
    })
}
