//! [`ClaimGuard`]: that this process works on a message or a turn. Work that ends before its end is on
//! record (the store failed, its future was dropped, it panicked) is nobody's: its session is interrupted,
//! and what was left is taken up from the record.

use std::sync::Arc;

use callgate_contract::{JournalId, SessionKey};
use callgate_store::LogRow;

use super::{
    LiveSession,
    event::{Claim, SessionEvent},
};
use crate::{Agent, TurnError};

/// Dropped before [`ClaimGuard::end`], its work was interrupted.
pub(crate) struct ClaimGuard {
    agent: Agent,
    session: Arc<LiveSession>,
    claim: Claim,
    ended: bool,
}

impl ClaimGuard {
    fn on(agent: &Agent, session: &SessionKey, claim: Claim) -> Self {
        let session = agent.sessions().of(session);
        session.step(SessionEvent::Claimed(claim));
        ClaimGuard::held(agent, session, claim)
    }

    /// Of a claim that is made already.
    pub(super) fn held(agent: &Agent, session: Arc<LiveSession>, claim: Claim) -> Self {
        ClaimGuard {
            agent: agent.clone(),
            session,
            claim,
            ended: false,
        }
    }

    /// Whatever is to be done about it is on record.
    pub(crate) fn end(mut self) {
        self.ended = true;
    }

    /// The message that was being stored is this row.
    pub(crate) fn stored_as(self, row: &LogRow) -> ClaimGuard {
        let claim = self.agent.claim_row(row);
        self.end();
        claim
    }

    /// It has ended unless it failed.
    pub(crate) fn ends_with<T>(self, result: Result<T, TurnError>) -> Result<T, TurnError> {
        if result.is_ok() {
            self.end();
        }
        result
    }
}

impl Drop for ClaimGuard {
    fn drop(&mut self) {
        let released = SessionEvent::Released {
            claim: self.claim,
            ended: self.ended,
        };
        self.agent.feed(&self.session, released);
    }
}

impl Agent {
    /// To be called before the turn is on record.
    pub(crate) fn claim_turn(&self, session: &SessionKey, turn: JournalId) -> ClaimGuard {
        ClaimGuard::on(self, session, Claim::Turn(turn))
    }

    pub(crate) fn claim_row(&self, row: &LogRow) -> ClaimGuard {
        ClaimGuard::on(self, &row.session, Claim::Row(row.id))
    }

    /// To be called before the message is stored.
    pub(crate) fn claim_arrival(&self, session: &SessionKey) -> ClaimGuard {
        ClaimGuard::on(self, session, Claim::Arriving)
    }
}
