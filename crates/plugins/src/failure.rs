//! What went wrong with a worker or in it: the plugin's own exception, or the end of the process. The
//! caller reads type and text, the operator the traceback as well.

use callgate_contract::{MethodError, Value, json};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

/// An exception, as the worker described it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    #[serde(rename = "type")]
    pub kind: String,
    #[serde(default)]
    pub message: String,
    #[serde(default)]
    pub traceback: String,
    #[serde(default)]
    pub hint: Option<String>,
    /// The module that could not be found, where that was the reason.
    #[serde(default)]
    pub missing: Option<String>,
}

impl Failure {
    pub(crate) fn read(value: &Value) -> Failure {
        let read: Result<Failure, _> = serde_json::from_value(json::to_json(value));
        read.unwrap_or_else(|_| Failure {
            kind: "Error".to_owned(),
            message: json::to_json(value).to_string(),
            ..Failure::default()
        })
    }
}

/// `ValueError: no such city`; of an exception without text, its type alone.
impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.message.trim() {
            "" => write!(f, "{} (without a message)", self.kind),
            message => write!(f, "{}: {message}", self.kind),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WorkerError {
    /// The plugin's own error.
    #[error("{0}")]
    Raised(Box<Failure>),
    /// The process ended, or was ended, before it answered.
    #[error("the plugins' worker '{worker}' ended: {reason}")]
    Ended { worker: String, reason: String },
    /// It ended too often and is given time.
    #[error(
        "the plugins' worker '{worker}' failed again and again; it is started anew in {seconds} s"
    )]
    Resting { worker: String, seconds: u64 },
    #[error("the plugins' worker '{worker}' cannot be started: {reason}")]
    Start { worker: String, reason: String },
    #[error("the routes of the plugins' worker '{worker}' cannot be reached: {reason}")]
    Web { worker: String, reason: String },
    /// What we wanted to say cannot be said.
    #[error("{0}")]
    Unpassable(String),
    #[error("'{step}' was not done within {seconds} s")]
    Deadline { step: String, seconds: u64 },
}

impl WorkerError {
    /// The traceback, where there is one.
    pub fn traceback(&self) -> Option<&str> {
        match self {
            WorkerError::Raised(failure) => Some(&failure.traceback),
            _ => None,
        }
    }
}

impl From<WorkerError> for MethodError {
    fn from(error: WorkerError) -> Self {
        let shown = MethodError::new(error.to_string());
        match error.traceback() {
            Some(traceback) => shown.with_detail(traceback),
            None => shown,
        }
    }
}

/// An error of ours, as a worker reads it.
pub(crate) fn told(kind: &str, message: &str, hint: Option<&str>) -> Value {
    let text = |text: &str| Value::Str(text.to_owned());
    Value::Dict(vec![
        (text("type"), text(kind)),
        (text("message"), text(message)),
        (text("hint"), hint.map_or(Value::Null, text)),
    ])
}

/// Data of a worker as JSON, for what we only describe.
pub(crate) fn described(value: &Value) -> Json {
    json::to_json(value)
}
