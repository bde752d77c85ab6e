//! SillyTavern-NewAge's server: the settings of its clients, and which clients have keys. Its keys are kept as
//! hashes only, which nobody can turn back: a client gets a new one.

use std::path::Path;

use callgate_store::files::{Digest, EntryKind};
use serde_json::{Map, Value as Json};

use super::{
    Content, Foreign, ForeignItem, ImportKind, ImportLine, Secrets,
    reading::{MAX_ENTRIES, Origin},
};
use crate::ServiceError;

const SERVER: &str = "server_settings.json";
/// Of the server's settings: what clients that have no key may not read, as they may the rest.
const HIDDEN: [&str; 2] = ["clientKeys", "sillyTavernPassword"];

pub(super) fn read(path: &Path, secrets: Secrets) -> Result<Foreign, ServiceError> {
    let signs = ["settings/server_settings.json", "keys/clients.json"];
    let origin = Origin::find(path, &["server"], &signs, "SillyTavern-NewAge")?;
    let mut left_out = Vec::new();
    let mut items = settings(&origin, &mut left_out);
    items.extend(keys(&origin, secrets, &mut left_out));
    Ok(Foreign {
        origin,
        items,
        plugins: Vec::new(),
        left_out,
    })
}

fn settings(origin: &Origin, left_out: &mut Vec<ImportLine>) -> Vec<ForeignItem> {
    let entries = origin.folder.list("settings", MAX_ENTRIES);
    let entries = entries.unwrap_or_default().into_iter();
    let files = entries.filter(|it| it.kind == EntryKind::File && it.name.ends_with(".json"));
    let mut items = Vec::new();
    for file in files {
        let name = file.name;
        let read = match origin.json(&format!("settings/{name}")) {
            Ok(Some(Json::Object(settings))) => Ok(settings),
            Ok(_) => Err(format!("{name} is no JSON object")),
            Err(why) => Err(why),
        };
        let mut settings = match read {
            Ok(settings) => settings,
            Err(why) => {
                left_out.push(ImportLine::left_out(ImportKind::ClientSettings, name, why));
                continue;
            }
        };
        let notes = match name.as_str() {
            SERVER => hide(&mut settings),
            _ => trusted(&settings),
        };
        let mut text = serde_json::to_vec_pretty(&settings).unwrap_or_default();
        text.push(b'\n');
        items.push(ForeignItem {
            kind: ImportKind::ClientSettings,
            content: Content::Document {
                digest: Digest::of_file(&text),
                to: format!("remote/settings/{name}"),
                text,
            },
            name,
            notes,
        });
    }
    items
}

fn hide(settings: &mut Map<String, Json>) -> Vec<String> {
    let hidden = HIDDEN.iter();
    let hidden: Vec<&str> = hidden
        .filter(|field| settings.shift_remove(**field).is_some())
        .copied()
        .collect();
    let mut notes = vec!["address, port and safety are said by callgate.toml".to_owned()];
    if !hidden.is_empty() {
        notes.push(format!("without {}", hidden.join(" and ")));
    }
    notes
}

/// There a file makes a client trusted; here the operator does.
fn trusted(settings: &Map<String, Json>) -> Vec<String> {
    let is_trusted = settings.get("isTrust") == Some(&Json::Bool(true));
    let client = settings.get("clientId").and_then(Json::as_str);
    match client.filter(|_| is_trusted) {
        Some(client) => vec![format!(
            "trusted there; here `callgate client approve {client}` lets it in once it asks"
        )],
        None => Vec::new(),
    }
}

fn keys(origin: &Origin, secrets: Secrets, left_out: &mut Vec<ImportLine>) -> Vec<ForeignItem> {
    let clients = match origin.json("keys/clients.json") {
        Ok(Some(Json::Object(clients))) => clients,
        Ok(None) => return Vec::new(),
        read => {
            let why = read
                .err()
                .unwrap_or_else(|| "it is no JSON object".to_owned());
            left_out.push(ImportLine::left_out(
                ImportKind::Key,
                "keys/clients.json",
                why,
            ));
            return Vec::new();
        }
    };
    let mut items = Vec::new();
    for client in clients.into_iter().map(|(client, _)| client) {
        match secrets {
            Secrets::Taken => items.push(ForeignItem {
                kind: ImportKind::Key,
                content: Content::ClientKey(client.clone()),
                name: client,
                notes: Vec::new(),
            }),
            Secrets::LeftOut => {
                let why = "its key is kept as a hash: --with-secrets makes a new one and shows it";
                left_out.push(ImportLine::left_out(ImportKind::Key, client, why));
            }
        }
    }
    items
}
