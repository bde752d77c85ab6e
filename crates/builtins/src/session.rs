//! The caller's session in the store, and the store's errors in a method's mouth.

use std::fmt::Display;

use callgate_contract::MethodError;
use callgate_gate::Call;
use callgate_store::{Store, StoreError, files::SessionFolders};

/// The folders of the session the call was made in.
pub(crate) async fn folders(store: &Store, call: &Call) -> Result<SessionFolders, MethodError> {
    let session = store.sessions().open(&call.caller.session).await;
    let folders = store.files().session(&session?);
    folders.map_err(|error| StoreError::from(error).into())
}

pub(crate) fn failed(error: impl Display) -> MethodError {
    MethodError::new(error.to_string())
}
