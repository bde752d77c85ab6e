//! `save_json`: keys into a document of the session. Setting the same keys again changes nothing,
//! so a call whose outcome a crash hid is simply repeated.

use callgate_contract::{Effect, Kind, MethodError, Value};
use callgate_gate::{Call, Function};
use callgate_store::Store;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value as Json};

use crate::{
    read_json::value,
    session::{failed, folders},
};

#[derive(Deserialize, JsonSchema)]
struct SaveJson {
    /// The document's name, such as "scores.json" or "games/scores.json".
    name: String,
    /// The keys to set. Others in the document stay; a value that is itself a dict is replaced.
    data: Map<String, Json>,
}

pub(crate) fn method(store: Store) -> Function {
    let handler = move |call, arguments| save_json(store.clone(), call, arguments);
    callgate_gate::method("save_json", Kind::Tool, handler)
        .doc(
            "Store data of this chat as a named JSON document, for later runs and turns. The keys \
             are merged into what is there, all at once.",
        )
        .returns("dict", "The whole document as it is now.")
        .example("save_json(\"scores.json\", {\"ada\": 3})")
        .effect(Effect::Idempotent)
}

async fn save_json(store: Store, call: Call, arguments: SaveJson) -> Result<Value, MethodError> {
    let folder = folders(&store, &call).await?.data;
    let SaveJson { name, data } = arguments;
    let document = store.files().merge_json(&folder, &name, data).await;
    value(document.map_err(failed)?)
}
