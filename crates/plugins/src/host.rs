//! What plugins may ask of the host: methods like any other, seen by plugins only. One file per noun.
//! Those here are answered from our own rows; whatever waits for a model or a person is the agent's.

mod call;
mod conversation;
mod data;
mod method;
mod persona;
mod plugin;
mod preference;
mod query;
mod render;
mod session;
mod timer;

use std::sync::{Arc, Weak};

use callgate_contract::{Effect, Exposure, Kind, Method, MethodError, SessionKey, Value, json};
use callgate_gate::{Call, Function, Gate, method as function};
use callgate_store::Store;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value as Json;

pub(crate) use query::users::is_shunned;

use crate::plugins::Inner;

pub(crate) fn all(store: &Store, gate: &Gate, plugins: &Weak<Inner>) -> Vec<Arc<dyn Method>> {
    let nouns = [
        call::methods(),
        conversation::methods(store),
        data::methods(store),
        method::methods(gate),
        persona::methods(store),
        plugin::methods(plugins),
        preference::methods(store),
        query::methods(store),
        render::methods(plugins),
        session::methods(store),
        timer::methods(store, plugins),
    ];
    nouns
        .into_iter()
        .flatten()
        .map(|method| Arc::new(method.exposure(Exposure::PLUGINS)) as Arc<dyn Method>)
        .collect()
}

/// A method that is answered from rows alone. Repeating one changes nothing more, so that the call
/// of the plugin, which is on record, stands for it.
fn leaf<A, F, Running>(name: &str, doc: &str, store: &Store, answer: F) -> Function
where
    A: DeserializeOwned + JsonSchema + Send,
    F: Fn(Store, A) -> Running + Send + Sync + 'static,
    Running: Future<Output = Result<Value, MethodError>> + Send + 'static,
{
    let store = store.clone();
    let answer = move |_: Call, arguments: A| answer(store.clone(), arguments);
    function(name, Kind::Tool, answer)
        .doc(doc)
        .effect(Effect::Idempotent)
        .leaf()
}

/// Takes nothing.
#[derive(serde::Deserialize, JsonSchema)]
struct NoArguments {}

fn failed(error: impl std::fmt::Display) -> MethodError {
    MethodError::new(error.to_string())
}

/// A session in either spelling.
fn session_key(text: &str) -> Result<SessionKey, MethodError> {
    text.parse().map_err(failed)
}

fn value(json: Json) -> Result<Value, MethodError> {
    json::from_json(json).map_err(failed)
}
