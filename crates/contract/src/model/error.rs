//! [`ModelError`]: why a model gave no answer, by what a loop can do about it.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// `message` is the provider's own words where it has any; no variant ever carries a key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(tag = "error", rename_all = "snake_case")]
pub enum ModelError {
    /// Wait, or use another model.
    #[error("the model's rate limit is reached{}: {message}", wait(*retry_after))]
    RateLimited {
        retry_after: Option<Duration>,
        message: String,
    },
    /// The request is longer than the model can read: shorten it.
    #[error("the conversation is too long for the model: {message}")]
    ContextLength { message: String },
    /// The account has no credit left: only its owner can help.
    #[error("the model's account has no credit left: {message}")]
    Credits { message: String },
    #[error("the model refused the key: {message}")]
    Auth { message: String },
    /// The same request will fail again.
    #[error("the model refused the request: {message}")]
    BadRequest { message: String },
    /// The provider failed or is overloaded; another try may succeed.
    #[error("the model's server failed (status {status}){}: {message}", wait(*retry_after))]
    Server {
        status: u16,
        /// How long the server wants to be left alone, where it said so.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        retry_after: Option<Duration>,
        message: String,
    },
    /// The answer ended before its finish reason: what arrived of it must not be used.
    #[error("the model's answer was cut off before its end")]
    CutStream,
    #[error("the model was silent for {} s", read_timeout.as_secs_f64())]
    Timeout { read_timeout: Duration },
    #[error("the model's server cannot be reached: {message}")]
    Unreachable { message: String },
    /// The server answers with something that is not this wire.
    #[error("the model's server sent what cannot be understood: {message}")]
    Malformed { message: String },
    /// A scripted model has no answer left.
    #[error("{message}")]
    Exhausted { message: String },
}

impl ModelError {
    /// May the very same request succeed a little later?
    pub fn is_transient(&self) -> bool {
        matches!(
            self,
            ModelError::RateLimited { .. }
                | ModelError::Server { .. }
                | ModelError::CutStream
                | ModelError::Timeout { .. }
                | ModelError::Unreachable { .. }
        )
    }

    /// How long the server wants to be left alone, where it said so.
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            ModelError::RateLimited { retry_after, .. }
            | ModelError::Server { retry_after, .. } => *retry_after,
            _ => None,
        }
    }

    /// Its kind in a word, as it is written down.
    pub fn kind(&self) -> &'static str {
        match self {
            ModelError::RateLimited { .. } => "rate_limited",
            ModelError::ContextLength { .. } => "context_length",
            ModelError::Credits { .. } => "credits",
            ModelError::Auth { .. } => "auth",
            ModelError::BadRequest { .. } => "bad_request",
            ModelError::Server { .. } => "server",
            ModelError::CutStream => "cut_stream",
            ModelError::Timeout { .. } => "timeout",
            ModelError::Unreachable { .. } => "unreachable",
            ModelError::Malformed { .. } => "malformed",
            ModelError::Exhausted { .. } => "exhausted",
        }
    }

    /// The words of whoever failed, where the error has any.
    pub fn message_mut(&mut self) -> Option<&mut String> {
        match self {
            ModelError::RateLimited { message, .. }
            | ModelError::ContextLength { message }
            | ModelError::Credits { message }
            | ModelError::Auth { message }
            | ModelError::BadRequest { message }
            | ModelError::Server { message, .. }
            | ModelError::Unreachable { message }
            | ModelError::Malformed { message }
            | ModelError::Exhausted { message } => Some(message),
            ModelError::CutStream | ModelError::Timeout { .. } => None,
        }
    }
}

fn wait(retry_after: Option<Duration>) -> String {
    match retry_after {
        Some(time) => format!(" (try again in {} s)", time.as_secs_f64()),
        None => String::new(),
    }
}
