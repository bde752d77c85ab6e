//! Approvals: what waits for the operator's word, and giving it.

use axum::{Extension, Json as Body, extract::State};
use callgate_contract::SessionKey;
use callgate_store::{Approval, ApprovalState, Decision};
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
use crate::operations::SettleAsk;

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
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Which {
    /// `true`: also those that are answered.
    all: Option<String>,
    #[serde(flatten)]
    piece: Piece,
}

/// What waits for the operator's word, or waited.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ApprovalView {
    id: i64,
    method: String,
    arguments: Json,
    pub(crate) session: SessionKey,
    user: String,
    /// The run or turn that asks.
    journal: String,
    /// `pending`, `allowed` or `denied`.
    #[schemars(with = "String")]
    state: ApprovalState,
    #[schemars(with = "String")]
    asked_at: Timestamp,
    #[schemars(with = "Option<String>")]
    answered_at: Option<Timestamp>,
    /// Whose word it was.
    answered_by: Option<String>,
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
