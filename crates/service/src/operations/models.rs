//! Models, as the operator adds, tries and arranges them.

use callgate_contract::{Accepts, Price, Usage};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ModelView {
    pub id: String,
    /// The protocol it is asked by.
    pub wire: Option<String>,
    /// What its provider calls it.
    pub name: Option<String>,
    pub accepts: Accepts,
    pub price: Option<Price>,
    /// Who answers in its place when it cannot, in this order.
    pub fallback: Vec<String>,
    /// `configuration`, `environment`, `this machine`, `built in` or `file`.
    pub source: String,
    /// It answers where nobody chose another.
    pub default: bool,
    /// It looks at images where a chat's own model cannot.
    pub vision: bool,
    /// It turns texts into vectors.
    pub embedding: bool,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewModel {
    pub id: String,
    /// One of those that GET /api/models/found lists; then address and model may be left out.
    pub provider: Option<String>,
    pub base_url: Option<String>,
    pub model: Option<String>,
    pub wire: Option<String>,
    /// Kept in the configuration file, which is then its owner's alone.
    pub key: Option<String>,
    /// The environment variable that holds the key.
    pub key_env: Option<String>,
    #[serde(default)]
    pub fallback: Vec<String>,
    #[serde(default)]
    pub image: bool,
    #[serde(default)]
    pub audio: bool,
    /// Make it the one that answers where nobody chose another.
    #[serde(default)]
    pub default: bool,
    /// Ask it something first, and write it down only if it answers.
    #[serde(default = "yes")]
    pub check: bool,
}

fn yes() -> bool {
    true
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct MadeModel {
    pub model: ModelView,
    pub test: Option<ModelTest>,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ModelTest {
    pub id: String,
    pub ok: bool,
    pub millis: u64,
    pub text: Option<String>,
    pub usage: Option<Usage>,
    pub error: Option<String>,
    pub hint: Option<String>,
}

#[derive(Clone, Debug)]
pub struct ChangeModel {
    pub id: String,
    pub fallback: Option<Vec<String>>,
    pub default: Option<bool>,
    pub vision: Option<bool>,
}

/// What could be used at once.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct FoundModels {
    pub providers: Vec<FoundProvider>,
    /// Model servers on this machine that answer.
    pub servers: Vec<FoundServer>,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct FoundProvider {
    pub id: String,
    pub base_url: String,
    /// The one that is used where none is named.
    pub model: String,
    /// Environment variables that may hold its key.
    pub variables: Vec<String>,
    /// The one of them that is set.
    pub key_found: Option<String>,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct FoundServer {
    pub name: String,
    pub base_url: String,
    pub models: Vec<String>,
}
