//! Approvals: what waits for the operator's answer, or waited.

use callgate_contract::SessionKey;
use callgate_store::{Approval, ApprovalState};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

/// What waits for the operator's word, or waited.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ApprovalView {
    pub id: i64,
    pub method: String,
    pub arguments: Json,
    pub session: SessionKey,
    pub user: String,
    /// The run or turn that asks.
    pub journal: String,
    /// `pending`, `allowed`, `denied`, or `withdrawn` where what asked has ended.
    #[schemars(with = "String")]
    pub state: ApprovalState,
    #[schemars(with = "String")]
    pub asked_at: Timestamp,
    #[schemars(with = "Option<String>")]
    pub answered_at: Option<Timestamp>,
    /// Whose word it was.
    pub answered_by: Option<String>,
}

impl From<Approval> for ApprovalView {
    fn from(approval: Approval) -> Self {
        let ask = approval.ask;
        ApprovalView {
            id: approval.id,
            method: ask.method,
            arguments: ask.arguments,
            session: ask.session,
            user: ask.user,
            journal: ask.journal.0.to_string(),
            state: approval.state,
            asked_at: approval.asked_at,
            answered_at: approval.answered_at,
            answered_by: approval.answered_by,
        }
    }
}
