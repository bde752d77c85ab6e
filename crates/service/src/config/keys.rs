//! Every key of the configuration, described once. The page in the documentation is made from
//! this list, and a test holds both against each other and against [`super::Config`].

mod running;
mod serving;

use std::sync::LazyLock;

use toml::Value;

/// In the order of the documentation.
pub static KEYS: LazyLock<Vec<Key>> =
    LazyLock::new(|| [running::RUNNING, serving::SERVING].concat());

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

#[derive(Clone, Copy)]
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
    /// Between 0 and 1.
    Fraction,
    /// More than 0, in units of the currency of prices.
    Amount,
    Flag,
    Names,
    /// Tables, which no variable can hold.
    Models,
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
            Shape::Fraction => "a number between 0 and 1",
            Shape::Amount => "an amount of money such as 0.50",
            Shape::Flag => "true or false",
            Shape::Names => "a list of names",
            Shape::Models => "a list of models",
        }
    }

    /// A variable's text as the file would hold it. What does not fit stays text, and is refused
    /// as such.
    pub fn read(self, text: &str) -> Value {
        match self {
            Shape::Text | Shape::Choice(_) | Shape::Models => Value::from(text),
            Shape::Fraction | Shape::Amount => {
                text.trim().parse::<f64>().map_or(text.into(), Value::from)
            }
            Shape::Flag => text.trim().parse::<bool>().map_or(text.into(), Value::from),
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

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, path::Path};

    use super::*;
    use crate::config::Config;

    const MODELS: &str = r#"- no environment variable

```toml
[[models.list]]
id = "mine"                              # what /model and --model call it
base_url = "https://api.example.com/v1"
wire = "openai"                          # or responses, anthropic, gemini, ollama; default: told by
                                         # base_url, else openai (chat completions)
model = "large-2"                        # its name there; default: the id
key_env = "EXAMPLE_API_KEY"              # or key = "..." here, or keys = ["...", "..."] in turn
headers = { X-Team = "blue" }
options = { temperature = 0.2, extra = { top_k = 40 } }  # extra: further fields of the request
accepts = { image = true, audio = false }  # default: what models of the wire usually take
fallback = ["other", "third"]            # asked in this order if it fails before its first word
price = { input = 3.0, cached = 0.3, written = 3.75, output = 15.0 }  # a million tokens; default:
                                         # the provider's list price where known, else unknown
silence = 180                            # seconds without a byte after which it counts as gone
retries = 4
```
"#;

    fn page() -> String {
        let mut page = String::from(
            "# Configuration\n\n\
             <!-- Made from crates/service/src/config/keys.rs by a test of callgate-service; \
             UPDATE_DOCS=1 writes it anew. -->\n\n\
             Nothing needs configuring to start. Keys are read from `callgate.toml` in the data \
             directory, or from the file that `--config` names; every key is also an environment \
             variable, which wins, unless it says otherwise. Lists in variables are separated by \
             commas. An unknown key or a bad value is an error.\n\n\
             ```toml\n[approval]\nask = [\"send_message\"]\n\n[sandbox]\nwall_seconds = 300\n```\n",
        );
        let mut section = "";
        for key in KEYS.iter() {
            if key.section() != section {
                section = key.section();
                page += &format!("\n## {section}\n");
            }
            let (name, meaning) = (key.name, key.meaning);
            let (shape, default) = (key.shape.words(), key.default);
            page += &format!("\n### {name}\n\n{meaning}\n\n- {shape}; default: {default}\n");
            page += &match key.shape {
                Shape::Models => MODELS.to_owned(),
                _ => format!("- environment: `{}`\n", key.variable()),
            };
        }
        page += "\n## mcp\n\n\
                 `[[mcp]]`, a table for each server of the Model Context Protocol whose tools are \
                 to be methods, is described in [mcp.md](mcp.md). No environment variable.\n";
        page += "\n## rule\n\n\
                 `[[rule]]`, a table for each rule of who may call what, is described in \
                 [rules.md](rules.md). No environment variable.\n";
        page += "\n## limit\n\n\
                 `[[limit]]`, a table for each limit on how much people may ask for, is described in \
                 [limits.md](limits.md). No environment variable.\n";
        page += "\n## platform\n\n\
                 `[[platform]]`, a table for each chat platform, is described in \
                 [platforms.md](platforms.md). No environment variable.\n";
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
                // The one section that is a list has a page of its own.
                let fields = fields.as_object().into_iter().flat_map(|it| it.keys());
                fields.map(move |field| format!("{section}.{field}"))
            })
            .collect();
        let listed: BTreeSet<String> = KEYS.iter().map(|key| key.name.to_owned()).collect();
        assert_eq!(typed, listed);
    }

    #[test]
    fn defaults_are_what_the_list_says() {
        let whole = serde_json::to_value(Config::default()).unwrap();
        for key in KEYS.iter() {
            let default = &whole[key.section()][key.field()];
            if !default.is_null() {
                assert_eq!(default.to_string(), key.default, "{}", key.name);
            }
        }
    }
}
