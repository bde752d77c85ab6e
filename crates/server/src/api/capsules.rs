//! Sessions as files to take away and to execute again.

use axum::{
    Json as Body,
    extract::State,
    http::{HeaderValue, header},
    response::{IntoResponse, Response},
};
use callgate_agent::capsule::Replayed;
use callgate_contract::SessionKey;
use callgate_service::{Capability, operations::ReplayTurn};

use super::{
    Api, Outcome,
    input::{Path, Raw},
    problem::Problem,
    route::{Routes, Verb::*},
};

const MEDIA: &str = "application/x-ndjson";

pub(super) fn routes(routes: &mut Routes) {
    routes
        .add(
            Get,
            "/api/sessions/{session}/capsule",
            "The session as one file that can be executed again anywhere",
            session,
        )
        .media(MEDIA)
        .needs(Capability::Read);
    routes
        .add(
            Get,
            "/api/turns/{id}/capsule",
            "One turn as a file that can be executed again anywhere",
            turn,
        )
        .media(MEDIA)
        .needs(Capability::Read);
    routes.operation::<ReplayTurn>(
        Post,
        "/api/turns/{id}/replay",
        "Execute a turn again from its record, elsewhere, and tell the first difference",
    );
    routes
        .add(
            Post,
            "/api/capsules/replay",
            "Execute a capsule again, elsewhere, and tell the first difference",
            replay,
        )
        .takes_bytes(MEDIA)
        .gives::<Replayed>()
        .needs(Capability::Sessions);
}

async fn session(
    State(api): State<Api>,
    Path(session): Path<SessionKey>,
) -> Result<Response, Problem> {
    Ok(file(api.service().session_file(&session).await?))
}

async fn turn(State(api): State<Api>, Path(turn): Path<String>) -> Result<Response, Problem> {
    Ok(file(api.service().turn_file(&turn).await?))
}

fn file(bytes: Vec<u8>) -> Response {
    let save = HeaderValue::from_static("attachment; filename=\"session.capsule\"");
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static(MEDIA)),
        (header::CONTENT_DISPOSITION, save),
    ];
    (headers, bytes).into_response()
}

async fn replay(State(api): State<Api>, Raw(bytes): Raw) -> Outcome<Replayed> {
    Ok(Body(api.service().replay_file(bytes.into()).await?))
}
