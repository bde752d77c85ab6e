//! Every key of the configuration, described once. The page in the documentation is made from
//! this list, and a test holds both against each other and against [`super::Config`].

use toml::Value;

pub const HINT: &str = "docs/configuration.md lists every key";

/// What could have been meant in the section of `name`.
pub fn beside(name: &str) -> String {
    let section = name.split('.').next().unwrap_or_default();
    let keys = KEYS.iter().filter(|key| key.section() == section);
    let fields: Vec<&str> = keys.map(Key::field).collect();
    match fields.as_slice() {
        [] => HINT.to_owned(),
        fields => format!("[{section}] has {}", fields.join(", ")),
    }
}

pub struct Key {
    /// `section.field`.
    pub name: &'static str,
    pub shape: Shape,
    /// As it would be written, or in words where it depends on the machine.
    pub default: &'static str,
    pub meaning: &'static str,
}

#[derive(Clone, Copy)]
pub enum Shape {
    Text,
    Choice(&'static str),
    /// From 1.
    Count,
    /// From 0.
    Number,
    Names,
}

impl Key {
    pub fn section(&self) -> &'static str {
        self.name.split_once('.').map_or("", |(section, _)| section)
    }

    pub fn field(&self) -> &'static str {
        self.name.split_once('.').map_or("", |(_, field)| field)
    }

    /// The environment variable that sets it.
    pub fn variable(&self) -> String {
        format!("CALLGATE_{}", self.name.replace('.', "_").to_uppercase())
    }

    pub fn variable_prefix(&self) -> String {
        format!("CALLGATE_{}_", self.section().to_uppercase())
    }
}

impl Shape {
    pub fn words(self) -> &'static str {
        match self {
            Shape::Text => "text",
            Shape::Choice(words) => words,
            Shape::Count => "a number from 1",
            Shape::Number => "a number",
            Shape::Names => "a list of names",
        }
    }

    /// A variable's text as the file would hold it. What does not fit stays text, and is refused
    /// as such.
    pub fn read(self, text: &str) -> Value {
        match self {
            Shape::Text | Shape::Choice(_) => Value::from(text),
            Shape::Count | Shape::Number => match text.trim().parse::<i64>() {
                Ok(number) => Value::from(number),
                Err(_) => Value::from(text),
            },
            Shape::Names => {
                let names = text
                    .split(',')
                    .map(str::trim)
                    .filter(|name| !name.is_empty());
                names.map(Value::from).collect::<Vec<_>>().into()
            }
        }
    }
}

pub const KEYS: &[Key] = &[
    Key {
        name: "database.url",
        shape: Shape::Text,
        default: "SQLite in the data directory",
        meaning: "`postgres://user:password@host/name` keeps everything but files in PostgreSQL.",
    },
    Key {
        name: "database.durability",
        shape: Shape::Choice("\"process\" or \"power\""),
        default: "\"process\"",
        meaning: "What a finished call survives: the death of the process, or also a power cut, \
                  at the price of waiting for the disk.",
    },
    Key {
        name: "sandbox.python",
        shape: Shape::Text,
        default: "/usr/bin/python3, else the first python3 in PATH",
        meaning: "The interpreter, CPython 3.11 or newer.",
    },
    Key {
        name: "sandbox.concurrent",
        shape: Shape::Count,
        default: "4 for each core",
        meaning: "How many runs compute at the same time. A run that waits for a call does not \
                  count.",
    },
    Key {
        name: "sandbox.pool",
        shape: Shape::Count,
        default: "2 for each core",
        meaning: "How many warm processes wait for the next run.",
    },
    Key {
        name: "sandbox.preload",
        shape: Shape::Names,
        default: "[]",
        meaning: "Modules imported once, before the first run, so that each run finds them ready.",
    },
    Key {
        name: "sandbox.wall_seconds",
        shape: Shape::Count,
        default: "120",
        meaning: "How long a run may take, not counting time inside calls.",
    },
    Key {
        name: "sandbox.cpu_seconds",
        shape: Shape::Count,
        default: "60",
        meaning: "How long a run may compute.",
    },
    Key {
        name: "sandbox.memory_mb",
        shape: Shape::Count,
        default: "512",
        meaning: "Memory of a run.",
    },
    Key {
        name: "sandbox.threads",
        shape: Shape::Count,
        default: "64",
        meaning: "Threads of a run.",
    },
    Key {
        name: "sandbox.output_mb",
        shape: Shape::Count,
        default: "16",
        meaning: "What a run may print before it is stopped.",
    },
    Key {
        name: "sandbox.disk_mb",
        shape: Shape::Count,
        default: "256",
        meaning: "Files of a session under `/app/shared`, over all its runs.",
    },
    Key {
        name: "sandbox.calls",
        shape: Shape::Count,
        default: "10000",
        meaning: "Calls of a run.",
    },
    Key {
        name: "approval.ask",
        shape: Shape::Names,
        default: "[]",
        meaning: "Methods that need your approval, such as `send_message` or `plugin:mail/send`; \
                  `*` is every method.",
    },
    Key {
        name: "approval.wait_seconds",
        shape: Shape::Number,
        default: "60",
        meaning: "How long a call waits for your answer. After that the run stops, and is \
                  continued when you answer.",
    },
    Key {
        name: "journal.keep",
        shape: Shape::Number,
        default: "10000",
        meaning: "How many ended runs are kept on record. Runs that wait for an approval are \
                  always kept.",
    },
];

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, path::Path};

    use super::*;
    use crate::config::Config;

    fn page() -> String {
        let mut page = String::from(
            "# Configuration\n\n\
             <!-- Made from crates/cli/src/config/keys.rs by a test of callgate-cli; \
             UPDATE_DOCS=1 writes it anew. -->\n\n\
             Nothing needs configuring to start. Keys are read from `callgate.toml` in the data \
             directory, or from the file that `--config` names; every key is also an environment \
             variable, which wins. Lists in variables are separated by commas. An unknown key or \
             a bad value is an error.\n\n\
             ```toml\n[approval]\nask = [\"send_message\"]\n\n[sandbox]\nwall_seconds = 300\n```\n",
        );
        let mut section = "";
        for key in KEYS {
            if key.section() != section {
                section = key.section();
                page += &format!("\n## {section}\n");
            }
            page += &format!(
                "\n### {}\n\n{}\n\n- {}; default: {}\n- environment: `{}`\n",
                key.name,
                key.meaning,
                key.shape.words(),
                key.default,
                key.variable()
            );
        }
        page += "\n## Beside these\n\n\
                 `CALLGATE_LOG` sets what is logged to standard error: `warn` (the default), \
                 `info`, `debug`, or by part, such as `callgate_sandbox=debug`. `NO_COLOR` switches \
                 colours off.\n";
        page
    }

    #[test]
    fn the_page_is_made_from_the_list() {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/configuration.md");
        if std::env::var_os("UPDATE_DOCS").is_some() {
            std::fs::write(&file, page()).unwrap();
        }
        let written = std::fs::read_to_string(&file).unwrap_or_default();
        assert!(
            written == page(),
            "stale; UPDATE_DOCS=1 writes docs/configuration.md anew"
        );
    }

    #[test]
    fn the_list_and_the_type_agree() {
        let whole = serde_json::to_value(Config::default()).unwrap();
        let typed: BTreeSet<String> = whole
            .as_object()
            .unwrap()
            .iter()
            .flat_map(|(section, fields)| {
                let fields = fields.as_object().unwrap().keys();
                fields.map(move |field| format!("{section}.{field}"))
            })
            .collect();
        let listed: BTreeSet<String> = KEYS.iter().map(|key| key.name.to_owned()).collect();
        assert_eq!(typed, listed);
    }

    #[test]
    fn defaults_are_what_the_list_says() {
        let whole = serde_json::to_value(Config::default()).unwrap();
        for key in KEYS {
            let default = &whole[key.section()][key.field()];
            if !default.is_null() {
                assert_eq!(default.to_string(), key.default, "{}", key.name);
            }
        }
    }
}
