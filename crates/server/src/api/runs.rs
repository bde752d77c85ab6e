//! Runs: the playground. Code goes into the sandbox as it would from a model, and what it did comes
//! back.

use std::sync::Arc;

use axum::{Extension, Json as Body, extract::State};
use callgate_agent::{CallReport, RunReport, TurnEvent, Watch};
use callgate_contract::{JournalId, SessionKey};
use schemars::JsonSchema;
use serde::Deserialize;
use uuid::Uuid;

use super::{
    Api, Outcome,
    access::Access,
    input::Given,
    route::{Routes, Verb},
    sessions::page_session,
};
use callgate_service::{News, Observer, RunNews, request::RunCode};

pub(super) fn routes(routes: &mut Routes) {
    routes
        .add(Verb::Post, "/api/runs", "Run Python in the sandbox", run)
        .takes::<RunBody>()
        .gives::<RunReport>();
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RunBody {
    code: String,
    /// Whose folders and methods it gets.
    session: Option<SessionKey>,
    timeout_seconds: Option<u64>,
    /// A fresh id for it, if what it prints is to be told from others' at /api/events.
    #[schemars(with = "Option<String>")]
    run: Option<Uuid>,
}

async fn run(
    State(api): State<Api>,
    Extension(access): Extension<Access>,
    Given(body): Given<RunBody>,
) -> Outcome<RunReport> {
    let run = match body.run {
        Some(run) => JournalId(run),
        None => JournalId::fresh(),
    };
    let session = match body.session {
        Some(session) => session,
        None => page_session(&access)?,
    };
    let (live, told) = (api.live().clone(), session.clone());
    let tell = Arc::new(move |output: Option<&str>, call: Option<CallReport>| {
        live.announce(&News::Run(RunNews {
            run: run.0.to_string(),
            session: told.clone(),
            output: output.map(str::to_owned),
            call,
        }));
    });
    let of_calls = tell.clone();
    let watch = Watch::new(move |event| {
        if let TurnEvent::Call { call } = event {
            of_calls(None, Some(call));
        }
    });
    let code = RunCode {
        run,
        code: body.code,
        session,
        user: access.user(),
        timeout_seconds: body.timeout_seconds.map(|seconds| seconds.clamp(1, 3_600)),
    };
    let observer = Observer {
        output: Some(Box::new(move |output| tell(Some(output), None))),
        watch,
        ..Observer::default()
    };
    let service = api.service().clone();
    let running = async move { service.run(code, observer).await };
    Ok(Body(api.service().detached(running).await?))
}
