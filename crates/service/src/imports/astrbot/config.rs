//! `cmd_config.json`: administrators, models, and which platforms there are.

use std::collections::BTreeSet;

use serde_json::{Map, Value as Json};

use super::{
    super::{Content, ForeignItem, ImportKind, ImportLine, Secrets},
    database::{Found, persona},
};
use crate::config::NewEntry;

/// Who uses AstrBot's own page.
const OF_ITS_PAGE: &str = "astrbot";
const WEBCHAT: &str = "webchat";

/// Those of old that never came into the database.
pub(super) fn personas(
    config: &Json,
    found: &Found,
    left_out: &mut Vec<ImportLine>,
) -> Vec<ForeignItem> {
    let stored = found.items.iter();
    let stored = stored.filter(|item| item.kind == ImportKind::Persona);
    let stored: BTreeSet<&str> = stored.map(|item| item.name.as_str()).collect();
    let mut items = Vec::new();
    for old in config["persona"].as_array().into_iter().flatten() {
        match persona(old) {
            Ok(read) => items.extend(read),
            Err(line) => left_out.push(line),
        }
    }
    items.retain(|item| !stored.contains(item.name.as_str()));
    items
}

/// An administrator there is an account on whatever platform; here it is one on one platform, which is the
/// only one, or the only one on which that account has talked to it.
pub(super) fn administrators(
    config: &Json,
    found: &Found,
    left_out: &mut Vec<ImportLine>,
) -> Vec<ForeignItem> {
    let platforms = config["platform"].as_array().into_iter().flatten();
    let platforms: BTreeSet<&str> = platforms
        .filter_map(|platform| platform["id"].as_str())
        .collect();
    let mut items = Vec::new();
    for account in config["admins_id"].as_array().into_iter().flatten() {
        let account = match account {
            Json::String(account) => account.trim().to_owned(),
            other => other.to_string(),
        };
        if account.is_empty() {
            continue;
        }
        let mut leave = |why: &str| {
            let kind = ImportKind::Administrator;
            left_out.push(ImportLine::left_out(kind, &account, why));
        };
        if account == OF_ITS_PAGE {
            leave(
                "it is the user of AstrBot's own page; here that is whoever has an operator's key",
            );
            continue;
        }
        let talked = found.accounts.iter();
        let talked: BTreeSet<&str> = talked
            .filter(|(platform, known)| *known == account && platform != WEBCHAT)
            .map(|(platform, _)| platform.as_str())
            .collect();
        let only = |names: &BTreeSet<&str>| match names.len() {
            1 => names.first().map(|name| (*name).to_owned()),
            _ => None,
        };
        let Some(platform) = only(&talked).or_else(|| only(&platforms)) else {
            leave("on which platform is not known: add PLATFORM:ACCOUNT to agent.administrators");
            continue;
        };
        items.push(ForeignItem {
            kind: ImportKind::Administrator,
            content: Content::Administrator(format!("{platform}:{account}")),
            notes: vec![format!("{platform}:{account}")],
            name: account,
        });
    }
    items
}

/// A provider is its own settings upon those of its source.
pub(super) fn models(
    config: &Json,
    secrets: Secrets,
    left_out: &mut Vec<ImportLine>,
) -> Vec<ForeignItem> {
    let sources = config["provider_sources"].as_array();
    let mut items = Vec::new();
    for provider in config["provider"].as_array().into_iter().flatten() {
        let Some(own) = provider.as_object() else {
            continue;
        };
        let source = own.get("provider_source_id").and_then(Json::as_str);
        let mut sources = sources.into_iter().flatten();
        let source = source.and_then(|id| sources.find(|it| it["id"].as_str() == Some(id)));
        let mut whole: Map<String, Json> = source
            .and_then(Json::as_object)
            .cloned()
            .unwrap_or_default();
        whole.extend(own.clone());
        let id = text(&whole, "id");
        match model(&whole, secrets) {
            Ok((entry, notes)) => items.push(ForeignItem {
                kind: ImportKind::Model,
                name: id.to_owned(),
                content: Content::Model(Box::new(entry), id.to_owned()),
                notes,
            }),
            Err(why) => left_out.push(ImportLine::left_out(ImportKind::Model, id, why)),
        }
    }
    items
}

fn model(whole: &Map<String, Json>, secrets: Secrets) -> Result<(NewEntry, Vec<String>), String> {
    let id = text(whole, "id");
    let wire = match text(whole, "type") {
        "anthropic_chat_completion" => Some("anthropic"),
        "googlegenai_chat_completion" => Some("gemini"),
        kind if kind.ends_with("_chat_completion") => None,
        kind => {
            return Err(format!(
                "'{kind}' is no model to chat with that is known here"
            ));
        }
    };
    if whole.get("enable") == Some(&Json::Bool(false)) {
        return Err("it is switched off there".to_owned());
    }
    let address = text(whole, "api_base").trim_end_matches('/');
    let address = match wire {
        // Ours are said without, and with.
        Some("anthropic") => address.trim_end_matches("/v1").to_owned(),
        Some("gemini") if !address.contains("/v1") => format!("{address}/v1beta"),
        _ => address.to_owned(),
    };
    if id.is_empty() || address.is_empty() {
        return Err("it has no id or no address".to_owned());
    }
    let name = match text(whole, "model") {
        "" => whole
            .get("model_config")
            .and_then(|it| it["model"].as_str()),
        name => Some(name),
    };
    let keys: Vec<&str> = match whole.get("key") {
        Some(Json::Array(keys)) => keys.iter().filter_map(Json::as_str).collect(),
        Some(Json::String(key)) => vec![key],
        _ => Vec::new(),
    };
    let keys: Vec<&str> = keys
        .into_iter()
        .filter(|key| !key.trim().is_empty())
        .collect();
    let mut entry = NewEntry::new(id, &address);
    entry.text("model", name);
    entry.text("wire", wire);
    let mut notes = Vec::new();
    match (keys.as_slice(), secrets) {
        ([], _) => {}
        (_, Secrets::LeftOut) => {
            return Err("it has a key: --with-secrets brings both".to_owned());
        }
        ([key, rest @ ..], Secrets::Taken) => {
            entry.secret(key.trim());
            if !rest.is_empty() {
                notes.push("only the first of its keys came".to_owned());
            }
        }
    }
    entry.settings()?;
    Ok((entry, notes))
}

/// Their secrets are for the programs that they were given to.
pub(super) fn platforms(config: &Json) -> Vec<ImportLine> {
    let platforms = config["platform"].as_array().into_iter().flatten();
    let line = |platform: &Json| {
        let id = platform["id"].as_str()?;
        let kind = platform["type"].as_str().unwrap_or_default();
        let why = format!(
            "a platform of type '{kind}': connect it under the id '{id}' with `callgate platform \
             add`, and its chats go on"
        );
        Some(ImportLine::left_out(ImportKind::Platform, id, why))
    };
    platforms.filter_map(line).collect()
}

fn text<'a>(table: &'a Map<String, Json>, field: &str) -> &'a str {
    table.get(field).and_then(Json::as_str).unwrap_or_default()
}
