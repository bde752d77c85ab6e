//! [`CallError`]: every way a call can fail, by what the caller can do about it. Its text is what
//! the caller reads, be it a person, a model or code.

use callgate_contract::{BudgetSpent, Surface};
use callgate_store::{Approver, StoreError};

#[derive(Debug, thiserror::Error)]
pub enum CallError {
    #[error("no method '{name}'{}", did_you_mean(nearest))]
    Unknown { name: String, nearest: Vec<String> },
    #[error("'{method}' cannot be called from {}", place(*surface))]
    NotExposed { method: String, surface: Surface },
    #[error(
        "'{method}' cannot be called synchronously: it may wait for a model, a worker or a person \
         while this event loop stands still; await its async twin instead"
    )]
    NotLeaf { method: String },
    #[error("'{method}' is not granted here")]
    NotGranted { method: String },
    /// The whole grant has run out, whatever the method.
    #[error("the grant has expired: '{method}' was not called")]
    Expired { method: String },
    /// `signature` is the method as Python shows it, `reason` names the argument.
    #[error("{signature}: {reason}")]
    BadArguments { signature: String, reason: String },
    #[error("'{method}' was not done: {spent}")]
    Budget { method: String, spent: BudgetSpent },
    #[error("'{method}' was denied by the operator")]
    Denied { method: String },
    /// Whoever it is done for has said no.
    #[error("'{method}' was not done: the person it is for did not want it")]
    Unconfirmed { method: String },
    /// Nobody has answered yet. The call was not made; repeat it once approval `id` is answered.
    #[error("'{method}' waits for {} (number {id})", whose_word(*approver))]
    ApprovalPending {
        method: String,
        id: i64,
        approver: Approver,
    },
    /// A run executed again made another call in the place of the one that was asked about.
    #[error("'{method}' was not done: approval {id} is for another call")]
    ApprovalElsewhere { method: String, id: i64 },
    #[error("'{method}' did not finish within {} s{}", seconds, maybe_done(*effectful))]
    Deadline {
        method: String,
        seconds: f64,
        effectful: bool,
    },
    /// Whoever asked for it was told to stop.
    #[error("'{method}' was stopped{}", maybe_done(*effectful))]
    Cancelled { method: String, effectful: bool },
    /// The method's own error, in its words.
    #[error("{message}")]
    Failed {
        method: String,
        message: String,
        /// For the operator alone.
        detail: Option<String>,
    },
    #[error("method '{method}' panicked: {message}")]
    Panicked { method: String, message: String },
    /// The result holds something that cannot cross, and where.
    #[error("method '{method}' returned what cannot be passed: {reason}")]
    Unpassable { method: String, reason: String },
    /// The result does not fit the method's kind.
    #[error("method '{method}': {reason}")]
    BadResult { method: String, reason: String },
    /// The process ended between the call's intent and its outcome. It may have taken effect.
    #[error(
        "the outcome of '{method}' (call {sequence}) is unknown: the process ended while it ran, \
         so it may or may not have taken effect; it is not repeated"
    )]
    OutcomeUnknown { method: String, sequence: u64 },
    /// A failure that was journaled by an earlier process, in its words.
    #[error("{message}")]
    Recorded { method: String, message: String },
    /// The store cannot say or keep what happened, so the call must not count as done.
    #[error("the record of '{method}' failed: {source}")]
    Store { method: String, source: StoreError },
}

impl CallError {
    pub(crate) fn unrecorded(method: &str, source: StoreError) -> Self {
        CallError::Store {
            method: method.to_owned(),
            source,
        }
    }

    pub(crate) fn over_budget(method: &str, spent: BudgetSpent) -> Self {
        CallError::Budget {
            method: method.to_owned(),
            spent,
        }
    }

    /// What only the operator reads.
    pub fn detail(&self) -> Option<&str> {
        match self {
            CallError::Failed { detail, .. } => detail.as_deref(),
            _ => None,
        }
    }

    /// Is this the final word on the call? The others leave it open to be made again.
    pub(crate) fn is_outcome(&self) -> bool {
        !matches!(
            self,
            CallError::ApprovalPending { .. }
                | CallError::OutcomeUnknown { .. }
                | CallError::Recorded { .. }
                | CallError::Store { .. }
        )
    }
}

/// A method that cannot be registered.
#[derive(Debug, thiserror::Error)]
pub enum InvalidMethod {
    #[error("'{name}' of {origin} cannot be a method's name: it must be a Python identifier")]
    Name { name: String, origin: String },
    #[error("the parameters of '{name}' of {origin} are no usable JSON Schema: {reason}")]
    Schema {
        name: String,
        origin: String,
        reason: String,
    },
}

fn whose_word(approver: Approver) -> &'static str {
    match approver {
        Approver::Operator => "the operator's approval",
        Approver::Requester => "the word of the person it is for",
    }
}

fn did_you_mean(nearest: &[String]) -> String {
    match nearest {
        [] => String::new(),
        names => format!("; did you mean {}?", names.join(", ")),
    }
}

fn place(surface: Surface) -> &'static str {
    match surface {
        Surface::Code => "code",
        Surface::ToolCall => "a tool call",
        Surface::Remote => "a remote client",
        Surface::Plugin => "a plugin",
    }
}

fn maybe_done(effectful: bool) -> &'static str {
    if effectful {
        "; it may still have taken effect"
    } else {
        ""
    }
}
