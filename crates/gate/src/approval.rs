//! Waiting for the operator. The store remembers what was asked and answered; this only waits,
//! and refuses an answer that was given for another call.

use callgate_contract::{Arguments, Caller};
use callgate_store::{Approval, ApprovalState, Ask, CallIntent, Decision, Rule, StoreError};
use serde_json::Value as Json;
use tokio::time::{Instant, timeout_at};

use crate::{
    CallError, Gate,
    registry::Entry,
    view::{Purpose, view},
    written,
};

impl Gate {
    /// Answers approval `id` and wakes the call that waits for it, if one still does. With
    /// `always` the answer also holds for later calls of the method in that session.
    pub async fn answer(
        &self,
        id: i64,
        decision: Decision,
        always: bool,
    ) -> Result<Approval, StoreError> {
        self.answer_as(None, id, decision, always).await
    }

    /// The same, with whose word it is.
    pub async fn answer_as(
        &self,
        by: Option<&str>,
        id: i64,
        decision: Decision,
        always: bool,
    ) -> Result<Approval, StoreError> {
        let approvals = self.store().approvals();
        let approval = approvals.answer(id, decision, always, by).await?;
        self.answers().send_modify(|count| *count += 1);
        self.tell_approval(&approval);
        Ok(approval)
    }

    /// Returns once the call may run.
    pub(crate) async fn approve(
        &self,
        caller: &Caller,
        entry: &Entry,
        intent: &CallIntent,
        arguments: &Arguments,
    ) -> Result<(), CallError> {
        if !self.must_ask(entry) {
            return Ok(());
        }
        let method = || entry.info().name.clone();
        let failed = |source| CallError::unrecorded(&entry.info().name, source);
        let denied = || CallError::Denied { method: method() };
        let approvals = self.store().approvals();
        let rule = approvals.rule(&caller.session, &entry.full_name).await;
        match rule.map_err(failed)? {
            Some(Rule::Always) => return Ok(()),
            Some(Rule::Never) => return Err(denied()),
            None => {}
        }

        let ask = Ask {
            journal: intent.journal,
            sequence: intent.sequence,
            session: caller.session.clone(),
            user: caller.principal.user().into_owned(),
            method: entry.full_name.clone(),
            arguments: view(&written::labelled(arguments), Purpose::Read).unwrap_or_default(),
        };
        let until = Instant::now() + self.policy().approval_wait;
        let mut answers = self.answers().subscribe();
        let mut approval = approvals.ask(&ask).await.map_err(failed)?;
        if approval.state == ApprovalState::Pending {
            self.tell_approval(&approval);
        }
        if !same(&approval.ask, &ask) {
            return Err(CallError::ApprovalElsewhere {
                method: method(),
                id: approval.id,
            });
        }
        loop {
            match approval.state {
                ApprovalState::Allowed => return Ok(()),
                ApprovalState::Denied | ApprovalState::Withdrawn => return Err(denied()),
                ApprovalState::Pending => {}
            }
            let answered = timeout_at(until, answers.changed()).await;
            // Also after the wait has ended: an answer may have come in its last moment.
            approval = approvals.get(approval.id).await.map_err(failed)?;
            if answered.is_err() && approval.state == ApprovalState::Pending {
                return Err(CallError::ApprovalPending {
                    method: method(),
                    id: approval.id,
                });
            }
        }
    }
}

/// Is it the same method with the same arguments? Both sides are compared as they read back, since
/// a float may lose its last bit in text.
fn same(stored: &Ask, ask: &Ask) -> bool {
    let read_back = serde_json::from_str(&ask.arguments.to_string());
    stored.method == ask.method && read_back.is_ok_and(|ask: Json| ask == stored.arguments)
}
