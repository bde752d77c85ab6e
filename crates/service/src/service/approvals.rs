//! What waits for the operator, and what follows from an answer: the call that still waits goes
//! on; a run or a turn that stopped to wait is executed again.

use std::convert::Infallible;

use callgate_contract::{JournalId, SessionKey};
use callgate_store::{Approval, Decision, Standing, StoreError};
use tokio::sync::broadcast::error::RecvError;

use super::Service;
use crate::{
    Event, EventListener, ServiceError,
    operations::{AnsweredApproval, ContinuedReport},
};

impl Service {
    /// What waits in the session, then what is asked and answered there. Never returns: it is raced
    /// against what it accompanies.
    pub(super) async fn tell_approvals(
        &self,
        session: &SessionKey,
        hear: &EventListener,
    ) -> Infallible {
        // Heard before it is read, so that nothing falls in between.
        let mut news = self.gate.approvals();
        let tell = |approval: Approval| hear(Event::Approval(Box::new(approval.into())));
        loop {
            // If it cannot be read, what waits is still listed by `callgate approval list`.
            let waiting = self.store.approvals().pending_in(session).await;
            waiting
                .unwrap_or_default()
                .into_iter()
                .for_each(|approval| {
                    tell(approval);
                });
            loop {
                match news.recv().await {
                    Ok(approval) if approval.ask.session == *session => {
                        tell(approval);
                    }
                    Ok(_) => {}
                    Err(RecvError::Lagged(_)) => break,
                    Err(RecvError::Closed) => return std::future::pending().await,
                }
            }
        }
    }

    /// Gives the answer, and lets what waited for it go on.
    pub(crate) async fn answer_approval(
        &self,
        by: &str,
        id: i64,
        decision: Decision,
        standing: Option<Standing>,
    ) -> Result<AnsweredApproval, ServiceError> {
        let journal = self.store.approvals().get(id).await?.ask.journal;
        let owner = self.owner_of(journal).await?;
        // Looked at before the answer is given: what still waits may end right after it.
        let waits = match owner {
            // There is nothing of ours to go on with: its call waits still, or it asks again.
            JournalOwner::Plugin => true,
            JournalOwner::Turn(turn) => self.is_answering(turn).await?,
            JournalOwner::Run => self.store.journal().run(journal).await?.finish.is_none(),
        };
        let answered = self.gate.answer_as(Some(by), id, decision, standing);
        let approval = answered.await?.into();
        let report = match owner {
            JournalOwner::Plugin => None,
            JournalOwner::Turn(turn) => {
                let turn = self.resume_after_approval(turn, id, waits).await?;
                turn.map(ContinuedReport::Turn)
            }
            // How the call went on is told, but the answer itself was given.
            JournalOwner::Run => match self.continue_answered(journal).await {
                Some(Err(error)) => Some(ContinuedReport::Failed(error.into())),
                Some(Ok(report)) => Some(report),
                None => None,
            },
        };
        Ok(AnsweredApproval {
            approval,
            continues: report.is_none() && (waits || matches!(owner, JournalOwner::Turn(_))),
            report,
        })
    }

    /// Whose calls a journal holds.
    async fn owner_of(&self, journal: JournalId) -> Result<JournalOwner, ServiceError> {
        match self.store.journal().run(journal).await {
            Ok(run) => Ok(match run.start.turn {
                Some((turn, _)) => JournalOwner::Turn(turn),
                None => JournalOwner::Run,
            }),
            Err(StoreError::UnknownRun(_)) => match self.store.turns().get(journal).await {
                Ok(_) => Ok(JournalOwner::Turn(journal)),
                Err(StoreError::UnknownTurn(_)) => Ok(JournalOwner::Plugin),
                Err(error) => Err(error.into()),
            },
            Err(error) => Err(error.into()),
        }
    }
}

#[derive(Clone, Copy)]
enum JournalOwner {
    /// Of code in a turn, or of its tool calls.
    Turn(JournalId),
    /// Code that was run, or a method that was called, for itself.
    Run,
    /// Code of a plugin, by itself.
    Plugin,
}
