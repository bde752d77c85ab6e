//! The one table of what each way in needs, held against what is really served, and called: every route,
//! event, verb, request and command, with a key that holds everything but what is needed, with one that is
//! wrong, expired or revoked, and with one that holds no more than that.

mod control;
mod http;
mod mcp;
mod site;
mod socket_io;

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use callgate_server::{Site, Surfaces, served_routes, table};
use callgate_service::{Capability, Entry, Service, Settings, Surface};
use regex::Regex;
use tempfile::TempDir;

/// The table, and the routes of the router that it is of.
fn read_table() -> (Vec<Entry>, String) {
    let home = TempDir::with_prefix("callgate-table-").unwrap();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let settings = Settings::at(home.path().to_owned());
        let service = Service::open(&settings).await.unwrap();
        let site = Site::new(Surfaces::new(service));
        (table(&site), served_routes(site))
    })
}

/// Those of one surface, by name.
fn entries(surface: Surface) -> Vec<(String, Vec<Capability>)> {
    let (table, _) = read_table();
    let of = table.into_iter().filter(|entry| entry.surface == surface);
    of.map(|entry| (entry.name, entry.needs)).collect()
}

/// `METHOD path` of everything in a router's debug text.
fn routes(text: &str) -> BTreeSet<String> {
    // Behind it, what answers where there is no route.
    let (text, _) = text.split_once("fallback_router:").unwrap();
    let paths = Regex::new(r#"RouteId\((\d+)\): "([^"]+)""#).unwrap();
    let paths: BTreeMap<&str, &str> = paths
        .captures_iter(text)
        .map(|found| found.extract())
        .map(|(_, [id, path])| (id, path))
        .collect();
    let served =
        Regex::new(r"RouteId\((\d+)\): (Route\b|MethodRouter\(MethodRouter \{([^}]*)\})").unwrap();
    let mut routes = BTreeSet::new();
    for found in served.captures_iter(text) {
        let path = paths[&found[1]];
        let methods = found.get(3).map_or("", |methods| methods.as_str());
        let verbs = [
            "get", "post", "put", "patch", "delete", "head", "options", "trace", "connect",
        ];
        let set = |verb: &&str| {
            methods.contains(&format!("{verb}: Route"))
                || methods.contains(&format!("{verb}: Boxed"))
        };
        let named: Vec<&str> = verbs.into_iter().filter(|verb| set(verb)).collect();
        if named.is_empty() {
            routes.insert(format!("ANY {path}"));
        }
        routes.extend(
            named
                .iter()
                .map(|verb| format!("{} {path}", verb.to_uppercase())),
        );
    }
    assert_eq!(paths.len(), served.captures_iter(text).count());
    routes
}

#[test]
fn what_is_served_is_in_the_table_and_nothing_else() {
    let (table, router) = read_table();
    let served = routes(&router);
    assert!(served.len() > 100, "{served:?}");
    let listed = table.iter().filter(|entry| entry.surface == Surface::Http);
    let listed: BTreeSet<String> = listed.map(|entry| entry.name.clone()).collect();
    let (unlisted, gone): (Vec<_>, Vec<_>) = (
        served.difference(&listed).collect(),
        listed.difference(&served).collect(),
    );
    assert!(
        unlisted.is_empty() && gone.is_empty(),
        "not in the table: {unlisted:?}; not served: {gone:?}"
    );
    let names: BTreeSet<_> = table.iter().map(|it| (it.surface, &it.name)).collect();
    assert_eq!(names.len(), table.len(), "each is named once");
}

#[test]
fn the_table_in_the_documentation_is_up_to_date() {
    const MARK: &str = "<!-- From here on made by a test: UPDATE_DOCS=1 writes it anew. -->\n";
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/keys.md");
    let page = std::fs::read_to_string(&file).unwrap();
    let (ours, _) = page.split_once(MARK).unwrap();
    let written = format!("{ours}{MARK}{}", in_words(&read_table().0));
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&file, &written).unwrap();
    }
    let page = std::fs::read_to_string(&file).unwrap();
    assert!(
        page == written,
        "stale; UPDATE_DOCS=1 writes docs/keys.md anew"
    );
}

/// What everybody may have is left out: the page alone is many files.
fn in_words(table: &[Entry]) -> String {
    let surfaces = [
        (Surface::Http, "HTTP"),
        (Surface::SocketIo, "Socket.IO"),
        (Surface::Mcp, "MCP"),
        (Surface::Control, "The control socket"),
        (Surface::ChatCommand, "Commands in a chat that people share"),
    ];
    let mut page = String::new();
    for (surface, title) in surfaces {
        let mut rows: BTreeMap<&[Capability], BTreeSet<&str>> = BTreeMap::new();
        let of = table.iter().filter(|entry| entry.surface == surface);
        for entry in of.filter(|entry| entry.needs != [Capability::Anyone]) {
            rows.entry(&entry.needs).or_default().insert(&entry.name);
        }
        page += &format!("\n## {title}\n\n| needs | |\n|---|---|\n");
        for (needs, names) in rows {
            let needs: Vec<String> = needs.iter().map(|one| format!("{one:?}")).collect();
            let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
            page += &format!("| {} | {} |\n", needs.join(" or "), names.join("<br>"));
        }
    }
    page
}
