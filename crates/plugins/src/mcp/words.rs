//! What went wrong with a server, in words that say what to do. Nothing of what was sent to it is in
//! them.

use std::error::Error;

use rmcp::{
    ServiceError,
    service::ClientInitializeError,
    transport::{
        DynamicTransportError,
        streamable_http_client::{AuthRequiredError, InsufficientScopeError, StreamableHttpError},
    },
};

use super::Reach;

pub(super) fn of_start(error: &ClientInitializeError, reach: &Reach) -> String {
    match error {
        ClientInitializeError::LegacyFallbackFailed { fallback, .. } => of_start(fallback, reach),
        ClientInitializeError::TransportError { error, .. } => of_transport(error, reach),
        ClientInitializeError::JsonRpcError(error) => error.message.to_string(),
        error => error.to_string(),
    }
}

pub(super) fn of_service(error: &ServiceError, reach: &Reach) -> String {
    match error {
        ServiceError::McpError(error) => error.message.to_string(),
        ServiceError::TransportSend(error) => of_transport(error, reach),
        ServiceError::TransportClosed => "it closed the connection".to_owned(),
        ServiceError::UnexpectedResponse => "it answered with something else".to_owned(),
        error => error.to_string(),
    }
}

fn of_transport(error: &DynamicTransportError, reach: &Reach) -> String {
    let mut cause: &(dyn Error + 'static) = &*error.error;
    loop {
        if cause.is::<AuthRequiredError>() || has_status(cause, "401") {
            return unknown_key(reach);
        }
        if let Some(scope) = cause.downcast_ref::<InsufficientScopeError>() {
            return forbidden(scope.required_scope.as_deref());
        }
        if has_status(cause, "403") {
            return forbidden(None);
        }
        match cause.source() {
            Some(deeper) => cause = deeper,
            None => break,
        }
    }
    // The outermost says what was tried, the innermost why it failed.
    let (tried, why) = (error.error.to_string(), cause.to_string());
    if tried.contains(&why) {
        tried
    } else {
        format!("{tried}: {why}")
    }
}

/// Answers without a challenge have no type of their own.
fn has_status(cause: &(dyn Error + 'static), status: &str) -> bool {
    let http = cause.downcast_ref::<StreamableHttpError<reqwest::Error>>();
    match http {
        Some(StreamableHttpError::UnexpectedServerResponse(text)) => {
            text.starts_with(&format!("HTTP {status}"))
        }
        _ => false,
    }
}

fn unknown_key(reach: &Reach) -> String {
    let sent = match reach {
        Reach::Url {
            bearer, headers, ..
        } => bearer.is_some() || !headers.is_empty(),
        Reach::Command { .. } => false,
    };
    let told = if sent {
        "it refuses the key it was given (401): it is wrong or has expired; put a valid one into \
         the variable that `bearer_env` or `headers_env` names, and start anew"
    } else {
        "it wants a key (401): get one from whoever runs it, put it into an environment variable \
         and name that in `bearer_env` of its [[mcp]] table"
    };
    told.to_owned()
}

fn forbidden(scope: Option<&str>) -> String {
    let needed = scope.map(|scope| format!(" '{scope}'")).unwrap_or_default();
    format!("the key may not do this (403): get one with the scope{needed} that it needs")
}
