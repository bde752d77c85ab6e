//! Approvals: what waits for the operator's word, giving it, and the standing answers that were left.

use axum::{Extension, Json as Body, extract::State};
use callgate_contract::SessionKey;
use callgate_store::{ApprovalState, Rule, StandingRule};
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
use callgate_service::{News, operations::ApprovalView, request::Verdict};

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
    let verdict = if word.allow {
        Verdict::Allow
    } else {
        Verdict::Deny
    };
    let by = format!("key {}", access.key.id);
    let service = api.service().clone();
    let settled = api.service().detached(async move {
        service
            .settle(Some(&by), approval, verdict, word.always)
            .await
    });
    Ok(Body(settled.await?))
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
