//! [`Provenance`]: whose words a text is that nobody in the chat has said. It stands beside the text, so that
//! neither people nor models take what a page or a plugin says for what the system says.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

/// Written `method:ORIGIN/NAME`, `plugin:ID`, `timer`, `planned` or `announcement`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Provenance {
    /// What a method gave back, by its full name.
    Method(String),
    /// What a plugin wrote.
    Plugin(String),
    /// What the model has left for itself, to be told when it is time.
    Timer,
    /// What the operator wants to be asked of the model at a time.
    Planned,
    /// What the operator wants to be said at a time, as it is.
    Announcement,
}

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is no provenance: method:ORIGIN/NAME, plugin:ID, timer, planned or announcement")]
pub struct InvalidProvenance(String);

impl fmt::Display for Provenance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Provenance::Method(name) => write!(f, "method:{name}"),
            Provenance::Plugin(id) => write!(f, "plugin:{id}"),
            Provenance::Timer => f.write_str("timer"),
            Provenance::Planned => f.write_str("planned"),
            Provenance::Announcement => f.write_str("announcement"),
        }
    }
}

impl FromStr for Provenance {
    type Err = InvalidProvenance;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.split_once(':') {
            Some(("method", name)) => Ok(Provenance::Method(name.to_owned())),
            Some(("plugin", id)) => Ok(Provenance::Plugin(id.to_owned())),
            None if text == "timer" => Ok(Provenance::Timer),
            None if text == "planned" => Ok(Provenance::Planned),
            None if text == "announcement" => Ok(Provenance::Announcement),
            _ => Err(InvalidProvenance(text.to_owned())),
        }
    }
}

impl TryFrom<String> for Provenance {
    type Error = InvalidProvenance;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<Provenance> for String {
    fn from(provenance: Provenance) -> Self {
        provenance.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_stored_is_read_back_as_the_same() {
        let all = [
            Provenance::Method("mcp:files/read:all".into()),
            Provenance::Plugin("a.b".into()),
            Provenance::Timer,
            Provenance::Planned,
            Provenance::Announcement,
        ];
        for one in all {
            assert_eq!(one.to_string().parse(), Ok(one));
        }
        assert!("system".parse::<Provenance>().is_err());
    }
}
