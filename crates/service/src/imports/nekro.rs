//! Nekro Agent's data folder: plugins with what they keep, administrators and models. Presets, histories and
//! values of plugins are in its PostgreSQL database and not in a folder.

mod plugins;
mod written;

use std::path::Path;

use super::{Content, Foreign, ForeignItem, ImportKind, ImportLine, Secrets, reading::Origin};
use crate::{ServiceError, config::NewEntry};
use written::Settings;

const CONFIG: &str = "configs/nekro-agent.yaml";
/// What chats of QQ begin with there.
const ONEBOT: &str = "onebot_v11";

const IN_THE_DATABASE: [(ImportKind, &str, &str); 3] = [
    (
        ImportKind::Persona,
        "presets",
        "they are in PostgreSQL and not in the folder: copy their text with `callgate persona set`",
    ),
    (
        ImportKind::Conversation,
        "histories",
        "they are in PostgreSQL and not in the folder",
    ),
    (
        ImportKind::PluginValue,
        "values of plugins",
        "they are in PostgreSQL and not in the folder",
    ),
];

pub(super) fn read(path: &Path, secrets: Secrets) -> Result<Foreign, ServiceError> {
    let below = ["nekro_agent", "data/nekro_agent"];
    let origin = Origin::find(path, &below, &[CONFIG, "plugins/workdir"], "Nekro Agent")?;
    let mut left_out = Vec::new();
    let settings = match origin.bytes(CONFIG) {
        Ok(bytes) => Settings::read(&bytes.unwrap_or_default()),
        Err(why) => {
            left_out.push(ImportLine::left_out(ImportKind::Other, CONFIG, why));
            Settings::default()
        }
    };
    let mut items: Vec<ForeignItem> = settings.list("SUPER_USERS").map(administrator).collect();
    for (name, group) in settings.tables("MODEL_GROUPS") {
        match model(&name, &group, secrets) {
            Ok(entry) => items.push(ForeignItem {
                kind: ImportKind::Model,
                content: Content::Model(Box::new(entry), name.clone()),
                name,
                notes: Vec::new(),
            }),
            Err(why) => left_out.push(ImportLine::left_out(ImportKind::Model, name, why)),
        }
    }
    let enabled: Vec<String> = settings.list("PLUGIN_ENABLED").collect();
    let plugins = plugins::read(&origin, &enabled, &mut left_out);
    let why = "connect it under this id with `callgate platform add`, and plugins know its chats";
    left_out.push(ImportLine::left_out(ImportKind::Platform, ONEBOT, why));
    for (kind, name, why) in IN_THE_DATABASE {
        left_out.push(ImportLine::left_out(kind, name, why));
    }
    Ok(Foreign {
        origin,
        items,
        plugins,
        left_out,
    })
}

/// Compat(nekro): administrators are accounts of QQ, wherever else the bot is.
fn administrator(account: String) -> ForeignItem {
    let here = format!("{ONEBOT}:{account}");
    ForeignItem {
        kind: ImportKind::Administrator,
        name: account,
        content: Content::Administrator(here.clone()),
        notes: vec![here],
    }
}

fn model(name: &str, group: &written::Table, secrets: Secrets) -> Result<NewEntry, String> {
    let text = |field: &str| group.get(field).map(String::as_str).unwrap_or_default();
    if !matches!(text("MODEL_TYPE"), "chat" | "") {
        return Err(format!("'{}' is no model to chat with", text("MODEL_TYPE")));
    }
    let mut entry = NewEntry::new(name, text("BASE_URL").trim_end_matches('/'));
    if text("BASE_URL").is_empty() {
        return Err("it has no address".to_owned());
    }
    entry.text(
        "model",
        Some(text("CHAT_MODEL")).filter(|it| !it.is_empty()),
    );
    match (text("API_KEY"), secrets) {
        ("", _) => {}
        (_, Secrets::LeftOut) => return Err("it has a key: --with-secrets brings both".to_owned()),
        (key, Secrets::Taken) => entry.secret(key),
    }
    entry.accepts(text("ENABLE_VISION") == "true", false);
    entry.settings()?;
    Ok(entry)
}
