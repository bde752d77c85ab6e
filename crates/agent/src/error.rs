//! [`RunError`]: why code was not run at all. How a run *ended* is its report's business.

use callgate_contract::{JournalId, SandboxError, TurnStop};
use callgate_store::{StoreError, files::FileError};

#[derive(Debug, thiserror::Error)]
pub enum RunError {
    #[error(transparent)]
    Sandbox(#[from] SandboxError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Folder(#[from] FileError),
    #[error("{} is not a run of code: nothing can be executed again", .0.0)]
    NoCode(JournalId),
    #[error("run {} has ended with stop '{stop}': only one that waits for approval or was cut off is executed again", id.0)]
    Ended {
        id: JournalId,
        stop: callgate_contract::Stop,
    },
    #[error("no randomness: {0}")]
    Randomness(getrandom::Error),
}

/// Why a turn could not be run, or went no further. What its model or code did wrong is in its
/// report.
#[derive(Debug, thiserror::Error)]
pub enum TurnError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Folder(#[from] FileError),
    #[error(transparent)]
    Run(#[from] RunError),
    #[error("turn {} has ended with stop '{stop:?}'", turn.0)]
    Ended { turn: JournalId, stop: TurnStop },
    #[error("turn {} was begun by a newer version of Callgate, which alone can resume it", turn.0)]
    Newer { turn: JournalId },
    /// The process ends, or a part of it did.
    #[error("it was cut off, and goes on at the next start")]
    CutOff,
    #[error("no randomness: {0}")]
    Randomness(getrandom::Error),
}

impl TurnError {
    /// Another instance has it by now.
    pub(crate) fn is_elsewhere(&self) -> bool {
        matches!(
            self,
            TurnError::Store(StoreError::Elsewhere(_))
                | TurnError::Run(RunError::Store(StoreError::Elsewhere(_)))
        )
    }

    /// It is the store's state, not what was asked of it: the same may succeed a moment later.
    pub fn is_temporary(&self) -> bool {
        match self {
            TurnError::Store(error) | TurnError::Run(RunError::Store(error)) => {
                error.is_temporary()
            }
            TurnError::Folder(error) | TurnError::Run(RunError::Folder(error)) => {
                error.is_temporary()
            }
            TurnError::Run(_)
            | TurnError::Ended { .. }
            | TurnError::Newer { .. }
            | TurnError::CutOff
            | TurnError::Randomness(_) => false,
        }
    }
}
