//! How others ask something of a session: for a turn, for a delivery, to take up what was left.

use callgate_contract::{JournalId, SessionKey};
use tokio::{sync::oneshot, task::JoinSet};
use tracing::Span;

use super::event::{SessionAction, SessionEvent};
use crate::{Agent, Arrived, Recovered, TurnError, TurnReport, Watch, arrival::TurnTrigger};

/// What somebody wants of the session's next turn, and where they wait.
pub(super) enum Request {
    Answer {
        trigger: Box<TurnTrigger>,
        tell: oneshot::Sender<Result<Arrived, TurnError>>,
        span: Span,
    },
    Resume {
        turn: JournalId,
        watch: Watch,
        tell: oneshot::Sender<Result<TurnReport, TurnError>>,
        span: Span,
    },
}

impl Agent {
    /// One turn at a time in a session: the others wait here.
    pub(crate) async fn answer_on(&self, trigger: TurnTrigger) -> Result<Arrived, TurnError> {
        let session = self.sessions().of(trigger.session());
        let (tell, told) = oneshot::channel();
        let actions = session.want(Request::Answer {
            trigger: Box::new(trigger),
            tell,
            span: Span::current(),
        });
        self.perform_all(&session, actions);
        told.await.unwrap_or(Err(TurnError::CutOff))
    }

    /// Goes on with a turn that was cut off or has waited for an approval. It may be waiting still, and go
    /// on by itself.
    pub async fn resume(&self, turn: JournalId, watch: Watch) -> Result<TurnReport, TurnError> {
        let session = self.store().turns().get(turn).await?.start.session;
        let session = self.sessions().of(&session);
        let (tell, told) = oneshot::channel();
        let actions = session.want(Request::Resume {
            turn,
            watch,
            tell,
            span: Span::current(),
        });
        self.perform_all(&session, actions);
        told.await.unwrap_or(Err(TurnError::CutOff))
    }

    /// Sends what waits in the session's outbox. What cannot go now stays there and is tried again
    /// with the next delivery.
    pub async fn deliver(&self, session: &SessionKey) {
        let session = self.sessions().of(session);
        let (tell, told) = oneshot::channel();
        let actions = {
            let mut core = session.core.lock();
            let actions = core.state.step(SessionEvent::DeliveryWanted);
            let begins = actions.contains(&SessionAction::Deliver);
            let (now, after) = &mut core.delivered;
            if begins { now } else { after }.push(tell);
            actions
        };
        self.perform_all(&session, actions);
        // Untold where the process ends.
        let _ = told.await;
    }

    /// The same of every session of a platform in which anything waits: it can be reached again.
    pub async fn deliver_platform(&self, platform: &str) -> Result<(), TurnError> {
        let mut delivering = JoinSet::new();
        for session in self.store().outbox().sessions().await? {
            if session.platform() == platform {
                let agent = self.clone();
                // Side by side: one chat that takes long holds up no other.
                delivering.spawn(async move { agent.deliver(&session).await });
            }
        }
        while delivering.join_next().await.is_some() {}
        Ok(())
    }

    /// Has what the session was left with taken up; returns when all of it has come to its end.
    pub(crate) async fn take_up_session(&self, session: &SessionKey) -> Recovered {
        let session = self.sessions().of(session);
        let (tell, told) = oneshot::channel();
        session.core.lock().settled.push(tell);
        self.feed(&session, SessionEvent::Interrupted);
        told.await.unwrap_or_default()
    }

    /// Returns when nothing of the session waits to be taken up.
    pub(crate) async fn settled(&self, session: &SessionKey) {
        let session = self.sessions().of(session);
        let told = {
            let mut core = session.core.lock();
            core.state.is_interrupted().then(|| {
                let (tell, told) = oneshot::channel();
                core.settled.push(tell);
                told
            })
        };
        if let Some(told) = told {
            // Untold where the process ends.
            let _ = told.await;
        }
    }
}
