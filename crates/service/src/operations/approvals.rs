//! Approvals: what waits for the operator's answer, answering it, and the answers that stand.

use callgate_agent::RunReport;
use callgate_contract::{JournalId, Message, Permission, SessionKey, StrangeValues};
use callgate_store::{
    Approval, ApprovalState, Approver, Decision, Standing, StoreError, StoredRule,
};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::{CallResult, List, Page};
use crate::{Capability, News, Operation, Requester, Service, ServiceError};

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
        _: &Requester,
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
    /// Also for later calls of this method by the same person in that session, until its parameters
    /// change.
    #[serde(default)]
    pub always: bool,
    /// Always, and for everybody in that session.
    #[serde(default)]
    pub everyone: bool,
    /// Always, and with the same arguments only.
    #[serde(default)]
    pub same_arguments: bool,
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
        requester: &Requester,
    ) -> Result<Self::Response, ServiceError> {
        let decision = if self.allow {
            Decision::Allow
        } else {
            Decision::Deny
        };
        let by = requester.label();
        let stands = self.always || self.everyone || self.same_arguments;
        let standing = stands.then_some(Standing {
            everyone: self.everyone,
            same_arguments: self.same_arguments,
        });
        service
            .answer_approval(&by, self.id, decision, standing)
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
        _: &Requester,
    ) -> Result<Self::Response, ServiceError> {
        let rules = service.store().rules().list().await?;
        let views = rules.into_iter().rev().filter_map(RuleView::of);
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
        _: &Requester,
    ) -> Result<Self::Response, ServiceError> {
        let rules = service.store().rules().list().await?;
        let mut answers = rules.into_iter().filter_map(RuleView::of);
        let unknown = || StoreError::UnknownRule(self.id);
        let revoked = answers.find(|it| it.id == self.id).ok_or_else(unknown)?;
        service.gate().remove_rule(self.id).await?;
        service.live().announce(&News::Rules {});
        Ok(revoked)
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
    /// Whose word it waits for: the operator's, or that of the person in whose name it is made. An
    /// operator's counts in either case.
    pub approver: Approver,
    /// Why it is asked, where no rule says so.
    pub reason: Option<StrangeValues>,
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
            user: ask.principal.user().into_owned(),
            journal: ask.journal.0.to_string(),
            approver: ask.approver,
            reason: ask.reason,
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
    pub decision: String,
    /// Whose calls; everybody's in that session where there is none.
    pub person: Option<String>,
    /// With these arguments only.
    pub arguments: Option<Json>,
    #[schemars(with = "String")]
    pub made_at: Timestamp,
    /// Whose answer it was, where that is known.
    pub made_by: Option<String>,
}

impl RuleView {
    /// `None` of a rule that answers nothing.
    fn of(stored: StoredRule) -> Option<Self> {
        let (answer, rule) = (stored.answer?, stored.rule);
        Some(RuleView {
            id: stored.id,
            session: rule.group?,
            method: rule.method?,
            decision: match rule.then {
                Permission::Allow => "always".to_owned(),
                Permission::Confirm | Permission::Ask | Permission::Deny => "never".to_owned(),
            },
            person: rule.person.as_ref().map(ToString::to_string),
            arguments: answer.arguments,
            made_at: stored.made_at,
            made_by: stored.made_by,
        })
    }
}
