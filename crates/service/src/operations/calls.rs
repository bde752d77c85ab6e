//! One method, called directly.

use callgate_contract::Kind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct CallResult {
    /// What the method gave: any JSON.
    pub value: Json,
    pub kind: Kind,
}
