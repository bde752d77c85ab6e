//! [`Problem`]: a failure as callers of the API read it (RFC 9457), with a hint what to do. The one
//! place where failures of the inner crates become HTTP.

use std::collections::BTreeMap;

use axum::{
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use callgate_agent::TurnError;
use callgate_store::{StoreError, files::FileError};
use schemars::JsonSchema;
use serde::Serialize;

use super::access::MOST_UNKNOWN;
use callgate_service::{ErrorCode, Hint, Listing, ServiceError};

use crate::unknown::BodyRefusal;

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

    pub(crate) fn locked_out() -> Self {
        Problem::new(StatusCode::UNAUTHORIZED, "no_key", "this needs a key")
            .hint("send `Authorization: Bearer KEY`; `callgate key new` makes one")
    }

    /// Of somebody who has shown one that opens nothing.
    pub(super) fn unknown_key() -> Self {
        let title = "this key is unknown, revoked or expired";
        Problem::new(StatusCode::UNAUTHORIZED, "no_key", title)
            .hint("send another as `Authorization: Bearer KEY`; `callgate key new` makes one")
    }

    /// The same, on the page.
    pub(super) fn unknown_login() -> Self {
        Problem::unknown_key().hint(
            "enter one that `callgate key new --scope operator` made, or open the link that the server \
             printed at its first start",
        )
    }

    /// Of somebody who has shown no key.
    pub(super) fn untaken(why: BodyRefusal) -> Self {
        match why {
            BodyRefusal::TooLarge => {
                let title = format!("without a key at most {} bytes are taken", MOST_UNKNOWN);
                Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", title)
                    .hint("send `Authorization: Bearer KEY`; `callgate key new` makes one")
            }
            BodyRefusal::TooSlow => {
                let title = "the request took too long to arrive";
                Problem::new(StatusCode::REQUEST_TIMEOUT, "too_slow", title).hint("send it again")
            }
        }
    }

    pub(super) fn too_many() -> Self {
        let title = "too many requests with this key";
        Problem::new(StatusCode::TOO_MANY_REQUESTS, "rate", title).hint("try again in a second")
    }

    /// Of somebody who was let in.
    pub(super) fn too_large() -> Self {
        let title = "this is more than is taken here at once";
        Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", title)
            .hint("files are sent to routes that take files")
    }

    /// While it was being answered.
    pub(crate) fn key_ended() -> Self {
        let title = "this key was revoked or has expired, and what it began was ended";
        Problem::new(StatusCode::UNAUTHORIZED, "no_key", title)
            .hint("`callgate key new` makes another")
    }

    /// Of an address that has shown one wrong key after the other.
    pub(super) fn too_many_attempts() -> Self {
        let title = "too many wrong keys came from this address";
        Problem::new(StatusCode::TOO_MANY_REQUESTS, "rate", title).hint("try again in a second")
    }

    pub(crate) fn not_ready(title: &str) -> Self {
        Problem::new(StatusCode::SERVICE_UNAVAILABLE, "not_ready", title)
            .hint("its log says why; GET /livez answers as long as it runs")
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

/// The one place where a failure becomes a status and the words of this API.
impl From<ServiceError> for Problem {
    fn from(error: ServiceError) -> Self {
        let (status, word) = match error.code {
            ErrorCode::NotFound => (StatusCode::NOT_FOUND, "not_found"),
            ErrorCode::Invalid => (StatusCode::BAD_REQUEST, "bad_request"),
            ErrorCode::MissingScope => (StatusCode::FORBIDDEN, "scope"),
            ErrorCode::Denied => (StatusCode::FORBIDDEN, "refused"),
            ErrorCode::Refused => (StatusCode::UNPROCESSABLE_ENTITY, "refused"),
            ErrorCode::MethodFailed => (StatusCode::UNPROCESSABLE_ENTITY, "method_failed"),
            ErrorCode::Conflict => (StatusCode::CONFLICT, "conflict"),
            ErrorCode::ApprovalPending => (StatusCode::CONFLICT, "approval"),
            ErrorCode::Busy => (StatusCode::TOO_MANY_REQUESTS, "budget"),
            ErrorCode::Deadline => (StatusCode::GATEWAY_TIMEOUT, "deadline"),
            ErrorCode::Unavailable => (StatusCode::SERVICE_UNAVAILABLE, "starting"),
            ErrorCode::Storage => (StatusCode::SERVICE_UNAVAILABLE, "storage"),
            ErrorCode::StorageFull => (StatusCode::INSUFFICIENT_STORAGE, "storage_full"),
            ErrorCode::Internal => (StatusCode::INTERNAL_SERVER_ERROR, "fault"),
        };
        // Of our own faults the caller learns no more than what to do, the log everything.
        let title = match error.code {
            ErrorCode::Storage => "the database cannot be used now".to_owned(),
            ErrorCode::StorageFull => "there is no space left to store anything".to_owned(),
            ErrorCode::Internal => "this could not be done now".to_owned(),
            _ => error.message.clone(),
        };
        if title != error.message {
            tracing::error!(error = error.message, "request failed");
        }
        let hint = match (error.code, error.hint) {
            (ErrorCode::Storage, _) => {
                Some("nothing was stored: send it again; the server's log says why".to_owned())
            }
            (ErrorCode::Internal, _) => Some("the server's log says why".to_owned()),
            (code, Hint::None) => Some(usual_hint(code).to_owned()),
            (_, hint) => hint_text(hint),
        };
        Problem {
            r#type: word,
            title,
            status: status.as_u16(),
            hint,
            fields: error.fields,
        }
    }
}

/// What to do where nobody knew better.
fn usual_hint(code: ErrorCode) -> &'static str {
    match code {
        ErrorCode::NotFound => "GET /api/openapi.json describes every route",
        ErrorCode::Conflict => "read it again: it has changed meanwhile, or is in use",
        ErrorCode::Busy | ErrorCode::Deadline | ErrorCode::Unavailable => "send it again later",
        ErrorCode::StorageFull => {
            "make room where the data directory is; nothing was stored, so send it again then"
        }
        _ => "GET /api/openapi.json describes every request",
    }
}

/// What to do, by the routes of this API.
fn hint_text(hint: Hint) -> Option<String> {
    let listed = |route: &str| Some(format!("GET /api/{route} lists them"));
    match hint {
        Hint::None => None,
        Hint::Text(text) => Some(text),
        Hint::List(listing) => listed(match listing {
            Listing::Approvals => "approvals",
            Listing::Limits => "limits",
            Listing::Outbox => "outbox",
            Listing::Rules => {
                let lists = "GET /api/rules lists rules, GET /api/approvals/rules standing answers";
                return Some(lists.to_owned());
            }
            Listing::Clients => "clients",
            Listing::Keys => "keys",
            Listing::Methods => "methods",
            Listing::Models => "models",
            Listing::Personas => "personas",
            Listing::Platforms => "platforms",
            Listing::Plugins => "plugins",
            Listing::Sessions => "sessions",
            Listing::Conversations => "conversations",
            Listing::Turns => "turns",
            Listing::Timers => "sessions/SESSION/timers",
            Listing::Files => "sessions/SESSION/files",
        }),
        Hint::Budgets => Some("GET /api/settings shows what `budget` allows".to_owned()),
        Hint::DescribeMethod(name) => Some(format!("GET /api/methods/{name} describes it")),
        Hint::Arguments => {
            Some("send `arguments` as an object by name, or an array by position".to_owned())
        }
        Hint::AnswerApproval(id) => Some(format!("POST /api/approvals/{id} answers it")),
        Hint::PersonaPrompt => Some("send its `system_prompt`".to_owned()),
        Hint::OtherNameOrReplace => {
            Some("send another `name`, or `replace` as true to overwrite it".to_owned())
        }
        Hint::NewKey(scope) => Some(format!(
            "`callgate key new --scope {scope}` makes one that does"
        )),
        Hint::NewClientKey => {
            Some("POST /api/keys makes a key for it and hands the id over".to_owned())
        }
        Hint::Replace => Some("send `replace` as true to put it in its place".to_owned()),
        Hint::KnownProviders(names) => Some(format!(
            "those known are {}; others need `base_url`",
            names.join(", ")
        )),
        Hint::GiveModelKey(variables) => Some(format!(
            "set {} where the server runs, or send `key` or `key_env`",
            variables.join(" or ")
        )),
        Hint::SetKeyVariable(name) => {
            Some(format!("set {name} where the server runs, or send `key`"))
        }
        Hint::AddUnchecked(hint) => Some(format!(
            "{hint}; `check: false` writes it down all the same"
        )),
        other => Some(other.to_string()),
    }
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        ServiceError::from(error).into()
    }
}

impl From<FileError> for Problem {
    fn from(error: FileError) -> Self {
        ServiceError::from(error).into()
    }
}

impl From<TurnError> for Problem {
    fn from(error: TurnError) -> Self {
        ServiceError::from(error).into()
    }
}
