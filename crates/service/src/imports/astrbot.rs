//! AstrBot's data folder: `data_v4.db`, `cmd_config.json`, `plugins`, `config` and `plugin_data`.

mod config;
mod database;
mod plugins;

use std::path::Path;

use super::{Foreign, ImportKind, ImportLine, Secrets, reading::Origin};
use crate::ServiceError;

const CONFIG: &str = "cmd_config.json";
const DATABASE: &str = "data_v4.db";

/// What has no place here, by where it lies there.
const WITHOUT_PLACE: [(&str, &str); 3] = [
    (
        "mcp_server.json",
        "name the servers under [mcp] in callgate.toml",
    ),
    (
        "knowledge_base",
        "knowledge bases are made again by the plugin that uses them",
    ),
    ("skills", "skills are not read here"),
];

pub(super) fn read(path: &Path, secrets: Secrets) -> Result<Foreign, ServiceError> {
    let origin = Origin::find(path, &["data"], &[DATABASE, CONFIG], "AstrBot")?;
    let mut left_out = Vec::new();
    let config = match origin.json(CONFIG) {
        Ok(config) => config.unwrap_or_default(),
        Err(why) => {
            left_out.push(ImportLine::left_out(ImportKind::Other, CONFIG, why));
            serde_json::Value::Null
        }
    };
    let database = database::read(&origin, &mut left_out);
    let mut items = config::personas(&config, &database, &mut left_out);
    let administrators = config::administrators(&config, &database, &mut left_out);
    items.extend(administrators);
    items.extend(config::models(&config, secrets, &mut left_out));
    let off = database.switched_off.clone();
    items.extend(database.items);
    let plugins = plugins::read(&origin, &off, &mut left_out);
    left_out.extend(config::platforms(&config));
    for (name, why) in WITHOUT_PLACE {
        if origin.has(name) {
            left_out.push(ImportLine::left_out(ImportKind::Other, name, why));
        }
    }
    Ok(Foreign {
        origin,
        items,
        plugins,
        left_out,
    })
}
