//! [`Failure`]: why a command did not succeed, in one line, and what to do about it, in another.
//! Every error of the crates below becomes one here and nowhere else.

use callgate_agent::{RunError, TurnError, capsule::CapsuleError};
use callgate_contract::SandboxError;
use callgate_gate::CallError;
use callgate_models::InvalidModel;
use callgate_store::{ControlError, OwnerError, StoreError};
use serde::{Deserialize, Serialize};

const DOCTOR: &str = "run `callgate doctor` to see what is missing";

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    pub error: String,
    pub hint: String,
}

impl Failure {
    pub fn new(error: impl Into<String>, hint: impl Into<String>) -> Self {
        Failure {
            error: one_line(&error.into()),
            hint: one_line(&hint.into()),
        }
    }
}

/// Scripts and logs read errors by the line.
fn one_line(text: &str) -> String {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.collect::<Vec<_>>().join(" ")
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        let hint = match &error {
            StoreError::Engine { .. } => "set database.url, or leave it out for SQLite",
            StoreError::Directory { .. } => "choose another directory with --data DIR",
            StoreError::Database(_) => {
                "check that the database of database.url runs and that the disk is not full"
            }
            StoreError::Migration(_) | StoreError::Damaged { .. } => {
                "use the version of callgate that wrote this data, or another --data DIR"
            }
            StoreError::UnknownApproval(_) | StoreError::AlreadyAnswered { .. } => {
                "see what waits for an answer with `callgate approval list`"
            }
            StoreError::UnknownRule(_) => "see the rules with `callgate approval rules`",
            StoreError::NameTaken(_) => {
                "`callgate key new --client ID` makes a key for it and hands the id over"
            }
            StoreError::UnknownKey(_) => "see the keys with `callgate key list`",
            StoreError::UnknownPersona(_) => "see the personas with `callgate persona list`",
            StoreError::PersonaName { .. } => "choose another name",
            StoreError::OddDialogs { .. } => "give --dialog USER ASSISTANT, as often as you like",
            _ => "see `callgate doctor`",
        };
        Failure::new(error.to_string(), hint)
    }
}

impl From<SandboxError> for Failure {
    fn from(error: SandboxError) -> Self {
        match error {
            SandboxError::Unavailable { reason, hint } => {
                Failure::new(format!("the sandbox cannot start: {reason}"), hint)
            }
            SandboxError::Failed(_) => Failure::new(error.to_string(), DOCTOR),
        }
    }
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Self {
        match error {
            RunError::Sandbox(error) => error.into(),
            RunError::Store(error) => error.into(),
            other => Failure::new(other.to_string(), DOCTOR),
        }
    }
}

impl From<TurnError> for Failure {
    fn from(error: TurnError) -> Self {
        match error {
            TurnError::Store(error) => error.into(),
            TurnError::Run(error) => error.into(),
            other => Failure::new(other.to_string(), DOCTOR),
        }
    }
}

impl From<CapsuleError> for Failure {
    fn from(error: CapsuleError) -> Self {
        match error {
            CapsuleError::Store(error) => error.into(),
            CapsuleError::Run(error) => error.into(),
            CapsuleError::Turn(error) => error.into(),
            other => {
                let hint = other.hint();
                Failure::new(other.to_string(), hint)
            }
        }
    }
}

impl From<InvalidModel> for Failure {
    fn from(error: InvalidModel) -> Self {
        let hint = match &error {
            InvalidModel::Unknown { .. } => "see the models with `callgate model list`",
            InvalidModel::Script { .. } => {
                "each line is an answer: {\"content\": \"...\"} or {\"tool_calls\": [...]}"
            }
            _ => "docs/configuration.md shows how a model is written down",
        };
        Failure::new(error.to_string(), hint)
    }
}

impl From<OwnerError> for Failure {
    fn from(error: OwnerError) -> Self {
        Failure::new(
            error.to_string(),
            "choose another directory with --data DIR",
        )
    }
}

impl From<ControlError> for Failure {
    fn from(error: ControlError) -> Self {
        let hint = "see whether that process still lives, and try again";
        Failure::new(error.to_string(), hint)
    }
}

impl From<CallError> for Failure {
    fn from(error: CallError) -> Self {
        let hint = match &error {
            CallError::Unknown { .. } => "see them all with `callgate methods`".to_owned(),
            CallError::BadArguments { .. } => {
                "give --args as a JSON object by name, or an array by position".to_owned()
            }
            CallError::ApprovalPending { id, .. } => {
                format!("`callgate approval allow {id}` makes the call, `deny {id}` drops it")
            }
            CallError::Denied { .. } => {
                "approval.ask in callgate.toml lists the methods that are asked about".to_owned()
            }
            CallError::Store { .. } => DOCTOR.to_owned(),
            _ => "`callgate methods NAME` shows how the method is called".to_owned(),
        };
        Failure::new(error.to_string(), hint)
    }
}
