//! The models the operator wrote down. A key may stand in the file or be named by the variable that
//! holds it; neither is ever shown.

mod written;

use std::fmt;

use callgate_models::{ModelSettings, Settings};
use serde::{Deserialize, Serialize};
use toml::{Table, Value};

use super::Config;
use crate::ServiceError;

pub use written::NewEntry;

#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Models {
    pub default: Option<String>,
    pub vision: Option<String>,
    pub embedding: Option<String>,
    pub list: Vec<Entry>,
}

/// One model as it was written, checked but for its variable.
#[derive(Clone, PartialEq, Deserialize, Serialize)]
#[serde(try_from = "Table")]
pub struct Entry(Table);

/// The rest may be a key.
impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Entry").field(&self.id()).finish()
    }
}

impl TryFrom<Table> for Entry {
    type Error = String;

    fn try_from(table: Table) -> Result<Self, Self::Error> {
        let entry = Entry(table);
        match entry.0.get(Self::VARIABLE) {
            None | Some(Value::String(_)) => {}
            Some(_) => return Err(format!("{}: key_env names a variable", entry.id())),
        }
        entry.read(|_| Some(String::new()))?;
        Ok(entry)
    }
}

impl Entry {
    /// Names the variable that holds the key.
    pub const VARIABLE: &str = "key_env";

    pub fn id(&self) -> &str {
        let id = self.0.get("id").and_then(Value::as_str);
        id.unwrap_or("a model without id")
    }

    fn read(&self, variable: impl Fn(&str) -> Option<String>) -> Result<ModelSettings, String> {
        let mut table = self.0.clone();
        if let Some(Value::String(name)) = table.remove(Self::VARIABLE) {
            if table.contains_key("key") || table.contains_key("keys") {
                return Err(format!("{}: give either key_env or a key", self.id()));
            }
            let key = variable(&name).ok_or(format!("{}: {name} is not set", self.id()))?;
            table.insert("key".to_owned(), Value::from(key));
        }
        let read: Result<ModelSettings, _> = Value::Table(table).try_into();
        // What was wrong and not what was given: that may be a key.
        read.map_err(|error| {
            let reason = error.message().lines().next().unwrap_or_default();
            format!("{}: {reason}", self.id())
        })
    }
}

impl Config {
    pub fn models(&self) -> Result<Settings, ServiceError> {
        let variable = |name: &str| std::env::var(name).ok().filter(|key| !key.is_empty());
        let list = self.models.list.iter().map(|entry| entry.read(variable));
        Ok(Settings {
            default: self.models.default.clone(),
            vision: self.models.vision.clone(),
            embedding: self.models.embedding.clone(),
            list: list.collect::<Result<_, _>>().map_err(|reason| {
                let hint = "docs/configuration.md shows how a model is written down";
                ServiceError::refused(format!("models.list: {reason}"), hint)
            })?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(toml: &str) -> Result<Entry, String> {
        Entry::try_from(toml.parse::<Table>().unwrap())
    }

    #[test]
    fn a_key_comes_from_the_file_or_from_its_variable() {
        let entry = entry("id = 'a'\nbase_url = 'http://h/v1'\nkey_env = 'A_KEY'").unwrap();
        let read = entry.read(|name| (name == "A_KEY").then(|| "secret".to_owned()));
        assert_eq!(read.unwrap().keys.len(), 1);
        assert_eq!(entry.read(|_| None).unwrap_err(), "a: A_KEY is not set");
    }

    #[test]
    fn what_is_wrong_is_said_without_the_key() {
        for (toml, reason) in [
            ("base_url = 'x'\nkey = 'secret'", "missing field `id`"),
            (
                "id = 'a'\nbase_url = 'x'\nkay = 'secret'",
                "unknown field `kay`",
            ),
            (
                "id = 'a'\nbase_url = 'x'\nkey = 'secret'\nkey_env = 'A'",
                "either",
            ),
            ("id = 'a'\nbase_url = 'x'\nkey_env = 3", "names a variable"),
        ] {
            let error = entry(toml).unwrap_err();
            assert!(
                error.contains(reason) && !error.contains("secret"),
                "{error}"
            );
        }
        let shown = entry("id = 'a'\nbase_url = 'x'\nkey = 'secret'").unwrap();
        assert_eq!(format!("{shown:?}"), "Entry(\"a\")");
    }

    #[test]
    fn every_example_of_the_page_about_models_can_be_read() {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/models.md");
        let page = std::fs::read_to_string(file).unwrap();
        let blocks = page.split("```toml\n").skip(1);
        let examples: Vec<&str> = blocks.filter_map(|rest| rest.split("```").next()).collect();
        assert!(examples.len() > 3);
        for example in examples {
            let table: Table = example.parse().unwrap();
            let config: Config = Value::Table(table).try_into().unwrap();
            assert!(!config.models.list.is_empty());
        }
    }
}
