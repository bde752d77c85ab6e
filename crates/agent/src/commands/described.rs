//! What each command does in a few words, for menus: those of `/help`.

use super::COMMANDS;
use crate::{language::Language, texts};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DescribedCommand {
    /// Without its slash.
    pub name: &'static str,
    pub english: &'static str,
    pub chinese: &'static str,
}

/// In the order of [`COMMANDS`].
pub fn described_commands() -> Vec<DescribedCommand> {
    let described = COMMANDS.iter().map(|name| DescribedCommand {
        name,
        english: words(Language::English, name),
        chinese: words(Language::Chinese, name),
    });
    described.collect()
}

/// Of the first line that names it.
fn words(language: Language, name: &str) -> &'static str {
    let mut lines = texts::help(language).lines();
    let found = lines.find_map(|line| {
        let (calls, words) = line.split_once("  ")?;
        let mut calls = calls.split([' ', ',', '、']);
        let names = calls.any(|call| call.strip_prefix('/') == Some(name));
        names.then_some(words)
    });
    found.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn help_describes_every_command() {
        for command in described_commands() {
            assert!(!command.english.is_empty(), "{command:?}");
            assert!(!command.chinese.is_empty(), "{command:?}");
        }
        assert_eq!(
            words(Language::English, "limit"),
            "how much may be asked for here"
        );
    }
}
