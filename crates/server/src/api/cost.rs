//! What models have cost.

use axum::{Json as Body, extract::State};
use callgate_agent::{CostReport, since};
use callgate_store::CostBy;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    Api, Outcome,
    input::Params,
    problem::Problem,
    route::{Routes, Verb},
};

/// How far back, where nothing is said.
const USUAL: &str = "30d";

pub(super) fn routes(routes: &mut Routes) {
    routes
        .add(Verb::Get, "/api/cost", "What models have cost", sum)
        .query::<Which>()
        .gives::<CostReport>();
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Which {
    /// By what costs are told apart; by day where left out.
    by: Option<CostBy>,
    /// `7d`, `24h`, `30m`, `2w`, a date, or a time; 30 days where left out.
    since: Option<String>,
}

async fn sum(State(api): State<Api>, Params(which): Params<Which>) -> Outcome<CostReport> {
    let since = since(which.since.as_deref().unwrap_or(USUAL), Timestamp::now());
    let since = since.map_err(Problem::bad)?;
    let by = which.by.unwrap_or_default();
    Ok(Body(CostReport::of(api.store(), by, since).await?))
}
