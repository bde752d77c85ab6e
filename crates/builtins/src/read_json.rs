//! `read_json`: a document that `save_json` keeps.

use callgate_contract::{Effect, Kind, MethodError, Value, json};
use callgate_gate::{Call, Function};
use callgate_store::Store;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value as Json};

use crate::session::{failed, folders};

#[derive(Deserialize, JsonSchema)]
struct ReadJson {
    /// The document's name, such as "scores.json" or "games/scores.json".
    name: String,
}

pub(crate) fn method(store: Store) -> Function {
    let handler = move |call, arguments| read_json(store.clone(), call, arguments);
    callgate_gate::method("read_json", Kind::Tool, handler)
        .doc("Read a document that save_json() stored in this chat.")
        .returns(
            "dict",
            "The whole document; an empty dict if nothing was saved by that name.",
        )
        .example("scores = read_json(\"scores.json\")\nprint(scores.get(\"ada\", 0))")
        .effect(Effect::Pure)
        .untrusted()
}

async fn read_json(store: Store, call: Call, arguments: ReadJson) -> Result<Value, MethodError> {
    let folder = folders(&store, &call).await?.data;
    let document = store
        .files()
        .read_json(&folder, &arguments.name)
        .map_err(failed)?;
    value(document.unwrap_or_default())
}

/// The document as the caller gets it; what JSON has no form for comes back as it was saved.
pub(crate) fn value(document: Map<String, Json>) -> Result<Value, MethodError> {
    json::from_json(Json::Object(document)).map_err(failed)
}
