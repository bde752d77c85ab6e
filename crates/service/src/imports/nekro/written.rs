//! [`Settings`]: as much of YAML as Nekro Agent writes its own settings in: blocks by indentation, a value on
//! one line. What is written otherwise is not there.

use std::collections::BTreeMap;

pub(super) type Table = BTreeMap<String, String>;

#[derive(Default)]
pub(super) struct Settings {
    lines: Vec<String>,
}

impl Settings {
    pub(super) fn read(bytes: &[u8]) -> Self {
        let text = String::from_utf8_lossy(bytes);
        Settings {
            lines: text.lines().map(str::to_owned).collect(),
        }
    }

    /// The texts of the list at `name`.
    pub(super) fn list(&self, name: &str) -> impl Iterator<Item = String> {
        let items = self.below(name).into_iter();
        items.filter_map(|line| Some(scalar(line.trim_start().strip_prefix("- ")?)))
    }

    /// The tables in the table at `name`, by their names.
    pub(super) fn tables(&self, name: &str) -> Vec<(String, Table)> {
        let mut tables: Vec<(String, Table)> = Vec::new();
        for line in self.below(name) {
            let depth = line.len() - line.trim_start().len();
            let Some((field, value)) = line.trim().split_once(':') else {
                continue;
            };
            match (depth, tables.last_mut()) {
                (2, _) if value.trim().is_empty() => tables.push((scalar(field), Table::new())),
                (4, Some((_, table))) => {
                    table.insert(scalar(field), scalar(value));
                }
                _ => {}
            }
        }
        tables
    }

    fn below(&self, name: &str) -> Vec<&str> {
        let lines = self.lines.iter().map(String::as_str);
        let mut lines = lines.skip_while(|line| line.strip_prefix(name) != Some(":"));
        lines.next();
        let is_below = |line: &&str| line.starts_with([' ', '-']);
        lines.take_while(is_below).collect()
    }
}

fn scalar(text: &str) -> String {
    let text = text.trim();
    let quoted = |quote: char| {
        let inner = text.strip_prefix(quote)?.strip_suffix(quote)?;
        Some(inner.to_owned())
    };
    if let Some(inner) = quoted('\'') {
        return inner.replace("''", "'");
    }
    match quoted('"') {
        Some(inner) => serde_json::from_str(text).unwrap_or(inner),
        None => Some(text)
            .filter(|it| *it != "null")
            .unwrap_or_default()
            .to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nekro_agent_writes_is_read() {
        let settings = Settings::read(
            b"SYSTEM_LANG: zh-CN\nSUPER_USERS:\n- '10001'\n- \"10002\"\nMODEL_GROUPS:\n  default:\n\
              \x20   GROUP_NAME: ''\n    BASE_URL: https://h/v1\n    API_KEY: sk-1\n    TOP_P: null\n\
              \x20 '\xe7\xbb\x98\xe7\x94\xbb':\n    MODEL_TYPE: draw\nPLUGIN_ENABLED: []\n",
        );
        let users: Vec<String> = settings.list("SUPER_USERS").collect();
        assert_eq!(users, ["10001", "10002"]);
        let groups = settings.tables("MODEL_GROUPS");
        assert_eq!(groups[0].0, "default");
        assert_eq!(groups[0].1["BASE_URL"], "https://h/v1");
        assert_eq!(groups[0].1["TOP_P"], "");
        assert_eq!(
            (groups[1].0.as_str(), groups[1].1["MODEL_TYPE"].as_str()),
            ("绘画", "draw")
        );
        assert_eq!(settings.list("PLUGIN_ENABLED").count(), 0);
        assert_eq!(settings.list("SYSTEM_LANG").count(), 0);
    }
}
