//! Runs: the playground. Code goes into the sandbox as it would from a model, and what it did comes
//! back.

use axum::{Extension, Json as Body, extract::State};
use callgate_contract::{JournalId, SessionKey};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value as Json;

use super::{
    Api, Outcome,
    access::Access,
    input::Given,
    route::{Routes, Verb},
    sessions::page_session,
    view::RunView,
};
use crate::operations::RunAsk;

pub(super) fn routes(routes: &mut Routes) {
    routes
        .add(Verb::Post, "/api/runs", "Run Python in the sandbox", run)
        .takes::<RunBody>()
        .gives::<RunView>();
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RunBody {
    code: String,
    /// Whose folders and methods it gets.
    session: Option<SessionKey>,
    timeout_seconds: Option<u64>,
}

async fn run(
    State(api): State<Api>,
    Extension(access): Extension<Access>,
    Given(body): Given<RunBody>,
) -> Outcome<Json> {
    let ask = RunAsk {
        run: JournalId::fresh(),
        code: body.code,
        session: match body.session {
            Some(session) => session,
            None => page_session(&access)?,
        },
        user: access.user(),
        timeout_seconds: body.timeout_seconds.map(|seconds| seconds.clamp(1, 3_600)),
    };
    Ok(Body((api.operations().run)(ask).await?))
}
