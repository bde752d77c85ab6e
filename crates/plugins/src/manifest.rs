//! `callgate.toml` in a plugin's folder: what the plugin says of its methods that its flavour has no words for.
//! It is there for any flavour, and may be missing.

use std::collections::BTreeMap;

use callgate_contract::{DeclaredTrust, Trust};
use serde::Deserialize;

use crate::Source;

const NAME: &str = "callgate.toml";

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Manifest {
    methods: BTreeMap<String, DeclaredTrust>,
}

impl Manifest {
    /// One that cannot be read is as good as none, and the operator is told.
    pub(crate) fn of(source: &Source) -> Self {
        let text = match std::fs::read_to_string(source.code().join(NAME)) {
            Ok(text) => text,
            Err(_) => return Manifest::default(),
        };
        toml::from_str(&text).unwrap_or_else(|error| {
            tracing::warn!(plugin = source.name(), %error, "ignored the plugin's {NAME}");
            Manifest::default()
        })
    }

    pub(crate) fn trust(&self, method: &str) -> Trust {
        let declared = self.methods.get(method).cloned();
        declared.map_or_else(Trust::default, Trust::from)
    }
}
