//! Sessions as files to take away and to execute again.

use axum::{
    Json as Body,
    body::Bytes,
    extract::State,
    http::{HeaderValue, header},
    response::{IntoResponse, Response},
};
use callgate_contract::{JournalId, SessionKey};
use serde_json::Value as Json;

use super::{
    Api, Outcome,
    input::Path,
    problem::Problem,
    route::{Routes, Verb},
};
use callgate_service::operations::WhichCapsule;

pub(super) fn routes(routes: &mut Routes) {
    routes
        .add(
            Verb::Get,
            "/api/sessions/{session}/capsule",
            "The session as one file that can be executed again anywhere",
            session,
        )
        .media("application/x-ndjson");
    routes
        .add(
            Verb::Get,
            "/api/turns/{id}/capsule",
            "One turn as a file that can be executed again anywhere",
            turn,
        )
        .media("application/x-ndjson");
    routes
        .add(
            Verb::Post,
            "/api/turns/{id}/replay",
            "Execute a turn again from its record, elsewhere, and tell the first difference",
            replay_turn,
        )
        .gives::<Json>();
    routes
        .add(
            Verb::Post,
            "/api/capsules/replay",
            "Execute a capsule again, elsewhere, and tell the first difference",
            replay,
        )
        .takes_bytes("application/x-ndjson")
        .gives::<Json>();
}

async fn session(
    State(api): State<Api>,
    Path(session): Path<SessionKey>,
) -> Result<Response, Problem> {
    let which = WhichCapsule {
        session,
        turn: None,
    };
    file(&api, which).await
}

async fn turn(State(api): State<Api>, Path(turn): Path<String>) -> Result<Response, Problem> {
    let which = which(&api, &turn).await?;
    file(&api, which).await
}

async fn file(api: &Api, which: WhichCapsule) -> Result<Response, Problem> {
    let bytes = api.service().capsule_file(which).await?;
    let kind = HeaderValue::from_static("application/x-ndjson");
    let save = HeaderValue::from_static("attachment; filename=\"session.capsule\"");
    let headers = [
        (header::CONTENT_TYPE, kind),
        (header::CONTENT_DISPOSITION, save),
    ];
    Ok((headers, bytes).into_response())
}

async fn which(api: &Api, name: &str) -> Result<WhichCapsule, Problem> {
    let missing = |_| Problem::missing(format!("no turn {name}"));
    let turn = JournalId(name.parse().map_err(missing)?);
    let session = api.store().turns().get(turn).await?.start.session;
    Ok(WhichCapsule {
        session,
        turn: Some(turn),
    })
}

async fn replay_turn(State(api): State<Api>, Path(turn): Path<String>) -> Outcome<Json> {
    let which = which(&api, &turn).await?;
    let replayed = api.service().replay_turn(which).await?;
    Ok(Body(replayed))
}

async fn replay(State(api): State<Api>, bytes: Bytes) -> Outcome<Json> {
    Ok(Body(api.service().replay_file(bytes.into()).await?))
}
