//! Sessions as files, and personas of other programs.

use callgate_contract::{JournalId, SessionKey};
use serde_json::Value as Json;

use super::Operation;

#[derive(Clone, Default)]
pub struct CapsuleOperations {
    /// The file's bytes.
    pub export: Operation<WhichCapsule, Vec<u8>>,
    /// Executes the file's bytes again, elsewhere.
    pub replay: Operation<Vec<u8>, Json>,
    /// The same for one turn that is here.
    pub replay_turn: Operation<WhichCapsule, Json>,
    /// Gives the personas that were made.
    pub import_persona: Operation<TakePersona, Vec<Json>>,
}

#[derive(Clone, Debug)]
pub struct WhichCapsule {
    pub session: SessionKey,
    /// Only this turn.
    pub turn: Option<JournalId>,
}

/// A character card, or a persona of AstrBot.
#[derive(Clone, Debug)]
pub struct TakePersona {
    pub bytes: Vec<u8>,
    /// In place of its own.
    pub name: Option<String>,
    pub replace: bool,
    pub greeting: usize,
}
