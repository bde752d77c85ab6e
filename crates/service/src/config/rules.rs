//! `[[rule]]`: who may call what, in order. A rule that says nothing sensible is refused at once: it
//! would hold for others than it was meant for.

use callgate_contract::{Permission, Rule};
use toml::Value;

use super::Config;
use crate::ServiceError;

impl Config {
    /// All that the configuration says, in the order in which it is looked at.
    pub fn rules(&self) -> Vec<Rule> {
        let asking = self.approval.ask.iter().map(|name| Rule {
            method: Some(name.clone()),
            ..Rule::new(Permission::Ask)
        });
        self.rule.iter().cloned().chain(asking).collect()
    }
}

pub(super) fn check(content: &Value, file: &str) -> Result<(), ServiceError> {
    let refused = |reason: &str| {
        let hint = "docs/rules.md shows how rules are written";
        ServiceError::refused(format!("[[rule]] in {file}: {reason}"), hint)
    };
    let rules: Vec<Rule> = content
        .clone()
        .try_into()
        .map_err(|error: toml::de::Error| refused(error.message()))?;
    for rule in &rules {
        rule.check().map_err(|error| refused(&error.to_string()))?;
    }
    Ok(())
}
