//! How models are configured. Keys and header values are secrets from the moment they are read.

use std::{collections::BTreeMap, time::Duration};

use callgate_contract::{Accepts, ModelOptions, Price};
use secrecy::SecretString;
use serde::{Deserialize, Deserializer};

use crate::wire::Wire;

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    /// The model of sessions that chose none; else the first of the list.
    pub default: Option<String>,
    /// The model that looks at what a session's model cannot take.
    pub vision: Option<String>,
    /// The model that turns texts into vectors.
    pub embedding: Option<String>,
    pub list: Vec<ModelSettings>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelSettings {
    pub id: String,
    /// Else told by the address.
    #[serde(default)]
    pub wire: Option<Wire>,
    /// What the wire's own path is added to, such as `https://api.openai.com/v1`.
    pub base_url: String,
    /// The model's name on the wire; else its id.
    #[serde(default)]
    pub model: Option<String>,
    /// Used in turn; one that is refused rests while the others are used.
    #[serde(default, alias = "key", deserialize_with = "one_or_many")]
    pub keys: Vec<SecretString>,
    #[serde(default)]
    pub headers: BTreeMap<String, SecretString>,
    /// Used where a request says nothing else.
    #[serde(default)]
    pub options: ModelOptions,
    /// Else what models of its wire usually take.
    #[serde(default)]
    pub accepts: Option<Accepts>,
    /// Else the provider's list price, where it is known.
    #[serde(default)]
    pub price: Option<Price>,
    /// The ids of models to ask, in order, when this one fails before its first word.
    #[serde(default)]
    pub fallback: Vec<String>,
    #[serde(default)]
    pub return_reasoning: bool,
    /// Seconds without a byte from the server after which the model counts as gone.
    #[serde(
        rename = "silence",
        default = "read_timeout",
        deserialize_with = "seconds"
    )]
    pub read_timeout: Duration,
    /// How often one request is repeated after a failure that may pass.
    #[serde(default = "retries")]
    pub retries: u32,
}

impl ModelSettings {
    pub fn new(id: impl Into<String>, base_url: impl Into<String>) -> Self {
        ModelSettings {
            id: id.into(),
            wire: None,
            base_url: base_url.into(),
            model: None,
            keys: Vec::new(),
            headers: BTreeMap::new(),
            options: ModelOptions::default(),
            accepts: None,
            price: None,
            fallback: Vec::new(),
            return_reasoning: false,
            read_timeout: read_timeout(),
            retries: retries(),
        }
    }

    pub fn wire(&self) -> Wire {
        let guess = || Wire::guess(&self.base_url, self.name());
        self.wire.unwrap_or_else(guess)
    }

    /// The model's name on the wire.
    pub fn name(&self) -> &str {
        self.model.as_deref().unwrap_or(&self.id)
    }
}

/// Reasoning models may think for minutes before the first byte.
fn read_timeout() -> Duration {
    Duration::from_secs(180)
}

fn retries() -> u32 {
    4
}

fn seconds<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    let seconds = f64::deserialize(deserializer)?;
    Duration::try_from_secs_f64(seconds).map_err(serde::de::Error::custom)
}

fn one_or_many<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<SecretString>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Keys {
        One(SecretString),
        Many(Vec<SecretString>),
    }
    Ok(match Keys::deserialize(deserializer)? {
        Keys::One(key) => vec![key],
        Keys::Many(keys) => keys,
    })
}
