//! The OpenAPI document in the documentation is the one that is served.

use std::path::Path;

use callgate_server::Api;
use callgate_service::{Service, Settings};
use callgate_testkit::Home;

#[tokio::test]
async fn the_document_is_up_to_date() {
    let home = Home::sqlite();
    let service = Service::open(&Settings::at(home.data().to_owned()))
        .await
        .unwrap();
    let api = Api::new(service);
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
