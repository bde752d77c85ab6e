//! Approvals: what waits for the operator's answer, answering it, and the answers that stand.

use callgate_service::operations::{
    AnswerApproval, ListApprovalRules, ListApprovals, RevokeApprovalRule,
};

use super::route::{Routes, Verb::*};

pub(super) fn routes(routes: &mut Routes) {
    routes.operation::<ListApprovals>(Get, "/api/approvals", "What waits for an answer");
    routes.operation::<AnswerApproval>(Post, "/api/approvals/{id}", "Allow or deny a call");
    routes.operation::<ListApprovalRules>(
        Get,
        "/api/approvals/rules",
        "Standing answers, the newest first",
    );
    routes.operation::<RevokeApprovalRule>(
        Delete,
        "/api/approvals/rules/{id}",
        "Revoke a standing answer: the next call is asked about again",
    );
}
