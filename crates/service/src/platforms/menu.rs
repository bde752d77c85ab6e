//! The commands that a platform's menu shows: our own, and those of plugins that are switched on.

use std::{sync::Arc, time::Duration};

use callgate_agent::described_commands;
use callgate_platforms::{MenuCommand, Platform};
use serde_json::Value as Json;

use crate::Service;

/// Plugins come one after the other.
const SOON: Duration = Duration::from_millis(500);

/// At the start and whenever they change, for as long as it is awaited.
pub(super) async fn show(service: Service, platform: Arc<dyn Platform>) {
    let mut changes = service.gate().changes();
    let mut shown = Vec::new();
    loop {
        let commands = commands(&service);
        if commands != shown {
            platform.show_commands(&commands).await;
            shown = commands;
        }
        // The gate outlives us.
        if changes.changed().await.is_err() {
            return;
        }
        tokio::time::sleep(SOON).await;
    }
}

fn commands(service: &Service) -> Vec<MenuCommand> {
    let ours = described_commands().into_iter().map(|it| MenuCommand {
        name: it.name.to_owned(),
        description: it.english.to_owned(),
        chinese: Some(it.chinese.to_owned()),
    });
    let mut commands: Vec<MenuCommand> = ours.collect();
    for plugin in service.plugins().list() {
        let plugin_commands = plugin.loaded.commands.iter();
        for command in plugin_commands.filter_map(read).filter(|_| plugin.enabled) {
            if commands.iter().all(|known| known.name != command.name) {
                commands.push(command);
            }
        }
    }
    commands
}

fn read(command: &Json) -> Option<MenuCommand> {
    if command.get("internal") == Some(&Json::Bool(true)) {
        return None;
    }
    let name = command.get("name")?.as_str()?;
    let description = command.get("description").and_then(Json::as_str);
    Some(MenuCommand {
        name: name.to_owned(),
        description: description.unwrap_or_default().to_owned(),
        chinese: None,
    })
}
