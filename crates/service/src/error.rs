//! [`ServiceError`]: why an operation did not succeed, and what to do about it. Every error of the crates
//! below becomes one here and nowhere else. How it is worded to a person, and which status or exit code
//! it is, each surface decides at its rim.

mod storage;

use std::{collections::BTreeMap, fmt};

use callgate_agent::{RunError, TurnError, capsule::CapsuleError, cards::CardError};
use callgate_contract::SandboxError;
use callgate_gate::CallError;
use callgate_models::InvalidModel;
use callgate_plugins::environment::InstallError;
use callgate_store::{ControlError, OwnerError, StoreError, files::FileError};
use serde::{Deserialize, Serialize};

use self::storage::{no_descriptors, storage};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServiceError {
    pub code: ErrorCode,
    pub message: String,
    pub hint: Hint,
    /// What is wrong with which field of a form, by its path.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub fields: BTreeMap<String, String>,
}

/// What a caller can act on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorCode {
    /// There is no such thing.
    NotFound,
    /// What was sent makes no sense.
    Invalid,
    /// The key does not hold what this needs.
    MissingScope,
    /// Who asks may not do this.
    Denied,
    /// It was understood and cannot be done.
    Refused,
    /// The method was called and failed.
    MethodFailed,
    /// It does not go with what is there.
    Conflict,
    /// It waits for the operator.
    ApprovalPending,
    /// Somebody has asked too much or too often.
    Busy,
    /// It took too long.
    Deadline,
    /// Not now; the same may succeed soon.
    Unavailable,
    /// The database cannot be used now. Nothing was changed.
    Storage,
    /// Nothing more fits on the disk. Nothing was changed.
    StorageFull,
    /// Our own fault.
    Internal,
}

/// What to do about it, as data: a surface knows by which command or address that is done.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Hint {
    #[default]
    None,
    /// The same words everywhere.
    Text(String),
    /// Look at what there is.
    List(Listing),
    /// Look at how this method is called.
    DescribeMethod(String),
    /// Arguments are given by name or by position.
    Arguments,
    /// Somebody has to answer it.
    AnswerApproval(i64),
    /// The operator's rules say which methods are asked about.
    ApprovalRules,
    /// Make a key that holds this scope.
    NewKey(String),
    /// Look at how much may be spent.
    Budgets,
    /// Say what the persona is told to be.
    PersonaPrompt,
    /// Take another name.
    OtherName,
    /// Take another name, or overwrite what is there.
    OtherNameOrReplace,
    /// Make a key for this client.
    NewClientKey,
    /// Providers known by name; of another its address is needed.
    KnownProviders(Vec<String>),
    /// Set one of these variables, or give the model's key.
    GiveModelKey(Vec<String>),
    /// Set this variable, or give the model's key itself.
    SetKeyVariable(String),
    /// Do this, or add the model without asking it anything.
    AddUnchecked(String),
    /// Look at what settings the plugin has.
    PluginSettings,
    /// Say that it takes the place of the one that is there.
    Replace,
    /// Have the machine examined.
    Doctor,
    /// The log says more than callers may know.
    Log,
    /// Try again in a moment.
    Retry,
    /// A fault of ours, worth a report.
    Report,
}

/// In words that fit any surface; those that know better ones say it themselves.
impl fmt::Display for Hint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Hint::KnownProviders(names) => {
                let names = names.join(", ");
                return write!(f, "those known are {names}; give the address of any other");
            }
            Hint::GiveModelKey(variables) => {
                return write!(f, "set {}, or give its key", variables.join(" or "));
            }
            Hint::SetKeyVariable(name) => return write!(f, "set {name}, or give the key itself"),
            Hint::AddUnchecked(hint) => hint,
            Hint::None => "",
            Hint::Text(text) => text,
            Hint::List(_) => "look at the list of what there is",
            Hint::DescribeMethod(_) => "look at how the method is called",
            Hint::Arguments => "give an object by name, or an array by position",
            Hint::AnswerApproval(_) => "it goes on once the operator has answered",
            Hint::ApprovalRules => "the operator's rules say who may call what",
            Hint::Budgets => "the operator says how much may be spent",
            Hint::PersonaPrompt => "give it a system prompt",
            Hint::OtherName => "choose another name",
            Hint::OtherNameOrReplace => "choose another name, or overwrite what is there",
            Hint::NewKey(_) | Hint::NewClientKey => "ask the operator for a key",
            Hint::PluginSettings => "look at its settings and their types",
            Hint::Replace => "have it put in the place of the one that is there",
            Hint::Doctor | Hint::Log => "the server's log says why",
            Hint::Retry => "try again in a moment",
            Hint::Report => "this is a fault of callgate: report it",
        })
    }
}

/// What can be listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Listing {
    Approvals,
    Limits,
    Outbox,
    Rules,
    Clients,
    Keys,
    Methods,
    Models,
    Personas,
    Platforms,
    Plugins,
    Sessions,
    Conversations,
    Turns,
    Timers,
    Files,
}

impl ServiceError {
    pub fn new(code: ErrorCode, message: impl Into<String>, hint: impl Into<Hint>) -> Self {
        ServiceError {
            code,
            message: one_line(&message.into()),
            hint: hint.into(),
            fields: BTreeMap::new(),
        }
    }

    pub fn not_found(message: impl Into<String>, hint: impl Into<Hint>) -> Self {
        ServiceError::new(ErrorCode::NotFound, message, hint)
    }

    pub fn invalid(message: impl Into<String>, hint: impl Into<Hint>) -> Self {
        ServiceError::new(ErrorCode::Invalid, message, hint)
    }

    pub fn refused(message: impl Into<String>, hint: impl Into<Hint>) -> Self {
        ServiceError::new(ErrorCode::Refused, message, hint)
    }

    pub fn conflict(message: impl Into<String>, hint: impl Into<Hint>) -> Self {
        ServiceError::new(ErrorCode::Conflict, message, hint)
    }

    pub fn internal(error: impl fmt::Display) -> Self {
        ServiceError::new(ErrorCode::Internal, error.to_string(), Hint::Report)
    }

    /// Models are still being looked for.
    pub fn starting() -> Self {
        let message = "models are still being looked for";
        ServiceError::new(ErrorCode::Unavailable, message, Hint::Retry)
    }

    /// The same may succeed soon.
    pub fn is_temporary(&self) -> bool {
        matches!(
            self.code,
            ErrorCode::Storage | ErrorCode::StorageFull | ErrorCode::Unavailable
        )
    }

    #[must_use]
    pub fn with_fields(mut self, fields: BTreeMap<String, String>) -> Self {
        self.fields = fields;
        self
    }
}

impl fmt::Display for ServiceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ServiceError {}

impl From<&str> for Hint {
    fn from(text: &str) -> Self {
        Hint::Text(text.to_owned())
    }
}

impl From<String> for Hint {
    fn from(text: String) -> Self {
        Hint::Text(text)
    }
}

impl From<Listing> for Hint {
    fn from(listing: Listing) -> Self {
        Hint::List(listing)
    }
}

/// Scripts and logs read errors by the line.
fn one_line(text: &str) -> String {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.collect::<Vec<_>>().join(" ")
}

impl From<StoreError> for ServiceError {
    fn from(error: StoreError) -> Self {
        use StoreError as E;
        let text = error.to_string();
        match &error {
            E::UnknownApproval(_) => ServiceError::not_found(text, Listing::Approvals),
            E::UnknownImport(_) => {
                ServiceError::not_found(text, "see the imports with `callgate import list`")
            }
            E::UnknownLimit(_) => ServiceError::not_found(text, Listing::Limits),
            E::UnknownMessage(_) => ServiceError::not_found(text, Listing::Outbox),
            E::UnknownRule(_) => ServiceError::not_found(text, Listing::Rules),
            E::UnknownKey(_) => ServiceError::not_found(text, Listing::Keys),
            E::UnknownPersona(_) => ServiceError::not_found(text, Listing::Personas),
            E::UnknownClient(_) => ServiceError::not_found(text, Listing::Clients),
            E::UnknownRun(_) | E::UnknownTurn(_) => ServiceError::not_found(text, Listing::Turns),
            E::UnknownConversation(_) => ServiceError::not_found(text, Listing::Conversations),
            E::AlreadyAnswered { .. } => ServiceError::conflict(text, Listing::Approvals),
            E::NameTaken(_) => ServiceError::conflict(text, Hint::NewClientKey),
            E::PersonaExists(_) => ServiceError::conflict(text, Hint::OtherName),
            E::TooManyTimers | E::AddressTaken(_) => ServiceError::conflict(text, Hint::None),
            E::PersonaName { .. } => ServiceError::invalid(text, Hint::OtherName),
            E::OddDialogs { .. } => {
                ServiceError::invalid(text, "give what the user and the assistant say in turn")
            }
            E::NoteSize { .. }
            | E::NoteName
            | E::Position { .. }
            | E::TimerSize { .. }
            | E::RoomName
            | E::TooMany { .. } => ServiceError::invalid(text, Hint::None),
            E::Engine { .. } | E::Address(_) => {
                ServiceError::refused(text, "set database.url, or leave it out for SQLite")
            }
            E::Directory { .. } => {
                ServiceError::refused(text, "choose another data directory, or mend this one")
            }
            E::Vanished(_) => ServiceError::refused(
                text,
                "put it back, or restore a backup with `callgate restore`; to begin anew, choose \
                 another data directory",
            ),
            E::HalfRestored(_) => {
                ServiceError::refused(text, "empty the directory, then restore the backup again")
            }
            E::Newer { .. } | E::Damaged { .. } => ServiceError::new(
                ErrorCode::Internal,
                text,
                "use the version of callgate that wrote this data, or another data directory",
            ),
            E::Database(_) => storage(&error),
            E::File(error) if error.is_out_of_descriptors() => no_descriptors(text),
            E::File(_) => match error {
                E::File(error) => error.into(),
                other => ServiceError::internal(other),
            },
            _ => ServiceError::new(ErrorCode::Internal, text, Hint::Doctor),
        }
    }
}

impl From<FileError> for ServiceError {
    fn from(error: FileError) -> Self {
        let text = error.to_string();
        match &error {
            FileError::NotFound(_) => ServiceError::not_found(text, Listing::Files),
            FileError::NoOpenat2 | FileError::Io { .. } => {
                ServiceError::new(ErrorCode::Internal, text, Hint::Doctor)
            }
            FileError::Busy(_) => ServiceError::conflict(text, Hint::Retry),
            _ => ServiceError::invalid(text, Hint::None),
        }
    }
}

impl From<SandboxError> for ServiceError {
    fn from(error: SandboxError) -> Self {
        match error {
            SandboxError::Unavailable { reason, hint } => ServiceError::new(
                ErrorCode::Unavailable,
                format!("the sandbox cannot start: {reason}"),
                hint,
            ),
            SandboxError::Failed(_) => {
                ServiceError::new(ErrorCode::Internal, error.to_string(), Hint::Doctor)
            }
        }
    }
}

impl From<RunError> for ServiceError {
    fn from(error: RunError) -> Self {
        match error {
            RunError::Sandbox(error) => error.into(),
            RunError::Store(error) => error.into(),
            RunError::Folder(error) => error.into(),
            error @ (RunError::NoCode(_) | RunError::Ended { .. }) => {
                ServiceError::conflict(error.to_string(), Hint::None)
            }
            other => ServiceError::new(ErrorCode::Internal, other.to_string(), Hint::Doctor),
        }
    }
}

impl From<TurnError> for ServiceError {
    fn from(error: TurnError) -> Self {
        match error {
            TurnError::Store(error) => error.into(),
            TurnError::Folder(error) => error.into(),
            TurnError::Run(error) => error.into(),
            error @ (TurnError::Ended { .. } | TurnError::Newer { .. }) => {
                ServiceError::conflict(error.to_string(), Hint::None)
            }
            TurnError::CutOff => {
                ServiceError::conflict("the turn was cut off", "it goes on at the next start")
            }
            error @ TurnError::Randomness(_) => {
                ServiceError::new(ErrorCode::Internal, error.to_string(), Hint::Doctor)
            }
        }
    }
}

impl From<CapsuleError> for ServiceError {
    fn from(error: CapsuleError) -> Self {
        match error {
            CapsuleError::Store(error) => error.into(),
            CapsuleError::Run(error) => error.into(),
            CapsuleError::Turn(error) => error.into(),
            other => ServiceError::invalid(other.to_string(), other.hint()),
        }
    }
}

impl From<CardError> for ServiceError {
    fn from(error: CardError) -> Self {
        ServiceError::invalid(error.to_string(), error.hint())
    }
}

impl From<InstallError> for ServiceError {
    fn from(error: InstallError) -> Self {
        let text = error.to_string();
        match &error {
            InstallError::Exists(_) => ServiceError::refused(text, Hint::Replace),
            InstallError::Unknown(_) => ServiceError::refused(text, Listing::Plugins),
            _ => ServiceError::refused(text, error.hint()),
        }
    }
}

impl From<InvalidModel> for ServiceError {
    fn from(error: InvalidModel) -> Self {
        let text = error.to_string();
        match &error {
            InvalidModel::Unknown { .. } => ServiceError::refused(text, Listing::Models),
            InvalidModel::Script { .. } => {
                let hint =
                    "each line is an answer: {\"content\": \"...\"} or {\"tool_calls\": [...]}";
                ServiceError::refused(text, hint)
            }
            _ => ServiceError::refused(
                text,
                "docs/configuration.md shows how a model is written down",
            ),
        }
    }
}

impl From<OwnerError> for ServiceError {
    fn from(error: OwnerError) -> Self {
        ServiceError::refused(error.to_string(), "choose another data directory")
    }
}

impl From<ControlError> for ServiceError {
    fn from(error: ControlError) -> Self {
        let hint = "see whether that process still lives, and try again";
        ServiceError::new(ErrorCode::Unavailable, error.to_string(), hint)
    }
}

impl From<CallError> for ServiceError {
    fn from(error: CallError) -> Self {
        use CallError as E;
        let text = error.to_string();
        let (code, hint) = match error {
            E::Unknown { .. } => (ErrorCode::NotFound, Hint::List(Listing::Methods)),
            E::BadArguments { .. } => (ErrorCode::Invalid, Hint::Arguments),
            E::NotExposed { .. } | E::NotGranted { .. } | E::Expired { .. } => {
                (ErrorCode::Denied, Hint::List(Listing::Methods))
            }
            E::Denied { .. } => (ErrorCode::Denied, Hint::ApprovalRules),
            E::Budget { .. } => (ErrorCode::Busy, Hint::Budgets),
            E::ApprovalPending { id, .. } => (ErrorCode::ApprovalPending, Hint::AnswerApproval(id)),
            E::Deadline { method, .. } => (ErrorCode::Deadline, Hint::DescribeMethod(method)),
            E::Store { source, .. } => return source.into(),
            E::NotLeaf { method }
            | E::Unconfirmed { method }
            | E::ApprovalElsewhere { method, .. }
            | E::Cancelled { method, .. }
            | E::Failed { method, .. }
            | E::Panicked { method, .. }
            | E::Unpassable { method, .. }
            | E::BadResult { method, .. }
            | E::OutcomeUnknown { method, .. }
            | E::Recorded { method, .. } => (ErrorCode::MethodFailed, Hint::DescribeMethod(method)),
        };
        ServiceError::new(code, text, hint)
    }
}
