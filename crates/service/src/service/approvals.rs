//! What waits for the operator, and what follows from an answer: the call that still waits goes
//! on; a run or a turn that stopped to wait is executed again.

use std::convert::Infallible;

use crate::News;
use callgate_contract::{JournalId, SessionKey};
use callgate_store::{Approval, ApprovalState, StoreError};
use serde_json::{Value as Json, json};
use tokio::sync::broadcast::error::RecvError;

use super::{Hear, Service};
use crate::{
    ServiceError,
    request::{Event, Verdict},
};

impl Service {
    pub(super) async fn approvals(&self, all: bool) -> Result<Json, ServiceError> {
        let state = (!all).then_some(ApprovalState::Pending);
        let approvals = self.store.approvals().list(state).await?;
        Ok(approvals.iter().map(shown).collect())
    }

    pub(super) async fn approval_rules(&self) -> Result<Json, ServiceError> {
        Ok(json!(self.store.approvals().rules().await?))
    }

    pub(super) async fn revoke_rule(&self, id: i64) -> Result<Json, ServiceError> {
        let revoked = self.store.approvals().revoke_rule(id).await?;
        self.live.announce(&News::Rules {});
        Ok(json!(revoked))
    }

    /// What waits in the session, then what is asked and answered there. Never returns: it is raced
    /// against what it accompanies.
    pub(super) async fn tell_approvals(&self, session: &SessionKey, hear: &Hear) -> Infallible {
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

    pub async fn settle(
        &self,
        by: Option<&str>,
        id: i64,
        verdict: Verdict,
        always: bool,
    ) -> Result<Json, ServiceError> {
        let run = self.store.approvals().get(id).await?.ask.journal;
        if self.is_of_plugin(run).await? {
            // There is nothing of ours to go on with: its call waits still, or it asks again.
            let approval = self.gate.answer_as(by, id, verdict.into(), always).await?;
            return Ok(json!({ "approval": shown(&approval), "continues": true, "report": null }));
        }
        if let Some(turn) = self.turn_of(run).await? {
            // Both asked before the answer is given: what still waits may end right after it.
            let answering = self.is_answering(turn).await?;
            let approval = self.gate.answer_as(by, id, verdict.into(), always).await?;
            let report = self.go_on(turn, id, answering).await?;
            return Ok(json!({
                "approval": shown(&approval),
                "continues": report.is_none(),
                "report": report,
            }));
        }
        let waits = self.store.journal().run(run).await?.finish.is_none();
        let approval = self.gate.answer_as(by, id, verdict.into(), always).await?;
        let report = match self.continue_answered(run).await {
            // How the call went on is told, but the answer itself was given.
            Some(Err(failure)) => Some(json!(failure)),
            Some(Ok(report)) => Some(report),
            None => None,
        };
        Ok(json!({
            "approval": shown(&approval),
            "continues": waits && report.is_none(),
            "report": report,
        }))
    }
}

impl Service {
    /// Did code of a plugin ask by itself, within neither a run nor a turn?
    async fn is_of_plugin(&self, journal: JournalId) -> Result<bool, ServiceError> {
        let run = self.store.journal().run(journal).await.map(drop);
        let turn = self.store.turns().get(journal).await.map(drop);
        match (run, turn) {
            (Err(StoreError::UnknownRun(_)), Err(StoreError::UnknownTurn(_))) => Ok(true),
            (Ok(()) | Err(StoreError::UnknownRun(_)), Ok(()) | Err(StoreError::UnknownTurn(_))) => {
                Ok(false)
            }
            (Err(error), _) | (_, Err(error)) => Err(error.into()),
        }
    }
}

fn shown(approval: &Approval) -> Json {
    let Approval {
        id,
        ask,
        state,
        asked_at,
        answered_at,
        answered_by,
    } = approval;
    json!({
        "id": id,
        "method": ask.method,
        "arguments": ask.arguments,
        "session": ask.session,
        "user": ask.user,
        "run": ask.journal,
        "state": state,
        "asked_at": asked_at.to_string(),
        "answered_at": answered_at.map(|at| at.to_string()),
        "answered_by": answered_by,
    })
}
