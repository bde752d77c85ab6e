//! Who hears of something: workers with those of their plugins that want to, in their order.

use std::sync::Arc;

use callgate_contract::{Points, SessionKey};
use serde_json::Value as Json;

use super::PluginListener;
use crate::{Plugin, Worker};

/// Between flavours the order is fixed; a shared worker comes before those of single plugins.
const ORDER: [&str; 3] = ["native", "nekro", "astrbot"];
pub(super) const NEKRO: &str = "nekro";
const ASTRBOT: &str = "astrbot";

/// A worker with those of its plugins that are enabled.
pub(super) struct Hearer {
    pub(super) worker: Arc<Worker>,
    pub(super) plugins: Vec<Plugin>,
}

impl Hearer {
    pub(super) fn is_astrbot(&self) -> bool {
        self.worker.flavour() == ASTRBOT
    }

    /// Does a plugin of it hear of this?
    pub(super) fn hears(&self, point: Points) -> bool {
        self.plugins
            .iter()
            .any(|plugin| points_of(plugin).contains(point))
    }

    /// The command that this text calls, as it is called, and what follows it.
    pub(super) fn command<'a>(&self, text: &'a str) -> Option<(&'a str, &'a str)> {
        let called = text.trim_start().strip_prefix('/')?.trim_start();
        let (name, rest) = called
            .split_once(char::is_whitespace)
            .unwrap_or((called, ""));
        let commands = self
            .plugins
            .iter()
            .flat_map(|plugin| &plugin.loaded.commands);
        // Compat(nekro): a hyphen stands for an underscore, and a command has a name in full.
        let folds = self.worker.flavour() == NEKRO;
        let named = |command: &Json| {
            if folds {
                is_called(command, &name.replace('-', "_"))
            } else {
                is_called(command, name) || (self.is_astrbot() && is_in_group(command, name))
            }
        };
        commands.into_iter().any(named).then(|| (name, rest.trim()))
    }
}

/// By its name or an alias, alone or behind its namespace. In a name of Nekro's, hyphens are
/// underscores.
fn is_called(command: &Json, name: &str) -> bool {
    let aliases = command["aliases"].as_array().map_or(&[][..], Vec::as_slice);
    let short = match command["namespace"].as_str() {
        Some(space) => name.strip_prefix(&format!("{}:", space.replace('-', "_"))),
        None => None,
    };
    let spelled = |known: &Json| {
        let Some(known) = known.as_str() else {
            return false;
        };
        let folded = known.replace('-', "_");
        [Some(name), short]
            .into_iter()
            .flatten()
            .any(|it| it == known || it == folded)
    };
    spelled(&command["name"]) || aliases.iter().any(spelled)
}

/// Compat(astrbot): a command of a group has the group's name, or an alias of it, before its own.
fn is_in_group(command: &Json, group: &str) -> bool {
    let aliases = command["aliases"].as_array().map_or(&[][..], Vec::as_slice);
    let mut names = aliases.iter().chain([&command["name"]]);
    names.any(|known| {
        let words = known.as_str().and_then(|known| known.split_once(' '));
        words.is_some_and(|(first, _)| first == group)
    })
}

/// What a plugin wants to hear of, by what it mounted.
pub(super) fn points_of(plugin: &Plugin) -> Points {
    if plugin.source.flavour == ASTRBOT {
        // Its filters decide, and they are its own.
        return Points::ARRIVED | Points::DELIVER;
    }
    let mut points = Points::NONE;
    for hook in &plugin.loaded.hooks {
        points |= match hook.as_str() {
            "message" => Points::ARRIVED,
            "inject" | "collect" | "prompt" => Points::COLLECT,
            "system_message" => Points::SYSTEM_ROW,
            "reset" => Points::RESET,
            _ => Points::NONE,
        };
    }
    if !plugin.loaded.commands.is_empty() {
        points |= Points::ARRIVED;
    }
    let extra = &plugin.loaded.extra;
    // Compat(nekro): a plugin that sleeps, or is for other platforms, shows no methods.
    let sleeps = extra
        .get("sleep")
        .is_some_and(|sleep| sleep["allowed"] == true);
    let adapters = extra.get("adapters").and_then(Json::as_array);
    if sleeps || adapters.is_some_and(|adapters| !adapters.is_empty()) {
        points |= Points::COLLECT;
    }
    points
}

impl PluginListener {
    /// Workers with those of their plugins that hear what happens in `session`.
    pub(super) fn hearers(&self, session: &SessionKey) -> Vec<Hearer> {
        let Some(inner) = self.0.upgrade() else {
            return Vec::new();
        };
        let mut hearers = inner.hearers();
        for (_, plugins) in &mut hearers {
            plugins.retain(|plugin| inner.switches.is_on(&plugin.loaded.id, session));
        }
        hearers.retain(|(_, plugins)| !plugins.is_empty());
        hearers.sort_by_key(|(worker, _)| {
            let place = ORDER
                .iter()
                .position(|flavour| *flavour == worker.flavour());
            (
                place,
                worker.name() != worker.flavour(),
                worker.name().to_owned(),
            )
        });
        let hearers = hearers.into_iter();
        hearers
            .map(|(worker, plugins)| Hearer { worker, plugins })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_command_has_its_name_its_aliases_and_a_name_in_full() {
        let command = json!({
            "name": "preset-clone", "aliases": ["pclone", "克隆"], "namespace": "my_clone"
        });
        for name in [
            "preset_clone",
            "pclone",
            "克隆",
            "my_clone:preset_clone",
            "my_clone:pclone",
        ] {
            assert!(is_called(&command, name), "{name}");
        }
        for name in ["preset", "clone", "other:pclone", "my_clone:", "my_clone"] {
            assert!(!is_called(&command, name), "{name}");
        }
        assert!(is_called(&json!({ "name": "roll" }), "roll"));
    }
}
