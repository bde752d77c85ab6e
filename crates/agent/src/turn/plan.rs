//! [`TurnPlan`]: what a turn was begun with, beside the columns of its row. Written once; a turn that goes
//! on elsewhere or later goes on with it.

use callgate_contract::{Part, Principal};
use callgate_store::TurnStart;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

/// Of [`super::state::TurnState`]: raised when the same record would lead to other actions. A turn is resumed
/// only where the rules are known by which it was begun.
pub(crate) const STEP_VERSION: u32 = 1;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct TurnPlan {
    /// [`STEP_VERSION`] when it began.
    pub(crate) version: u32,
    /// What to answer.
    pub(crate) parts: Vec<Part>,
    /// Who else has spoken in it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) others: Vec<Principal>,
    /// What the one it acts for has said; `None` if that is all of `parts`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) own: Option<Vec<String>>,
    /// The newest log row when it began: what is newer was said in it.
    pub(crate) mark: i64,
    /// Its answer is a plugin's to send.
    pub(crate) handed_over: bool,
    /// At most so many, where the plugin that asked said so.
    pub(crate) rounds: Option<u32>,
    /// Its answer goes back to whoever asked, and with the asker the turn is gone.
    pub(crate) returned: bool,
    /// Of a turn without rounds: the command that it carries out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) command: Option<String>,
    /// Of a turn without rounds: what is said to somebody who is beyond a limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) refusal: Option<String>,
    /// Of a turn without rounds: what the operator wants to be said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) announcement: Option<String>,
}

impl TurnPlan {
    /// Of an erased one, as if nothing had been asked.
    pub(crate) fn of(start: &TurnStart) -> Self {
        serde_json::from_value(start.plan.clone()).unwrap_or_default()
    }

    pub(crate) fn to_json(&self) -> Json {
        serde_json::to_value(self).unwrap_or_default()
    }
}
