//! Approvals: what waits for the operator's word, giving it, and the standing answers that were left.

use axum::{Extension, Json as Body, extract::State};
use callgate_contract::SessionKey;
use callgate_store::{Approval, ApprovalState, Decision, Rule, StandingRule};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::{
    Api, Outcome,
    access::Access,
    input::{Given, Params, Path},
    list::{List, Piece},
    route::{Routes, Verb},
};
use crate::{News, operations::SettleAsk};

pub(super) fn routes(routes: &mut Routes) {
    routes
        .add(
            Verb::Get,
            "/api/approvals",
            "What waits for your word",
            list,
        )
        .query::<Which>()
        .gives::<List<ApprovalView>>();
    routes
        .add(Verb::Post, "/api/approvals/{id}", "Allow or deny", answer)
        .takes::<Word>()
        .gives::<Json>();
    routes
        .add(
            Verb::Get,
            "/api/approvals/rules",
            "Standing answers, the newest first",
            list_rules,
        )
        .query::<Piece>()
        .gives::<List<RuleView>>();
    routes
        .add(
            Verb::Delete,
            "/api/approvals/rules/{id}",
            "Revoke one: the next call is asked about again",
            revoke_rule,
        )
        .gives::<RuleView>();
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Which {
    /// `true`: also those that are answered.
    all: Option<String>,
    #[serde(flatten)]
    piece: Piece,
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

/// A standing answer for one method in one session.
#[derive(Debug, Serialize, JsonSchema)]
struct RuleView {
    id: i64,
    session: SessionKey,
    method: String,
    /// `always` or `never`.
    #[schemars(with = "String")]
    decision: Rule,
    #[schemars(with = "String")]
    made_at: Timestamp,
    /// Whose answer it was, where that is known.
    made_by: Option<String>,
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

async fn list(State(api): State<Api>, Params(which): Params<Which>) -> Outcome<List<ApprovalView>> {
    let state = (which.all.as_deref() != Some("true")).then_some(ApprovalState::Pending);
    let approvals = api.store().approvals().list(state).await?;
    let views = approvals
        .into_iter()
        .rev()
        .map(ApprovalView::from)
        .collect();
    Ok(Body(which.piece.of(views, |view| view.id.to_string())?))
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Word {
    allow: bool,
    /// Also for later calls of this method in that session.
    #[serde(default)]
    always: bool,
}

async fn answer(
    State(api): State<Api>,
    Extension(access): Extension<Access>,
    Path(approval): Path<i64>,
    Given(word): Given<Word>,
) -> Outcome<Json> {
    let ask = SettleAsk {
        approval,
        decision: match word.allow {
            true => Decision::Allow,
            false => Decision::Deny,
        },
        always: word.always,
        by: format!("key {}", access.key.id),
    };
    Ok(Body(api.operations().settle.ask(ask).await?))
}

async fn list_rules(
    State(api): State<Api>,
    Params(piece): Params<Piece>,
) -> Outcome<List<RuleView>> {
    let rules = api.store().approvals().rules().await?;
    let views = rules.into_iter().rev().map(RuleView::from).collect();
    Ok(Body(
        piece.of(views, |view: &RuleView| view.id.to_string())?,
    ))
}

async fn revoke_rule(State(api): State<Api>, Path(id): Path<i64>) -> Outcome<RuleView> {
    let revoked = api.store().approvals().revoke_rule(id).await?;
    api.live().announce(&News::Rules {});
    Ok(Body(revoked.into()))
}
