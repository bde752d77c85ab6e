//! `/sillytavern`: where a SillyTavern client asks for its key. It gets one at once; what the key is
//! good for the operator decides.

use serde_json::{Value as Json, json};

use super::{
    Call, Namespace, clients,
    newage::{fine, goodbye, named},
};

pub(super) fn namespace() -> Namespace {
    Namespace::new("/sillytavern")
        .on_joined(clients::moved)
        .on_left(clients::moved)
        .on("IDENTIFY_SILLYTAVERN", identify)
        .on("CLIENT_DISCONNECTED", goodbye)
}

/// For itself only: a client that asks for another's key is told no more than that.
async fn identify(call: Call) -> Result<Json, String> {
    let client = named(&call, &["clientId", "identity"])?;
    if client != call.peer.client() {
        return Err("You have no right to get others' keys.".to_owned());
    }
    let key = call.remote.clients().identify(&call.peer).await?;
    Ok(fine(json!({ "key": key })))
}
