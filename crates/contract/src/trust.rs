//! [`Trust`]: what a method declares of itself to keep strangers' words from choosing where things go:
//! which of its parameters choose, and whose words its result holds. Without a declaration nothing is
//! judged, and the result is a stranger's.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// What the value of a parameter chooses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Choice {
    /// Who gets something, or whom it happens to: a mail address, an account, a chat.
    Recipient,
    Path,
    Command,
    Url,
}

impl Choice {
    /// What is chosen by this text: itself; of an address each that stands in it, and none in plain words.
    pub fn chosen_in(self, text: &str) -> impl Iterator<Item = &str> {
        let is_words = self == Choice::Url && text.trim().contains(char::is_whitespace);
        let is_link = move |word: &&str| match self {
            Choice::Url if is_words => is_link(word),
            Choice::Url => word.contains(['.', '/', ':']) && word.contains(char::is_alphanumeric),
            Choice::Recipient | Choice::Path | Choice::Command => true,
        };
        let words = text.split(move |c: char| is_words && c.is_whitespace());
        words.filter(is_link)
    }

    /// The value without what people leave out when they write it.
    pub fn essence(self, value: &str) -> &str {
        let value = value.trim();
        let bare = match self {
            Choice::Recipient => value
                .strip_prefix("mailto:")
                .unwrap_or(value)
                .trim_start_matches(['@', '#']),
            Choice::Path => value
                .strip_prefix("./")
                .unwrap_or(value)
                .trim_end_matches('/'),
            Choice::Url => {
                let value = value.trim_matches(|c: char| ",.;:!?()<>[]\"'".contains(c));
                let schemes = ["https://", "http://"];
                let bare = schemes.iter().find_map(|scheme| value.strip_prefix(scheme));
                bare.unwrap_or(value).trim_end_matches('/')
            }
            Choice::Command => value,
        };
        if bare.is_empty() { value } else { bare }
    }
}

fn is_link(word: &str) -> bool {
    let bare = word.trim_start_matches(|c: char| !c.is_alphanumeric());
    word.contains("://") || bare.starts_with("www.")
}

impl std::fmt::Display for Choice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.serialize(f)
    }
}

/// Whose words a result holds.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum ResultTrust {
    /// Nothing that a stranger could have written: what stands there may choose, as in a list of contacts.
    Trusted,
    /// The method's own words, or a model's: they choose nothing and do no harm.
    Neutral,
    /// Whatever is found: pages, files, mail.
    #[default]
    Untrusted,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trust {
    /// By parameter.
    pub chooses: BTreeMap<String, Choice>,
    pub result: ResultTrust,
}

impl Trust {
    /// Of a method that chooses nothing and says only its own words.
    pub fn neutral() -> Self {
        Trust {
            chooses: BTreeMap::new(),
            result: ResultTrust::Neutral,
        }
    }
}

/// As manifests and tools write it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DeclaredTrust {
    pub chooses: BTreeMap<String, Choice>,
    pub trusted: bool,
}

impl From<DeclaredTrust> for Trust {
    fn from(declared: DeclaredTrust) -> Self {
        Trust {
            chooses: declared.chooses,
            result: if declared.trusted {
                ResultTrust::Trusted
            } else {
                ResultTrust::Untrusted
            },
        }
    }
}

/// Values of one call that strangers may have chosen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct StrangeValues {
    /// All of them: whoever agrees to one must have seen the others.
    pub values: Vec<StrangeValue>,
    /// Where strangers' words came from.
    pub sources: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct StrangeValue {
    pub parameter: String,
    pub choice: Choice,
    pub value: String,
}

impl std::fmt::Display for StrangeValues {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let named = |it: &StrangeValue| format!("{} {:?}", it.choice, it.value);
        let values: Vec<String> = self.values.iter().map(named).collect();
        write!(
            f,
            "not named by the person asking: {}; may come from {}",
            values.join(", "),
            self.sources.join(", ")
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_people_leave_out_is_not_compared() {
        for (choice, value, bare) in [
            (Choice::Url, "https://example.com/a/", "example.com/a"),
            (Choice::Url, "ftp://example.com", "ftp://example.com"),
            (Choice::Recipient, "mailto:a@example.com", "a@example.com"),
            (Choice::Recipient, "#general", "general"),
            (Choice::Path, "./notes/", "notes"),
            (Choice::Path, "/", "/"),
            (Choice::Command, " ls -l ", "ls -l"),
        ] {
            assert_eq!(choice.essence(value), bare, "{value}");
        }
    }
}
