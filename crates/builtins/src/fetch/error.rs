//! [`FetchError`]: why nothing was fetched. None of it tells what a name resolves to: that would
//! let a stranger explore the networks this machine is in.

use std::time::Duration;

use reqwest::{StatusCode, Url};

#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    #[error(
        "fetching pages is turned off: the operator allows it by listing hosts under fetch.allow \
         ('*' stands for every public host)"
    )]
    Off,
    #[error(
        "'{host}' is not among the hosts that may be fetched: the operator lists them under fetch.allow"
    )]
    NotAllowed { host: String },
    #[error("'{url}' cannot be fetched: {reason}")]
    Invalid { url: String, reason: String },
    #[error("a URL with a name or password in it is not fetched")]
    Credentials,
    #[error("a URL of more than {limit} bytes is not fetched")]
    TooLong { limit: usize },
    #[error("no host '{host}' is known")]
    UnknownHost { host: String },
    #[error("'{host}' is not at a public address, and no other is fetched from")]
    NotPublic { host: String },
    #[error("'{host}' cannot be reached: {reason}")]
    Unreachable { host: String, reason: String },
    #[error("the page did not arrive within {} seconds", limit.as_secs_f32())]
    Timeout { limit: Duration },
    #[error("'{url}' leads on and on: more than {limit} redirects")]
    Redirects { url: String, limit: usize },
    #[error("'{url}' answered {status}")]
    Status { url: String, status: StatusCode },
    #[error("'{url}' is {found}, not text")]
    NotText { url: String, found: String },
    #[error("'{url}' is larger than {limit} bytes")]
    TooLarge { url: String, limit: usize },
    #[error("'{url}' came compressed although that was not asked for")]
    Compressed { url: String },
}

impl FetchError {
    pub(super) fn invalid(url: &Url, reason: &str) -> Self {
        FetchError::Invalid {
            url: url.to_string(),
            reason: reason.to_owned(),
        }
    }
}
