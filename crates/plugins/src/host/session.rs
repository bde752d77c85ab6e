//! What is known of a session: where its files lie and what was chosen in it.

use callgate_contract::{MethodError, Value};
use callgate_gate::Function;
use callgate_store::Store;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{failed, leaf, session_key};
use crate::context::{dict, text};

#[derive(Deserialize, JsonSchema)]
struct SessionRequest {
    session: String,
}

pub(super) fn methods(store: &Store) -> Vec<Function> {
    vec![leaf(
        "session_folders",
        "Where a session's shared and uploaded files lie.",
        store,
        folders,
    )]
}

async fn folders(store: Store, of: SessionRequest) -> Result<Value, MethodError> {
    let session = session_key(&of.session)?;
    let home = store.sessions().open(&session).await.map_err(failed)?;
    store.files().session(&home).map_err(failed)?;
    let folder = store.files().sessions_path().join(home.id.to_string());
    let folder = |name: &str| text(folder.join(name).display().to_string());
    Ok(dict(vec![
        ("shared", folder("shared")),
        ("uploads", folder("uploads")),
    ]))
}
