//! Capsules: a session, or one turn of it, as one file that can be executed again anywhere. A replay
//! asks no model and calls no method: replies and results come from the record, code runs in the
//! sandbox with its own seeds and clocks, and whatever comes out otherwise is a difference.
//! A capsule may come from anybody. `docs/capsule.md` describes the format.
//!
//! Invariant: a replay is the turn itself. Its rows are put into an empty store as if the turn had been cut
//! off, resuming executes them again, and its methods are proxies that refuse.

mod compare;
mod export;
mod files;
mod format;
mod proxy;
mod read;
mod record;
mod replay;
mod stage;

use std::io;

use callgate_contract::{JournalId, SessionKey};
use callgate_gate::InvalidMethod;
use callgate_store::{StoreError, files::FileError};

use crate::{RunError, TurnError};

pub use self::{
    compare::{Difference, Place},
    export::{About, export},
    format::{Bytes, Capsule, FileRecord, Header, MAX_FILES, VERSION},
    read::{MAX_CAPSULE, read, write},
    replay::{Replay, Replayed},
};

#[derive(Debug, thiserror::Error)]
pub enum CapsuleError {
    #[error("this is no capsule: {0}")]
    NotOne(String),
    #[error("the capsule is of version {found}, and this callgate reads version {VERSION}")]
    Version { found: u64 },
    #[error("line {line} of the capsule cannot be read: {reason}")]
    Malformed { line: u64, reason: String },
    #[error("the capsule is larger than {limit} bytes")]
    TooLarge { limit: u64 },
    #[error("the capsule ends too early: it was cut off")]
    CutOff,
    #[error("nothing was said or run in {0} yet")]
    Nothing(SessionKey),
    #[error("turn {} is not one of {session}", turn.0)]
    OtherSession {
        turn: JournalId,
        session: SessionKey,
    },
    #[error("this data directory has a session {0} of its own")]
    Occupied(SessionKey),
    #[error(transparent)]
    Method(#[from] InvalidMethod),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    File(#[from] FileError),
    #[error(transparent)]
    Run(#[from] RunError),
    #[error(transparent)]
    Turn(#[from] TurnError),
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl CapsuleError {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            CapsuleError::NotOne(_) => "give a file that `callgate session export` wrote",
            CapsuleError::Version { .. } => "use the version of callgate that wrote it",
            CapsuleError::Malformed { .. } | CapsuleError::CutOff => {
                "export it again: this file is damaged"
            }
            CapsuleError::TooLarge { .. } => "export one turn of it with --turn ID",
            CapsuleError::Nothing(_) => "see the sessions with `callgate session list`",
            CapsuleError::OtherSession { .. } => {
                "see its turns with `callgate session show KEY --json`"
            }
            CapsuleError::Occupied(_) => "leave out --data, or give a directory that is new",
            _ => "`callgate doctor` shows what works here",
        }
    }
}
