//! [`Rule`]: who may call what. Rules are ordered and the first that matches decides; the gate keeps
//! and applies them.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::{Caller, Effect, Kind, MethodInfo, Principal, Role, SessionKey, selector::Selector};

/// What a rule says. From the least to the most that it holds back.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Permission {
    Allow,
    /// Whoever it is called for is asked before the call, in their chat.
    Confirm,
    /// The operator is asked before the call.
    Ask,
    /// The method is not there: nobody is offered it, and a call is refused.
    Deny,
}

impl Permission {
    /// Does a call wait for somebody's word?
    pub fn waits(self) -> bool {
        matches!(self, Permission::Confirm | Permission::Ask)
    }
}

/// What is left out matches everybody and everything.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// Of the chat in which it is called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub platform: Option<String>,
    /// The chat: `platform:GroupMessage:id`, or any other session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<SessionKey>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<Role>,
    /// `platform:account`, or `plugin:ID` for what a plugin does by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub person: Option<Principal>,
    /// A key's id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// In any spelling. A bare name stands for all methods of that name, `*` for every method, also
    /// those that the host offers to plugins alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    /// `builtin`, `plugin:ID`, `mcp:SERVER`, `client:ID`, `agent:PERSONA`, or all of a sort: `plugin`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<Kind>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effect: Option<Effect>,
    pub then: Permission,
}

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidRule {
    #[error(
        "'{0}' is no origin: write builtin, plugin, mcp, client, agent, or one of them as plugin:ID"
    )]
    Origin(String),
    #[error("a rule is for a person or for a key, not for both")]
    PersonAndKey,
    #[error("what is left empty matches nobody: leave it out")]
    Empty,
}

impl Rule {
    /// For everybody and every method.
    pub fn new(then: Permission) -> Self {
        Rule {
            platform: None,
            group: None,
            role: None,
            person: None,
            key: None,
            method: None,
            origin: None,
            kind: None,
            effect: None,
            then,
        }
    }

    /// A rule that says something. One that is misspelt would hold for others than it was meant for.
    pub fn check(&self) -> Result<(), InvalidRule> {
        let texts = [&self.platform, &self.key, &self.method, &self.origin];
        if texts
            .into_iter()
            .flatten()
            .any(|text| text.trim().is_empty())
        {
            return Err(InvalidRule::Empty);
        }
        if self.person.is_some() && self.key.is_some() {
            return Err(InvalidRule::PersonAndKey);
        }
        match &self.origin {
            Some(origin) if !is_origin(origin) => Err(InvalidRule::Origin(origin.clone())),
            _ => Ok(()),
        }
    }

    /// Is it about this principal, who acts or has spoken there, whatever is called?
    pub fn is_about(&self, caller: &Caller, principal: &Principal) -> bool {
        let selector = Selector {
            platform: self.platform.as_deref(),
            group: self.group.as_ref(),
            role: self.role,
            person: self.person.as_ref(),
            key: self.key.as_deref(),
        };
        selector.matches(&caller.session, caller.role, principal)
    }

    /// Is it about this method, whoever calls? `is_called` says whether a name is one of the method's.
    pub fn covers(&self, info: &MethodInfo, is_called: impl FnOnce(&str) -> bool) -> bool {
        let is_from = |origin: &String| {
            let full = info.origin.to_string();
            let sort = full.split_once(':').map_or(full.as_str(), |(sort, _)| sort);
            *origin == full || origin == sort
        };
        self.kind.is_none_or(|kind| kind == info.kind)
            && self.effect.is_none_or(|effect| effect == info.effect)
            && self.origin.as_ref().is_none_or(is_from)
            && self
                .method
                .as_ref()
                .is_none_or(|name| name == "*" || is_called(name))
    }
}

/// `deny role=member method=send_message`; what follows the first word is as it is written in JSON.
impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Ok(Json::Object(mut fields)) = serde_json::to_value(self) else {
            return Err(fmt::Error);
        };
        let then = fields.remove("then").unwrap_or_default();
        f.write_str(then.as_str().unwrap_or_default())?;
        if fields.is_empty() {
            return f.write_str(" everything");
        }
        for (name, value) in &fields {
            write!(f, " {name}={}", value.as_str().unwrap_or_default())?;
        }
        Ok(())
    }
}

fn is_origin(text: &str) -> bool {
    match text.split_once(':') {
        None => ["builtin", "plugin", "mcp", "client", "agent"].contains(&text),
        Some((sort, id)) => ["plugin", "mcp", "client", "agent"].contains(&sort) && !id.is_empty(),
    }
}
