//! What callers send, read with failures that say what is wrong as a [`Problem`].

use axum::{
    Json,
    body::Bytes,
    extract::{FromRequest, FromRequestParts, Query, Request},
    http::{StatusCode, request::Parts},
};
use serde::de::DeserializeOwned;

use super::problem::Problem;

/// The body.
pub(super) struct JsonBody<T>(pub(super) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for JsonBody<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        match Json::from_request(request, state).await {
            Ok(Json(body)) => Ok(JsonBody(body)),
            Err(rejection) => Err(unread(rejection.status(), rejection.body_text())),
        }
    }
}

fn unread(status: StatusCode, why: String) -> Problem {
    if status == StatusCode::PAYLOAD_TOO_LARGE {
        return Problem::too_large();
    }
    // Of what axum says, what is wrong with the body.
    let about = "Failed to deserialize the JSON body into the target type: ";
    let why = why.strip_prefix(about).unwrap_or(&why);
    let why = why.split(" at line ").next().unwrap_or_default();
    Problem::bad(why).hint("GET /api/openapi.json describes every request")
}

/// What stands behind the question mark.
pub(super) struct QueryParams<T>(pub(super) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for QueryParams<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        match Query::from_request_parts(parts, state).await {
            Ok(Query(query)) => Ok(QueryParams(query)),
            Err(rejection) => Err(Problem::bad(rejection.body_text())
                .hint("GET /api/openapi.json describes every request")),
        }
    }
}

/// What stands in the path.
pub(super) struct Path<T>(pub(super) T);

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for Path<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        match axum::extract::Path::from_request_parts(parts, state).await {
            Ok(axum::extract::Path(path)) => Ok(Path(path)),
            Err(rejection) => Err(Problem::bad(rejection.body_text())
                .hint("GET /api/openapi.json describes every request")),
        }
    }
}

/// The body as it came.
pub(super) struct Raw(pub(super) Bytes);

impl<S: Send + Sync> FromRequest<S> for Raw {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        match Bytes::from_request(request, state).await {
            Ok(body) => Ok(Raw(body)),
            Err(rejection) => Err(unread(rejection.status(), rejection.body_text())),
        }
    }
}
