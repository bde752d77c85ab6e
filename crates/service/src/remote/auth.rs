//! `/auth`: which SillyTavern clients are here.

use serde_json::json;

use super::{
    Call, Namespace, clients,
    newage::{fine, goodbye, with_key},
    newage_texts,
    rooms::policy::extensions,
};

pub(super) fn namespace() -> Namespace {
    Namespace::new("/auth")
        .admits(with_key)
        .on_joined(clients::moved)
        .on_left(clients::moved)
        .on("GET_CLIENT_KEY", clients::key)
        .on("GET_SILLYTAVERN_EXTENSION", present)
        .on("CLIENT_DISCONNECTED", goodbye)
}

async fn present(call: Call) -> Result<serde_json::Value, String> {
    let extensions = extensions(&call.remote);
    if extensions.is_empty() {
        return Err(newage_texts::NO_EXTENSION.to_owned());
    }
    // Compat(newage): the second is what its monitor page reads.
    Ok(fine(
        json!({ "extensions": extensions, "allTheSTSocket": extensions }),
    ))
}
