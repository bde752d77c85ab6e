//! The direction of dependencies. An edge that is not in this table does not exist.

use std::{collections::BTreeMap, fs};

/// What each crate of the product may depend on.
const EDGES: &[(&str, &[&str])] = &[
    ("contract", &[]),
    ("jail", &[]),
    ("store", &["contract"]),
    ("models", &["contract"]),
    ("sandbox", &["contract"]),
    ("gate", &["contract", "store"]),
    ("builtins", &["contract", "store", "gate"]),
    ("platforms", &["contract"]),
    ("plugins", &["contract", "store", "gate"]),
    ("agent", &["contract", "store", "gate"]),
    (
        "service",
        &[
            "contract",
            "store",
            "gate",
            "builtins",
            "models",
            "sandbox",
            "platforms",
            "plugins",
            "agent",
        ],
    ),
    // Below the service only for types that it speaks in.
    ("server", &["contract", "store", "gate", "agent", "service"]),
    (
        "cli",
        &[
            "contract", "store", "gate", "builtins", "models", "sandbox", "plugins", "agent",
            "service", "server",
        ],
    ),
    ("testkit", &["contract", "store"]),
];

fn dependencies() -> BTreeMap<String, Vec<String>> {
    let crates = fs::read_dir(super::root().join("crates")).unwrap();
    let read = |folder: fs::DirEntry| {
        let manifest = fs::read_to_string(folder.path().join("Cargo.toml")).unwrap();
        let manifest: toml::Table = manifest.parse().unwrap();
        let tables = ["dependencies", "build-dependencies"].map(|table| manifest.get(table));
        let names = tables
            .into_iter()
            .flatten()
            .filter_map(toml::Value::as_table);
        let ours = names
            .flat_map(|table| table.keys())
            .filter_map(|name| name.strip_prefix("callgate-").map(str::to_owned));
        let name = folder.file_name().into_string().unwrap();
        (name, ours.collect())
    };
    crates.map(|folder| read(folder.unwrap())).collect()
}

#[test]
fn crates_depend_only_downward() {
    let allowed: BTreeMap<_, _> = EDGES.iter().copied().collect();
    let found = dependencies();
    assert!(
        found.contains_key("contract") && found["cli"].len() > 3,
        "{found:?}"
    );
    for (from, targets) in &found {
        let known = allowed.get(from.as_str());
        let known = known.unwrap_or_else(|| panic!("crates/{from} is not in the table of edges"));
        for to in targets {
            assert!(
                known.contains(&to.as_str()),
                "{from} must not depend on {to}"
            );
        }
    }
}

#[test]
fn folder_and_package_have_one_name() {
    for entry in fs::read_dir(super::root().join("crates")).unwrap() {
        let folder = entry.unwrap();
        let manifest = fs::read_to_string(folder.path().join("Cargo.toml")).unwrap();
        let name = folder.file_name().into_string().unwrap();
        assert!(
            manifest.contains(&format!("name = \"callgate-{name}\"")),
            "{name}"
        );
    }
}
