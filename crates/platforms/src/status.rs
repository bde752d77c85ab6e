//! What the operator sees of a platform: is it connected, as whom, and what went wrong last.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PlatformStatus {
    /// Bots that can be reached now.
    pub accounts: Vec<AccountStatus>,
    /// Where it listens, if it does.
    pub listening: Option<String>,
    /// What went wrong last, and when (milliseconds since 1970).
    pub last_error: Option<String>,
    pub last_error_at: Option<i64>,
    /// When anything was last heard.
    pub last_event_at: Option<i64>,
    /// Messages since the start.
    pub received: u64,
    pub sent: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AccountStatus {
    pub id: String,
    pub name: String,
    /// The program that connects it.
    pub program: String,
    /// Milliseconds since 1970.
    pub since: i64,
}
