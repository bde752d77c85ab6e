//! The menu of commands beside the text field.

use std::{sync::Arc, time::Duration};

use serde_json::{Map, Value as Json, json};
use tokio::time::sleep;

use super::{ASK, Shared, api::ApiError};
use crate::MenuCommand;

const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);
const MOST: usize = 100;
const LONGEST_NAME: usize = 32;
const LONGEST_DESCRIPTION: usize = 256;

/// Returns when Telegram shows them, or refuses to.
pub(super) async fn show(shared: &Arc<Shared>, commands: &[MenuCommand]) {
    let mut pause = FIRST_PAUSE;
    loop {
        if shared.me().is_some() {
            match tell(shared, commands).await {
                Ok(()) => return,
                Err(ApiError::Refused {
                    retry_after: None,
                    description,
                    ..
                }) => {
                    let reason =
                        format!("Telegram did not take the menu of commands: {description}");
                    shared.arrivals.failed(&reason);
                    return;
                }
                // Who asks for updates says it.
                Err(_) => {}
            }
        }
        sleep(pause).await;
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

async fn tell(shared: &Shared, commands: &[MenuCommand]) -> Result<(), ApiError> {
    let set = async |asked: Json| {
        let asked = asked.as_object().cloned().unwrap_or_else(Map::new);
        shared.api.call("setMyCommands", &asked, ASK).await
    };
    set(json!({"commands": shown(commands, false)})).await?;
    set(json!({"commands": shown(commands, true), "language_code": "zh"})).await?;
    Ok(())
}

/// Those that Telegram can show: it takes no name with a blank or of another script.
fn shown(commands: &[MenuCommand], in_chinese: bool) -> Vec<Json> {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    let named = commands.iter().map(|it| (it.name.replace('-', "_"), it));
    let named = named.filter(|(name, _)| {
        !name.is_empty() && name.len() <= LONGEST_NAME && name.chars().all(plain)
    });
    let shown = named.map(|(name, command)| {
        let own = command.chinese.as_deref().filter(|_| in_chinese);
        let description = own.unwrap_or(&command.description);
        let description = description
            .lines()
            .map(str::trim)
            .find(|line| !line.is_empty());
        let description: String = description
            .unwrap_or(&name)
            .chars()
            .take(LONGEST_DESCRIPTION)
            .collect();
        json!({"command": name, "description": description})
    });
    shown.take(MOST).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_telegram_cannot_show_is_left_out() {
        let command = |name: &str, description: &str| MenuCommand {
            name: name.to_owned(),
            description: description.to_owned(),
            chinese: (name == "new").then(|| "新".to_owned()),
        };
        let commands = [
            command("new", "begin"),
            command("roll-dice", "\n  Rolls.\nMore."),
            command("Big", ""),
            command("签到", ""),
            command("conf list", ""),
            command("bare", ""),
        ];
        let expected = json!([
            {"command": "new", "description": "begin"},
            {"command": "roll_dice", "description": "Rolls."},
            {"command": "bare", "description": "bare"},
        ]);
        assert_eq!(Json::from(shown(&commands, false)), expected);
        assert_eq!(shown(&commands, true)[0]["description"], "新");
    }
}
