//! The operator's configuration: every key, what it is and where that is said.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

/// By `section.field`; null goes back to the default.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ChangeSettings {
    pub values: Map<String, Json>,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct SettingsView {
    /// Where changes are written.
    pub file: String,
    pub items: Vec<SettingView>,
    /// Those whose new value is used after a restart.
    pub restart: Vec<String>,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct SettingView {
    /// `section.field`.
    pub name: String,
    pub shape: SettingShape,
    /// The shape in words.
    pub words: String,
    /// Of a choice.
    pub choices: Vec<String>,
    /// Of a secret only whether one is set: `{"$secret": true}`.
    pub value: Json,
    /// In words.
    pub default: String,
    pub source: SettingSource,
    pub secret: bool,
    pub meaning: String,
    /// The environment variable that sets it.
    pub variable: String,
    /// A change is used at once.
    pub live: bool,
    /// It cannot be changed here: the environment says it, or it has routes of its own.
    pub locked: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SettingShape {
    Text,
    Choice,
    Count,
    Number,
    Fraction,
    /// Of money.
    Amount,
    Flag,
    Names,
    Tables,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SettingSource {
    Default,
    File,
    Environment,
}
