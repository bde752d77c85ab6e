//! [`Principal`]: who acts, established once where they come in and carried with everything done on
//! their behalf. What a client, a plugin or a model says of itself never makes one.

use std::{borrow::Cow, fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use crate::SessionKey;

/// Written `platform:account` for a person, else `key:ID`, `plugin:ID`, `operator`, `system`. Where a
/// person could be taken for one of those it is `person:platform:account`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Principal {
    /// An account on one platform: the same account elsewhere is somebody else.
    Person { platform: String, account: String },
    /// Whoever shows this key, by its id, which is no secret.
    Key(String),
    /// A plugin that acts for nobody but itself.
    Plugin(String),
    /// Whoever owns the data directory.
    Operator,
    /// Ourselves, where nobody asked.
    System,
}

/// What somebody is here. Each may do what those before it may.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Not let in yet.
    Guest,
    #[serde(alias = "user")]
    Member,
    /// An account that the configuration names: decides for others in its chats.
    Admin,
    Operator,
}

/// What a principal's spelling may begin with besides a platform.
const RESERVED: [&str; 3] = ["key", "plugin", "person"];

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' names nobody: write platform:account, key:ID, plugin:ID, operator or system")]
pub struct InvalidPrincipal(String);

impl Role {
    /// The one place where a role is decided: by who somebody is, never by what they say.
    pub fn of(principal: &Principal, is_administrator: impl FnOnce(&str, &str) -> bool) -> Self {
        match principal {
            Principal::Operator => Role::Operator,
            Principal::Person { platform, account } if is_administrator(platform, account) => {
                Role::Admin
            }
            Principal::Person { .. }
            | Principal::Key(_)
            | Principal::Plugin(_)
            | Principal::System => Role::Member,
        }
    }

    /// Do they decide for others?
    pub fn administers(self) -> bool {
        self >= Role::Admin
    }

    /// As plugins are told, which know two.
    pub fn to_plugins(self) -> &'static str {
        if self.administers() {
            "operator"
        } else {
            "user"
        }
    }
}

impl Principal {
    /// Whoever bears this account in `session`. The same account there is the same person.
    pub fn person(session: &SessionKey, account: impl Into<String>) -> Self {
        Principal::Person {
            platform: session.platform().to_owned(),
            account: account.into(),
        }
    }

    /// The id by which methods, plugins and people know them. It tells nobody apart from a namesake
    /// on another platform, so nothing is decided by it.
    pub fn user(&self) -> Cow<'_, str> {
        match self {
            Principal::Person { account, .. } => account.into(),
            Principal::Key(id) => format!("key-{id}").into(),
            Principal::Plugin(id) => format!("plugin:{id}").into(),
            Principal::Operator => "operator".into(),
            Principal::System => "".into(),
        }
    }
}

impl fmt::Display for Principal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Principal::Person { platform, account } => {
                let is_plain = !RESERVED.contains(&platform.as_str()) && !account.is_empty();
                let prefix = if is_plain { "" } else { "person:" };
                write!(f, "{prefix}{platform}:{account}")
            }
            Principal::Key(id) => write!(f, "key:{id}"),
            Principal::Plugin(id) => write!(f, "plugin:{id}"),
            Principal::Operator => f.write_str("operator"),
            Principal::System => f.write_str("system"),
        }
    }
}

impl FromStr for Principal {
    type Err = InvalidPrincipal;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let invalid = || InvalidPrincipal(text.to_owned());
        match text.split_once(':') {
            None if text == "operator" => Ok(Principal::Operator),
            None if text == "system" => Ok(Principal::System),
            Some(("key", id)) if !id.is_empty() => Ok(Principal::Key(id.to_owned())),
            Some(("plugin", id)) if !id.is_empty() => Ok(Principal::Plugin(id.to_owned())),
            Some(("person", rest)) => person(rest).ok_or_else(invalid),
            Some((_, account)) if !account.is_empty() => person(text).ok_or_else(invalid),
            _ => Err(invalid()),
        }
    }
}

/// An account may be empty: of rows that nobody sent.
fn person(text: &str) -> Option<Principal> {
    let (platform, account) = text.split_once(':')?;
    (!platform.is_empty()).then(|| Principal::Person {
        platform: platform.to_owned(),
        account: account.to_owned(),
    })
}

impl TryFrom<String> for Principal {
    type Error = InvalidPrincipal;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<Principal> for String {
    fn from(principal: Principal) -> Self {
        principal.to_string()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn person(platform: &str, account: &str) -> Principal {
        Principal::Person {
            platform: platform.to_owned(),
            account: account.to_owned(),
        }
    }

    #[test]
    fn what_is_stored_is_read_back_as_the_same_principal() {
        let all = [
            person("onebot", "42"),
            person("matrix", "@ada:example.org"),
            person("matrix", "key:3"),
            person("key", "3"),
            person("person", "3"),
            person("plugin", "a.b"),
            person("remote", ""),
            Principal::Key("3".into()),
            Principal::Plugin("a.b".into()),
            Principal::Operator,
            Principal::System,
        ];
        for principal in &all {
            assert_eq!(principal.to_string().parse(), Ok(principal.clone()));
        }
        assert_eq!(all[0].to_string(), "onebot:42");
        for nobody in ["", "42", "key:", "plugin:", ":42", "person:42"] {
            assert!(nobody.parse::<Principal>().is_err(), "{nobody}");
        }
    }

    #[test]
    fn an_account_is_a_person_on_its_platform_alone() {
        assert_ne!(person("onebot", "42"), person("telegram", "42"));
        // Whatever somebody calls themselves, they are nobody else.
        assert_ne!(person("web", "key-3"), Principal::Key("3".into()));
        assert_ne!(person("web", "operator"), Principal::Operator);
        let is_administrator =
            |platform: &str, account: &str| (platform, account) == ("onebot", "42");
        let role = |principal: &Principal| Role::of(principal, is_administrator);
        assert_eq!(role(&person("onebot", "42")), Role::Admin);
        assert_eq!(role(&person("telegram", "42")), Role::Member);
        assert_eq!(role(&person("web", "operator")), Role::Member);
        assert_eq!(role(&Principal::Operator), Role::Operator);
    }
}
