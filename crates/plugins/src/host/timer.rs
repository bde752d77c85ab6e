//! Timers: a text that arrives in a session at its time.

use callgate_contract::{MethodError, Value};
use callgate_gate::Function;
use callgate_store::{NewTimer, Store};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Deserialize;
use uuid::Uuid;

use super::{failed, leaf, session_key};
use crate::context::{dict, text};

#[derive(Deserialize, JsonSchema)]
struct New {
    session: String,
    text: String,
    /// Seconds since 1970.
    due: f64,
    #[serde(default)]
    user: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
struct Of {
    session: String,
}

#[derive(Deserialize, JsonSchema)]
struct One {
    session: String,
    id: String,
}

pub(super) fn methods(store: &Store) -> Vec<Function> {
    vec![
        leaf(
            "timer_set",
            "A text that arrives in a session at its time; the timer's id.",
            store,
            set,
        ),
        leaf(
            "timer_list",
            "The timers that wait in a session.",
            store,
            list,
        ),
        leaf(
            "timer_cancel",
            "Cancels a timer; false if none such waits.",
            store,
            cancel,
        ),
    ]
}

async fn set(store: Store, new: New) -> Result<Value, MethodError> {
    let millis = (new.due * 1000.0).round();
    #[allow(
        clippy::cast_possible_truncation,
        reason = "saturates, and is checked next"
    )]
    let due_at = Timestamp::from_millisecond(millis as i64).map_err(failed)?;
    let timer = NewTimer {
        id: Uuid::now_v7(),
        session: session_key(&new.session)?,
        user: new.user.unwrap_or_default(),
        due_at,
        text: new.text,
    };
    store.timers().set(&timer).await.map_err(failed)?;
    Ok(text(timer.id.to_string()))
}

async fn list(store: Store, of: Of) -> Result<Value, MethodError> {
    let session = session_key(&of.session)?;
    let timers = store.timers().list(&session).await.map_err(failed)?;
    let timers = timers.into_iter().map(|timer| {
        dict(vec![
            ("id", text(timer.id.to_string())),
            ("session", text(timer.session.to_string())),
            ("user", text(timer.user)),
            ("text", text(timer.text)),
            ("due", Value::Int(timer.due_at.as_second())),
        ])
    });
    Ok(Value::List(timers.collect()))
}

/// False if none such waits.
async fn cancel(store: Store, one: One) -> Result<Value, MethodError> {
    let session = session_key(&one.session)?;
    let id: Uuid = one.id.parse().map_err(failed)?;
    let cancelled = store.timers().cancel(&session, id).await;
    cancelled.map(Value::Bool).map_err(failed)
}
