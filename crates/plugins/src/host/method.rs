//! Any other method, by its name, and which there are: with the rights of whoever the plugin acts for.

use callgate_contract::{
    Arguments, Caller, Effect, JournalId, Kind, MethodError, Onlooker, Surface, Value, json,
};
use callgate_gate::{Call, CallRequest, Function, Gate, method as function};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value as Json, json};

use super::{failed, value};
use crate::context::{dict, text};

#[derive(Deserialize, JsonSchema)]
struct MethodCall {
    name: String,
    #[serde(default)]
    positional: Vec<Json>,
    #[serde(default)]
    named: Map<String, Json>,
}

pub(super) fn methods(gate: &Gate) -> Vec<Function> {
    let listing = listing(gate);
    // Weak: the method lives in the gate itself.
    let gate = gate.downgrade();
    let call = move |call: Call, made: MethodCall| {
        let gate = gate.upgrade();
        async move {
            let gate = gate.ok_or_else(|| failed("the host is being stopped"))?;
            make(&gate, call.caller, call.progress, made).await
        }
    };
    vec![
        function("method_call", Kind::Tool, call)
            .doc("Calls any method by its name, with the rights of whoever the plugin acts for.")
            .deadline(std::time::Duration::from_secs(3600)),
        listing,
    ]
}

#[derive(Deserialize, JsonSchema)]
struct KnownVersion {
    /// The version of the last answer; if nothing has changed since, there is nothing to say.
    #[serde(default)]
    version: Option<u64>,
}

fn listing(gate: &Gate) -> Function {
    let gate = gate.downgrade();
    let list = move |call: Call, known: KnownVersion| {
        let gate = gate.upgrade();
        async move {
            let gate = gate.ok_or_else(|| failed("the host is being stopped"))?;
            let version = *gate.changes().borrow();
            if known.version == Some(version) {
                return Ok(Value::Null);
            }
            let caller = Caller {
                surface: Surface::ToolCall,
                ..call.caller
            };
            let methods: Vec<Json> = gate
                .named(&caller)
                .iter()
                .map(|(name, method)| {
                    let info = method.info();
                    json!({
                        "name": name, "origin": info.origin.to_string(),
                        "description": info.description, "parameters": info.parameters,
                    })
                })
                .collect();
            value(json!({"version": version, "methods": methods}))
        }
    };
    function("method_list", Kind::Tool, list)
        .doc("The methods that a model might be offered here, or None if nothing has changed.")
        .effect(Effect::Pure)
}

async fn make(
    gate: &Gate,
    caller: Caller,
    progress: Onlooker,
    made: MethodCall,
) -> Result<Value, MethodError> {
    let arguments = Arguments {
        positional: made
            .positional
            .into_iter()
            .map(value)
            .collect::<Result<_, _>>()?,
        named: made
            .named
            .into_iter()
            .map(|(name, json)| Ok((name, value(json)?)))
            .collect::<Result<_, MethodError>>()?,
    };
    let caller = Caller {
        journal: JournalId::fresh(),
        ..caller
    };
    let request = CallRequest {
        progress,
        ..CallRequest::new(1, &made.name, arguments)
    };
    let outcome = gate.dispatch(&caller, request).await;
    let outcome = outcome.map_err(|error| {
        let told = MethodError::new(error.to_string());
        match error.detail() {
            Some(detail) => told.with_detail(detail),
            None => told,
        }
    })?;
    let parts = serde_json::to_value(&outcome.parts).map_err(failed)?;
    let kind = serde_json::to_value(outcome.kind).map_err(failed)?;
    Ok(dict(vec![
        ("value", outcome.value),
        ("kind", json::from_json(kind).map_err(failed)?),
        ("text", outcome.text.map_or(Value::Null, text)),
        ("parts", value(parts)?),
    ]))
}
