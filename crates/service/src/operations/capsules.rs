//! Sessions as files, and personas of other programs.

use callgate_contract::{JournalId, SessionKey};

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
