//! Sessions: where people speak, what was said, and speaking there.

use axum::{Extension, Json as Body, extract::State, http::HeaderMap};
use callgate_contract::SessionKey;
use callgate_service::operations::{
    GetSession, ListMessages, ListSessions, PreviewPrompt, SendMessage, SendMessageResponse,
    StopTurn, UpdateSession,
};
use serde_json::{Map, Value as Json};

use super::{
    Api, Outcome,
    access::Access,
    input::{JsonBody, Path},
    operation::unreadable,
    problem::Problem,
    route::{Routes, Verb::*},
};

const IDEMPOTENCY_KEY: &str = "idempotency-key";

pub(super) fn routes(routes: &mut Routes) {
    const ONE: &str = "/api/sessions/{session}";
    routes.operation::<ListSessions>(Get, "/api/sessions", "Sessions, the latest first");
    routes.operation::<GetSession>(Get, ONE, "One session");
    routes.operation::<UpdateSession>(
        Patch,
        ONE,
        "Choose its model, persona, mode, and when it is answered",
    );
    routes.operation::<ListMessages>(
        Get,
        "/api/sessions/{session}/log",
        "What was said, newest first",
    );
    routes
        .add(
            Post,
            "/api/sessions/{session}/messages",
            "Send a message",
            send_message,
        )
        .header(
            IDEMPOTENCY_KEY,
            "The sender's own name for this message. Sent again under the same name, it is the same \
             message and gets the same answer.",
        )
        .takes_operation::<SendMessage>(&["session", "idempotency_key"])
        .gives::<SendMessageResponse>()
        // With pictures in it.
        .most(32 << 20);
    routes.operation::<StopTurn>(
        Post,
        "/api/sessions/{session}/stop",
        "Stop the turn that runs",
    );
    routes.operation::<PreviewPrompt>(
        Get,
        "/api/sessions/{session}/prompt",
        "What a model would be asked now",
    );
}

/// A handler of its own, since the name of a message comes as a header.
async fn send_message(
    State(api): State<Api>,
    Extension(access): Extension<Access>,
    Path(session): Path<SessionKey>,
    headers: HeaderMap,
    JsonBody(mut message): JsonBody<Map<String, Json>>,
) -> Outcome<SendMessageResponse> {
    message.insert("session".to_owned(), session.to_string().into());
    if let Some(name) = headers.get(IDEMPOTENCY_KEY) {
        let unusable = |_| Problem::bad("this Idempotency-Key cannot be used");
        let name = name.to_str().map_err(unusable)?;
        message.insert("idempotency_key".to_owned(), name.into());
    }
    let message: SendMessage = callgate_service::read_operation(Json::Object(message))
        .map_err(|error| unreadable(&error.message))?;
    Ok(Body(
        api.service().call(&access.principal(), message).await?,
    ))
}
