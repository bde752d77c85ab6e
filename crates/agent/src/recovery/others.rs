//! [`Others`]: taking over from instances that are gone, session by session. A session that takes long holds
//! up no other, and none is taken up twice at a time.

use std::collections::HashSet;

use callgate_contract::SessionKey;
use callgate_store::LeftBy;
use tokio::task::{JoinHandle, JoinSet};

use crate::{Agent, TurnError};

#[derive(Default)]
pub(super) struct Others {
    going: JoinSet<SessionKey>,
    sessions: HashSet<SessionKey>,
    /// Code of its own is executed one after the other.
    code: Option<JoinHandle<()>>,
}

impl Others {
    pub(super) async fn look(&mut self, agent: &Agent) -> Result<(), TurnError> {
        while let Some(done) = self.going.try_join_next() {
            match done {
                Ok(session) => self.sessions.remove(&session),
                // Which one is not known; those that are left are found again.
                Err(_) => std::mem::take(&mut self.sessions).is_empty(),
            };
        }
        for session in agent.sessions_left(LeftBy::Others).await? {
            if self.sessions.insert(session.clone()) {
                let agent = agent.clone();
                self.going.spawn(async move {
                    for turn in agent.take_up_session(&session).await.turns {
                        tracing::info!(turn = %turn.0, "resumed a turn of another instance");
                    }
                    session
                });
            }
        }
        if self.code.as_ref().is_none_or(JoinHandle::is_finished) {
            let agent = agent.clone();
            self.code = Some(tokio::spawn(async move {
                if let Err(error) = agent.recover_code(LeftBy::Others).await {
                    tracing::warn!(%error, "could not check the code of other instances");
                }
            }));
        }
        for session in agent.store().outbox().left_behind().await? {
            agent.deliver(&session).await;
        }
        Ok(())
    }

    /// Whatever was begun comes to its end.
    pub(super) async fn end(mut self) {
        while self.going.join_next().await.is_some() {}
        if let Some(code) = self.code {
            // One that panicked has said so.
            let _ = code.await;
        }
    }
}
