//! [`Failure`]: a failure in OpenAI's shape, with what to do about it in its message. The one place
//! where failures of the inner crates become that.

use axum::{
    http::{HeaderValue, StatusCode, Uri, header},
    response::{IntoResponse, Response},
};
use callgate_agent::{Completed, TurnError};
use callgate_contract::{ModelError, TurnStop};
use callgate_store::StoreError;
use serde_json::{Value as Json, json};

#[derive(Clone, Debug)]
pub(super) struct Failure {
    pub(super) status: StatusCode,
    kind: &'static str,
    code: Option<&'static str>,
    param: Option<String>,
    message: String,
    /// Seconds.
    retry_after: Option<u64>,
}

const INVALID: &str = "invalid_request_error";

impl Failure {
    fn new(status: StatusCode, kind: &'static str, message: impl Into<String>) -> Self {
        Failure {
            status,
            kind,
            code: None,
            param: None,
            message: message.into(),
            retry_after: None,
        }
    }

    fn code(mut self, code: &'static str) -> Self {
        self.code = Some(code);
        self
    }

    /// `param` is the place in the request.
    pub(super) fn bad(param: impl Into<String>, message: impl Into<String>) -> Self {
        Failure {
            param: Some(param.into()),
            ..Failure::new(StatusCode::BAD_REQUEST, INVALID, message)
        }
    }

    pub(super) fn unreadable(message: impl Into<String>) -> Self {
        Failure::new(StatusCode::BAD_REQUEST, INVALID, message)
    }

    pub(super) fn no_key() -> Self {
        let message = "this needs a key: send `Authorization: Bearer KEY`; \
                       `callgate key new --scope chat` makes one";
        Failure::new(StatusCode::UNAUTHORIZED, INVALID, message).code("invalid_api_key")
    }

    /// While it was being answered.
    pub(super) fn key_ended() -> Self {
        let message = "this key was revoked or has expired, and what it began was ended";
        Failure::new(StatusCode::UNAUTHORIZED, INVALID, message).code("invalid_api_key")
    }

    pub(super) fn forbidden(scope: &str) -> Self {
        let message = format!(
            "this key does not hold the scope '{scope}': `callgate key new --scope {scope}` makes \
             one that does"
        );
        Failure::new(StatusCode::FORBIDDEN, INVALID, message).code("insufficient_permissions")
    }

    pub(super) fn too_many_attempts() -> Self {
        Failure {
            retry_after: Some(1),
            ..Failure::rate("too many wrong keys came from this address: try again in a second")
        }
    }

    pub(super) fn too_many() -> Self {
        Failure {
            retry_after: Some(1),
            ..Failure::rate("too many requests with this key: try again in a second")
        }
    }

    /// A budget has no room.
    pub(super) fn spent(message: impl Into<String>) -> Self {
        const QUOTA: &str = "insufficient_quota";
        Failure::new(StatusCode::TOO_MANY_REQUESTS, QUOTA, message).code(QUOTA)
    }

    fn rate(message: impl Into<String>) -> Self {
        Failure::new(StatusCode::TOO_MANY_REQUESTS, "requests", message).code("rate_limit_exceeded")
    }

    pub(super) fn no_model(name: &str) -> Self {
        Failure {
            param: Some("model".to_owned()),
            ..Failure::missing(format!(
                "there is no model '{name}': GET /v1/models lists them"
            ))
        }
        .code("model_not_found")
    }

    pub(super) fn no_response(id: &str) -> Self {
        Failure {
            param: Some("previous_response_id".to_owned()),
            ..Failure::missing(format!(
                "no response '{id}' of this key is stored: send its messages as input"
            ))
        }
        .code("previous_response_not_found")
    }

    pub(super) fn not_stored(id: &str) -> Self {
        Failure {
            param: Some("response_id".to_owned()),
            ..Failure::missing(format!("no response '{id}' of this key is stored"))
        }
    }

    pub(super) fn missing(message: impl Into<String>) -> Self {
        Failure::new(StatusCode::NOT_FOUND, INVALID, message)
    }

    pub(super) fn starting() -> Self {
        let message = "models are still being looked for: try again in a second";
        Failure {
            retry_after: Some(1),
            ..Failure::new(StatusCode::SERVICE_UNAVAILABLE, "server_error", message)
        }
    }

    /// Our own fault: the caller learns no more, the log everything.
    fn fault(error: &dyn std::error::Error) -> Self {
        tracing::error!(%error, "a request failed");
        Failure::server("this could not be done now: the server's log says why")
    }

    fn server(message: impl Into<String>) -> Self {
        Failure::new(StatusCode::INTERNAL_SERVER_ERROR, "server_error", message)
    }

    pub(super) fn cut_off() -> Self {
        Failure::server("the answer was cut off: the server's log says why")
    }

    /// Why a turn gave no answer, where it gave none.
    pub(super) fn of(done: &Completed) -> Option<Self> {
        match (done.stop, &done.failure) {
            (TurnStop::Budget, _) => Some(Failure::spent(&done.text)),
            (TurnStop::Cancelled, _) => Some(Failure::cut_off()),
            (TurnStop::Error, Some(error)) => Some(error.into()),
            (TurnStop::Error, None) if done.text.is_empty() => Some(Failure::cut_off()),
            // That code did not succeed is an answer in words: asked again, as clients do after
            // errors, all that it did would be done once more.
            (TurnStop::Error, None) => None,
            (TurnStop::Answered | TurnStop::Silent | TurnStop::Limit, _) => None,
        }
    }

    /// Worth asking again when the model's server says so.
    fn after(self, error: &ModelError) -> Self {
        Failure {
            retry_after: error.retry_after().map(|time| time.as_secs().max(1)),
            ..self
        }
    }

    pub(super) fn to_json(&self) -> Json {
        json!({"error": {
            "message": self.message,
            "type": self.kind,
            "param": self.param,
            "code": self.code,
        }})
    }

    /// As a response carries it.
    pub(super) fn in_response(&self) -> Json {
        json!({"code": self.code.unwrap_or(self.kind), "message": self.message})
    }
}

impl From<&ModelError> for Failure {
    fn from(error: &ModelError) -> Self {
        use ModelError as E;
        let text = error.to_string();
        match error {
            E::RateLimited { .. } => Failure::rate(text).after(error),
            E::Credits { .. } => Failure::rate(text).code("insufficient_quota"),
            E::ContextLength { .. } => {
                Failure::bad("messages", text).code("context_length_exceeded")
            }
            E::BadRequest { .. } => Failure::unreadable(text),
            E::Server { .. } => Failure::server(text).after(error),
            E::Auth { .. }
            | E::CutStream
            | E::Timeout { .. }
            | E::Unreachable { .. }
            | E::Malformed { .. }
            | E::Exhausted { .. } => Failure::server(text),
        }
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Failure::fault(&error)
    }
}

impl From<TurnError> for Failure {
    fn from(error: TurnError) -> Self {
        Failure::fault(&error)
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let mut response = (self.status, axum::Json(self.to_json())).into_response();
        if let Some(seconds) = self.retry_after {
            let seconds = HeaderValue::from(seconds);
            response.headers_mut().insert(header::RETRY_AFTER, seconds);
        }
        response
    }
}

pub(super) async fn unknown_route(uri: Uri) -> Failure {
    let path = uri.path();
    Failure::missing(format!(
        "there is no {path}: /v1/models, /v1/chat/completions, /v1/responses and /v1/embeddings are"
    ))
    .code("unknown_url")
}

pub(super) async fn unknown_method(uri: Uri) -> Failure {
    let path = uri.path();
    let message = format!("{path} is asked another way: see docs/openai.md");
    Failure::new(StatusCode::METHOD_NOT_ALLOWED, INVALID, message)
}
