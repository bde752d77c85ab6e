//! The OpenAPI document in the documentation is the one that is served.

use std::{path::Path, sync::Arc};

use callgate_gate::{Gate, GatePolicy};
use callgate_server::{Api, Live, Logs, Operations, Remote, remote::RemoteSettings};
use callgate_testkit::Home;

#[tokio::test]
async fn the_document_is_up_to_date() {
    let home = Home::sqlite();
    let store = home.open().await;
    let gate = Gate::new(store.clone(), GatePolicy::default());
    let remote = Remote::new(store, gate, RemoteSettings::default());
    let live = Arc::new(Live::default());
    let api = Api::new(remote, Operations::default(), live, Logs::default());
    let served = format!("{:#}\n", api.document());
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/openapi.json");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&file, &served).unwrap();
    }
    let written = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(
        written == served,
        "stale; UPDATE_DOCS=1 writes docs/openapi.json anew"
    );
}
