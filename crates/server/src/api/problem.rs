//! [`Problem`]: a failure as callers of the API read it (RFC 9457), with a hint what to do. The one
//! place where failures of the inner crates become HTTP.

use std::collections::BTreeMap;

use axum::{
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use callgate_agent::{RunError, TurnError};
use callgate_gate::CallError;
use callgate_store::{StoreError, files::FileError};
use schemars::JsonSchema;
use serde::Serialize;

use super::access::MOST_UNKNOWN;
use crate::{Refused, operations::Why, unknown::Untaken};

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Problem {
    /// A word that programs can act on.
    pub(super) r#type: &'static str,
    pub(super) title: String,
    pub(super) status: u16,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) hint: Option<String>,
    /// What is wrong with which field of a form, by its path.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) fields: BTreeMap<String, String>,
}

impl Problem {
    fn new(status: StatusCode, r#type: &'static str, title: impl Into<String>) -> Self {
        Problem {
            r#type,
            title: title.into(),
            status: status.as_u16(),
            hint: None,
            fields: BTreeMap::new(),
        }
    }

    pub(super) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    pub(crate) fn bad(title: impl Into<String>) -> Self {
        Problem::new(StatusCode::BAD_REQUEST, "bad_request", title)
    }

    pub(crate) fn missing(title: impl Into<String>) -> Self {
        Problem::new(StatusCode::NOT_FOUND, "not_found", title)
    }

    pub(super) fn wrong_method() -> Self {
        let title = "this cannot be done here with this method";
        Problem::new(StatusCode::METHOD_NOT_ALLOWED, "method", title)
    }

    pub(crate) fn bad_gateway(title: impl Into<String>) -> Self {
        Problem::new(StatusCode::BAD_GATEWAY, "plugin", title)
            .hint("`callgate plugin list` says how it is")
    }

    pub(super) fn conflict(title: impl Into<String>) -> Self {
        Problem::new(StatusCode::CONFLICT, "conflict", title)
    }

    pub(crate) fn locked_out() -> Self {
        Problem::new(StatusCode::UNAUTHORIZED, "no_key", "this needs a key")
            .hint("send `Authorization: Bearer KEY`; `callgate key new` makes one")
    }

    pub(super) fn forbidden(scope: &str) -> Self {
        let title = format!("this key does not hold the scope '{scope}'");
        Problem::new(StatusCode::FORBIDDEN, "scope", title).hint(format!(
            "`callgate key new --scope {scope}` makes one that does"
        ))
    }

    /// Of somebody who has shown no key.
    pub(super) fn untaken(why: Untaken) -> Self {
        match why {
            Untaken::TooLarge => {
                let title = format!("without a key at most {} bytes are taken", MOST_UNKNOWN);
                Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", title)
                    .hint("send `Authorization: Bearer KEY`; `callgate key new` makes one")
            }
            Untaken::TooSlow => {
                let title = "the request took too long to arrive";
                Problem::new(StatusCode::REQUEST_TIMEOUT, "too_slow", title).hint("send it again")
            }
        }
    }

    pub(super) fn too_many() -> Self {
        let title = "too many requests with this key";
        Problem::new(StatusCode::TOO_MANY_REQUESTS, "rate", title).hint("try again in a second")
    }

    pub(super) fn starting() -> Self {
        let title = "models are still being looked for";
        Problem::new(StatusCode::SERVICE_UNAVAILABLE, "starting", title)
            .hint("try again in a second")
    }

    /// The database does not answer. Nothing was changed, so that the same can be asked again.
    fn unstored(error: &StoreError) -> Self {
        tracing::error!(%error, "the database could not be used");
        match error.is_full() {
            true => Problem::new(
                StatusCode::INSUFFICIENT_STORAGE,
                "storage_full",
                "there is no space left to store anything",
            )
            .hint("nothing was stored: free space on the server's disk, then send it again"),
            false => Problem::new(
                StatusCode::SERVICE_UNAVAILABLE,
                "storage",
                "the database cannot be used now",
            )
            .hint("nothing was stored: send it again; the server's log says why"),
        }
    }

    pub(crate) fn not_ready() -> Self {
        let title = "the server cannot store anything now";
        Problem::new(StatusCode::SERVICE_UNAVAILABLE, "not_ready", title)
            .hint("its log says why; GET /livez answers as long as it runs")
    }

    /// Our own fault: the caller learns no more, the log everything.
    fn fault(error: &dyn std::error::Error) -> Self {
        tracing::error!(%error, "a request failed");
        let title = "this could not be done now";
        Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "fault", title)
            .hint("the server's log says why")
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let mut response = (status, axum::Json(self)).into_response();
        let kind = HeaderValue::from_static("application/problem+json");
        response.headers_mut().insert(header::CONTENT_TYPE, kind);
        if status == StatusCode::SERVICE_UNAVAILABLE || status == StatusCode::TOO_MANY_REQUESTS {
            let soon = HeaderValue::from_static("1");
            response.headers_mut().insert(header::RETRY_AFTER, soon);
        }
        response
    }
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        use StoreError as E;
        match &error {
            E::UnknownRun(_)
            | E::UnknownApproval(_)
            | E::UnknownRule(_)
            | E::UnknownKey(_)
            | E::UnknownConversation(_)
            | E::UnknownPersona(_)
            | E::UnknownTurn(_) => Problem::missing(error.to_string()),
            E::AlreadyAnswered { .. }
            | E::PersonaExists(_)
            | E::TooManyTimers
            | E::NameTaken(_)
            | E::AddressTaken(_) => Problem::conflict(error.to_string()),
            E::NoteSize { .. }
            | E::NoteName
            | E::Position { .. }
            | E::PersonaName { .. }
            | E::OddDialogs { .. }
            | E::TimerSize { .. }
            | E::RoomName
            | E::TooMany { .. } => Problem::bad(error.to_string()),
            E::Database(_) => Problem::unstored(&error),
            E::File(_) => match error {
                E::File(error) => error.into(),
                other => Problem::fault(&other),
            },
            _ => Problem::fault(&error),
        }
    }
}

impl From<FileError> for Problem {
    fn from(error: FileError) -> Self {
        match &error {
            FileError::NotFound(_) => Problem::missing(error.to_string()),
            FileError::NoOpenat2 | FileError::Io { .. } => Problem::fault(&error),
            FileError::Busy(_) => Problem::conflict(error.to_string()),
            _ => Problem::bad(error.to_string()),
        }
    }
}

impl From<RunError> for Problem {
    fn from(error: RunError) -> Self {
        match error {
            RunError::Store(error) => error.into(),
            RunError::Folder(error) => error.into(),
            error @ (RunError::NoCode(_) | RunError::Ended { .. }) => {
                Problem::conflict(error.to_string())
            }
            error => Problem::fault(&error),
        }
    }
}

impl From<TurnError> for Problem {
    fn from(error: TurnError) -> Self {
        match error {
            TurnError::Store(error) => error.into(),
            TurnError::Folder(error) => error.into(),
            TurnError::Run(error) => error.into(),
            error @ TurnError::Ended { .. } => Problem::conflict(error.to_string()),
            TurnError::CutOff => {
                Problem::conflict("the turn was cut off").hint("it goes on at the next start")
            }
            error @ TurnError::Randomness(_) => Problem::fault(&error),
        }
    }
}

impl From<CallError> for Problem {
    fn from(error: CallError) -> Self {
        use CallError as E;
        let text = error.to_string();
        match error {
            E::Unknown { .. } => Problem::missing(text).hint("GET /api/methods lists them"),
            E::NotExposed { .. } | E::NotGranted { .. } | E::Expired { .. } | E::Denied { .. } => {
                Problem::new(StatusCode::FORBIDDEN, "refused", text)
            }
            E::BadArguments { .. } => Problem::bad(text),
            E::Budget { .. } => Problem::new(StatusCode::TOO_MANY_REQUESTS, "budget", text),
            E::ApprovalPending { id, .. } => Problem::new(StatusCode::CONFLICT, "approval", text)
                .hint(format!("POST /api/approvals/{id} answers it")),
            E::Deadline { .. } => Problem::new(StatusCode::GATEWAY_TIMEOUT, "deadline", text),
            E::Store { source, .. } => source.into(),
            _ => Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "method_failed", text),
        }
    }
}

impl From<Refused> for Problem {
    fn from(refused: Refused) -> Self {
        let (status, word) = match refused.why {
            Why::Refused => (StatusCode::UNPROCESSABLE_ENTITY, "refused"),
            Why::Missing => (StatusCode::NOT_FOUND, "not_found"),
            Why::Bad => (StatusCode::BAD_REQUEST, "bad_request"),
            Why::Conflict => (StatusCode::CONFLICT, "conflict"),
        };
        let mut problem = Problem::new(status, word, refused.error).hint(refused.hint);
        problem.fields = refused.fields;
        problem
    }
}
