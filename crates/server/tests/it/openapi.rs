//! The OpenAPI document in the documentation is the one that is served, and has every operation.

use std::{collections::BTreeSet, path::Path};

use callgate_server::Api;
use callgate_service::{Service, Settings, operations::OPERATIONS};
use callgate_testkit::Home;
use serde_json::Value as Json;

/// What only the command line asks, and why no route leads there.
const WITHOUT_ROUTE: &[&str] = &[
    // Writes to a path on this machine.
    "sessions.export",
    "backups.create",
    // Reads a folder on this machine, and tells of what it finds there.
    "imports.create",
    "imports.list",
    "imports.undo",
    // Shows secrets.
    "plugins.configure",
    // The page loads one at a time.
    "plugins.reload_all",
    // The page has a session's parts one by one, and forks a conversation.
    "sessions.describe",
    "sessions.fork",
    // Their state is for `callgate mcp list`.
    "mcp_servers.list",
];

async fn document() -> Json {
    let home = Home::sqlite();
    let service = Service::open(&Settings::at(home.data().to_owned()))
        .await
        .unwrap();
    Api::new(service).document()
}

#[tokio::test]
async fn every_operation_has_a_name_of_its_own_and_a_route() {
    let names: BTreeSet<&str> = OPERATIONS.iter().map(|it| it.name).collect();
    assert_eq!(names.len(), OPERATIONS.len(), "two of one name");
    let document = document().await;
    let verbs = document["paths"].as_object().unwrap().values();
    let routes = verbs.flat_map(|verbs| verbs.as_object().unwrap().values());
    let mut reached: BTreeSet<&str> = routes
        .filter_map(|route| route["x-operation"].as_str())
        .collect();
    for name in WITHOUT_ROUTE {
        assert!(reached.insert(name), "{name} has a route");
    }
    let unreached: Vec<_> = names.difference(&reached).collect();
    let unlisted: Vec<_> = reached.difference(&names).collect();
    assert!(
        unreached.is_empty() && unlisted.is_empty(),
        "without a route: {unreached:?}; not in OPERATIONS: {unlisted:?}"
    );
}

#[tokio::test]
async fn the_document_is_up_to_date() {
    let served = format!("{:#}\n", document().await);
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
