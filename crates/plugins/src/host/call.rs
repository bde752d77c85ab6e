//! The call that the plugin serves at this moment, as far as its code has something to say of it.

use callgate_contract::{Effect, Kind, Progress, Value};
use callgate_gate::{Call, Function, method as function};
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
struct ProgressReport {
    /// In whatever the method counts.
    done: f64,
    /// How much there is to do in all, where that is known.
    #[serde(default)]
    total: Option<f64>,
    #[serde(default)]
    text: String,
}

pub(super) fn methods() -> Vec<Function> {
    let progress = |call: Call, told: ProgressReport| async move {
        call.progress.tell(Progress {
            done: told.done,
            total: told.total,
            text: told.text,
        });
        Ok(Value::Null)
    };
    vec![
        function("call_progress", Kind::Tool, progress)
            .doc("Tells whoever called the plugin's method how far it has come.")
            .effect(Effect::Pure)
            .leaf(),
    ]
}
