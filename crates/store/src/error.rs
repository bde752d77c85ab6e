//! [`StoreError`]: what can go wrong with durable things, by what a caller can do about it.

use std::{io, path::PathBuf};

use callgate_contract::{ConversationId, JournalId, MethodError};

use crate::{
    DatabaseError, MAX_DATA_NAME, MAX_ROOM_NAME, MAX_TIMER_TEXT, MAX_TIMERS, files::FileError,
};

#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The address names no engine we speak; passwords in it are not repeated.
    #[error("'{scheme}' is not a database: use postgres://..., or nothing for SQLite")]
    Engine { scheme: String },
    #[error("cannot use the data directory {}: {source}", path.display())]
    Directory { path: PathBuf, source: io::Error },
    #[error("the database refused or is unreachable: {0}")]
    Database(#[from] DatabaseError),
    #[error(
        "the database was made by a newer version of Callgate (its schema is {version}, this one \
         knows {newest}): use that version, or another data directory"
    )]
    Newer { version: i64, newest: i64 },
    /// There was one: it left a mark. A new one in its place would hide the loss.
    #[error("the database {} was here and is gone", .0.display())]
    Vanished(PathBuf),
    #[error("a backup was being restored into {} and is not whole", .0.display())]
    HalfRestored(PathBuf),
    #[error("cannot read the database's address: {0}")]
    Address(String),
    /// The same, as a method that asked it tells.
    #[error("the database refused or is unreachable: {0}")]
    Unavailable(String),
    /// A row does not read back as what was written: another program has changed it.
    #[error("the stored {what} is damaged: {reason}")]
    Damaged { what: &'static str, reason: String },
    #[error("no run {}", .0.0)]
    UnknownRun(JournalId),
    #[error("run {} has already begun", .0.0)]
    AlreadyBegun(JournalId),
    #[error("run {} has already ended", .0.0)]
    AlreadyFinished(JournalId),
    /// The call's intent or outcome is on record: nothing was written or applied.
    #[error("call {sequence} of run {} is already recorded", journal.0)]
    AlreadyRecorded { journal: JournalId, sequence: u64 },
    /// An outcome needs an intent, or one transaction that holds both.
    #[error("call {sequence} of run {} was never begun", journal.0)]
    NeverBegun { journal: JournalId, sequence: u64 },
    #[error("no approval {0}")]
    UnknownApproval(i64),
    #[error("approval {id} is already {state}")]
    AlreadyAnswered { id: i64, state: &'static str },
    #[error("no rule {0}")]
    UnknownRule(i64),
    #[error("no limit {0}")]
    UnknownLimit(i64),
    #[error("no import {0}")]
    UnknownImport(i64),
    #[error("no message {0} is on its way")]
    UnknownMessage(i64),
    #[error("no key '{0}'")]
    UnknownKey(String),
    #[error("no client '{0}' has asked to be let in")]
    UnknownClient(String),
    #[error("the client id '{0}' belongs to another key or client")]
    NameTaken(String),
    #[error("the address '{0}' belongs to another client")]
    AddressTaken(String),
    #[error("a note's {what} holds 1 to {limit} bytes, not {length}")]
    NoteSize {
        what: &'static str,
        limit: usize,
        length: usize,
    },
    #[error("a note's name cannot hold control characters")]
    NoteName,
    #[error("no conversation {0} in this session")]
    UnknownConversation(ConversationId),
    #[error("conversation {id} has no history up to position {position}")]
    Position { id: ConversationId, position: u64 },
    #[error("no persona '{0}'")]
    UnknownPersona(String),
    #[error("there is a persona '{0}' already")]
    PersonaExists(String),
    #[error("'{name}' cannot be a persona's name: {problem}")]
    PersonaName { name: String, problem: &'static str },
    #[error(
        "opening dialogues are pairs, the user's line and then the answer: {count} is an odd number"
    )]
    OddDialogs { count: usize },
    #[error("no turn {}", .0.0)]
    UnknownTurn(JournalId),
    #[error("turn {} has already begun", .0.0)]
    TurnBegun(JournalId),
    #[error("turn {} has already ended", .0.0)]
    TurnFinished(JournalId),
    /// Its instance went silent, and another has taken it over: whatever is written now is not.
    #[error("{} is another instance's by now, which goes on with it", .0.0)]
    Elsewhere(JournalId),
    /// Another turn has it, or it is none that came into the turn's session.
    #[error("log row {row} is not for turn {} to take", turn.0)]
    NotToTake { turn: JournalId, row: i64 },
    /// The first reply stays.
    #[error("round {number} of turn {} already has its reply", turn.0)]
    AlreadyReplied { turn: JournalId, number: u32 },
    #[error("round {number} of turn {} was never asked", turn.0)]
    NeverAsked { turn: JournalId, number: u32 },
    #[error("a timer's text holds 1 to {MAX_TIMER_TEXT} bytes, not {length}")]
    TimerSize { length: usize },
    #[error("{MAX_TIMERS} timers wait in this session already")]
    TooManyTimers,
    #[error("a room's name and its master's hold 1 to {MAX_ROOM_NAME} printable characters")]
    RoomName,
    #[error("there are {limit} {what} already; remove some first")]
    TooMany { what: &'static str, limit: usize },
    #[error(
        "the name of a plugin's value has at most {MAX_DATA_NAME} characters, none of them NUL"
    )]
    DataName,
    #[error("no randomness from the system: {0}")]
    Random(getrandom::Error),
    #[error(transparent)]
    File(#[from] FileError),
}

impl StoreError {
    /// Is it that nothing more fits on the disk?
    pub fn is_full(&self) -> bool {
        matches!(self, StoreError::Database(error) if error.is_full())
    }

    /// Is it that what lies on the disk is not what was written?
    pub fn is_damage(&self) -> bool {
        matches!(self, StoreError::Database(error) if error.is_damage())
    }

    /// Is it that this process can open nothing more?
    pub fn is_out_of_descriptors(&self) -> bool {
        match self {
            StoreError::Database(error) => matches!(error, DatabaseError::NoDescriptors),
            StoreError::File(error) => error.is_out_of_descriptors(),
            _ => false,
        }
    }

    /// It is the database's or the disk's state, not what was asked: the same may succeed later.
    pub fn is_temporary(&self) -> bool {
        match self {
            StoreError::Database(error) => error.is_temporary(),
            StoreError::File(error) => error.is_temporary(),
            StoreError::Unavailable(_) => true,
            _ => false,
        }
    }

    pub(crate) fn damaged(what: &'static str, reason: impl ToString) -> Self {
        StoreError::Damaged {
            what,
            reason: reason.to_string(),
        }
    }
}

/// In a method's mouth.
impl From<StoreError> for MethodError {
    fn from(error: StoreError) -> Self {
        let message = match &error {
            // The gate says the rest.
            StoreError::Database(reason) if error.is_temporary() => reason.to_string(),
            StoreError::Unavailable(reason) => reason.clone(),
            error => error.to_string(),
        };
        MethodError {
            is_temporary: error.is_temporary(),
            ..MethodError::new(message)
        }
    }
}
