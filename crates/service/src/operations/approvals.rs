//! Approvals: what waits for the operator's answer, answering it, and the answers that stand.

use callgate_agent::RunReport;
use callgate_contract::{JournalId, Message, SessionKey};
use callgate_store::{Approval, ApprovalState, Decision, Rule, StandingRule};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::{CallResult, List, Page};
use crate::{Capability, News, Operation, Principal, Service, ServiceError};

/// What waits for an answer, the newest first.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct ListApprovals {
    /// Also those that are answered.
    #[serde(default)]
    pub all: bool,
    /// Only those of this session.
    pub session: Option<SessionKey>,
    #[serde(flatten)]
    pub page: Page,
}

impl Operation for ListApprovals {
    type Response = List<ApprovalView>;
    const NAME: &'static str = "approvals.list";
    const CAPABILITY: Capability = Capability::Approve;

    async fn execute(
        self,
        service: &Service,
        _: &Principal,
    ) -> Result<Self::Response, ServiceError> {
        let state = (!self.all).then_some(ApprovalState::Pending);
        let approvals = service.store().approvals().list(state).await?;
        let views = approvals.into_iter().rev().map(ApprovalView::from);
        let chosen = self.session.as_ref();
        let views = views.filter(|view| chosen.is_none_or(|session| view.session == *session));
        self.page.of(views.collect(), |view| view.id.to_string())
    }
}

/// What waits for it goes on.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AnswerApproval {
    pub id: i64,
    pub allow: bool,
    /// Also for later calls of this method in that session.
    #[serde(default)]
    pub always: bool,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct AnsweredApproval {
    pub approval: ApprovalView,
    /// What waited goes on by itself.
    pub continues: bool,
    /// What came of it, where it was done for this answer.
    pub report: Option<ContinuedReport>,
}

/// What came of that which had stopped to wait.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum ContinuedReport {
    Turn(ContinuedTurn),
    Run(Box<RunReport>),
    Call(CallResult),
    Failed(FailureView),
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ContinuedTurn {
    pub turn: JournalId,
    /// `approval` where it waits again.
    pub stop: String,
    pub messages: Vec<Message>,
}

/// A failure inside a report of something that succeeded.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct FailureView {
    pub error: String,
    pub hint: String,
}

impl From<ServiceError> for FailureView {
    fn from(error: ServiceError) -> Self {
        FailureView {
            hint: error.hint.to_string(),
            error: error.message,
        }
    }
}

impl Operation for AnswerApproval {
    type Response = AnsweredApproval;
    const NAME: &'static str = "approvals.answer";
    const CAPABILITY: Capability = Capability::Approve;

    async fn execute(
        self,
        service: &Service,
        principal: &Principal,
    ) -> Result<Self::Response, ServiceError> {
        let decision = if self.allow {
            Decision::Allow
        } else {
            Decision::Deny
        };
        let by = principal.label();
        service
            .answer_approval(&by, self.id, decision, self.always)
            .await
    }
}

/// Answers that stand, the newest first.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct ListApprovalRules {
    #[serde(flatten)]
    pub page: Page,
}

impl Operation for ListApprovalRules {
    type Response = List<RuleView>;
    const NAME: &'static str = "approvals.rules";
    const CAPABILITY: Capability = Capability::Approve;

    async fn execute(
        self,
        service: &Service,
        _: &Principal,
    ) -> Result<Self::Response, ServiceError> {
        let rules = service.store().approvals().rules().await?;
        let views = rules.into_iter().rev().map(RuleView::from);
        self.page.of(views.collect(), |view| view.id.to_string())
    }
}

/// The next call is asked about again.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RevokeApprovalRule {
    pub id: i64,
}

impl Operation for RevokeApprovalRule {
    type Response = RuleView;
    const NAME: &'static str = "approvals.revoke_rule";
    const CAPABILITY: Capability = Capability::Approve;

    async fn execute(
        self,
        service: &Service,
        _: &Principal,
    ) -> Result<Self::Response, ServiceError> {
        let revoked = service.store().approvals().revoke_rule(self.id).await?;
        service.live().announce(&News::Rules {});
        Ok(revoked.into())
    }
}

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

/// A standing answer for one method in one session.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct RuleView {
    pub id: i64,
    pub session: SessionKey,
    pub method: String,
    /// `always` or `never`.
    #[schemars(with = "String")]
    pub decision: Rule,
    #[schemars(with = "String")]
    pub made_at: Timestamp,
    /// Whose answer it was, where that is known.
    pub made_by: Option<String>,
}

impl From<StandingRule> for RuleView {
    fn from(rule: StandingRule) -> Self {
        RuleView {
            id: rule.id,
            session: rule.session,
            method: rule.method,
            decision: rule.decision,
            made_at: rule.made_at,
            made_by: rule.made_by,
        }
    }
}
