//! What waits for the operator, and what follows from an answer: the call that still waits goes
//! on; a run or a turn that stopped to wait is executed again.

use callgate_store::{Approval, ApprovalState};
use serde_json::{Value as Json, json};

use super::App;
use crate::{failure::Failure, request::Verdict};

impl App {
    pub(super) async fn approvals(&self, all: bool) -> Result<Json, Failure> {
        let state = (!all).then_some(ApprovalState::Pending);
        let approvals = self.store.approvals().list(state).await?;
        Ok(approvals.iter().map(shown).collect())
    }

    pub(super) async fn settle(
        &self,
        id: i64,
        verdict: Verdict,
        always: bool,
    ) -> Result<Json, Failure> {
        let approval = self.gate.answer(id, verdict.into(), always).await?;
        let run = approval.ask.journal;
        if let Some(turn) = self.turn_of(run).await? {
            let report = self.go_on(turn, id).await?;
            return Ok(json!({
                "approval": shown(&approval),
                "continues": report.is_none(),
                "report": report,
            }));
        }
        let report = match self.continue_answered(run).await {
            // How the call went on is told, but the answer itself was given.
            Some(Err(failure)) => Some(json!(failure)),
            Some(Ok(report)) => Some(report),
            None => None,
        };
        let finish = self.store.journal().run(run).await?.finish;
        Ok(json!({
            "approval": shown(&approval),
            "continues": report.is_none() && finish.is_none(),
            "report": report,
        }))
    }
}

fn shown(approval: &Approval) -> Json {
    let Approval {
        id,
        ask,
        state,
        asked_at,
        answered_at,
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
    })
}
