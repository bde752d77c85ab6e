//! Sessions as files.

use callgate_contract::{JournalId, SessionKey};

#[derive(Clone, Debug)]
pub struct WhichCapsule {
    pub session: SessionKey,
    /// Only this turn.
    pub turn: Option<JournalId>,
}
