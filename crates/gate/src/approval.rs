//! Waiting for the operator, or for the person in whose name a call is made. The store remembers what was asked and answered; this only waits,
//! and refuses an answer that was given for another call.

use callgate_contract::{Arguments, Caller, Permission};
use callgate_store::{
    Approval, ApprovalState, Approver, Ask, CallIntent, DecidedBy, Decision, Question, Standing,
    StoreError,
};
use serde_json::Value as Json;
use tokio::time::{Instant, timeout_at};

use crate::{
    CallError, Gate,
    registry::Entry,
    values::strange_values,
    view::{Purpose, view},
    written,
};

impl Gate {
    /// Answers approval `id` and wakes the call that waits for it, if one still does. With
    /// `always` the answer also holds for later calls of the method by the same person in that session.
    pub async fn answer(
        &self,
        id: i64,
        decision: Decision,
        always: bool,
    ) -> Result<Approval, StoreError> {
        let standing = always.then(Standing::default);
        self.answer_as(None, id, decision, standing).await
    }

    /// The same, with whose word it is.
    pub async fn answer_as(
        &self,
        by: Option<&str>,
        id: i64,
        decision: Decision,
        standing: Option<Standing>,
    ) -> Result<Approval, StoreError> {
        let approvals = self.store().approvals();
        let approval = approvals.answer(id, decision, standing, by).await?;
        if standing.is_some() {
            self.read_rules().await?;
        }
        self.answers().send_modify(|count| *count += 1);
        self.tell_approval(&approval);
        Ok(approval)
    }

    /// Returns once the call may run; the intent says by whose word, also where it may not.
    pub(crate) async fn approve(
        &self,
        caller: &Caller,
        entry: &Entry,
        intent: &mut CallIntent,
        arguments: &Arguments,
    ) -> Result<(), CallError> {
        let policy = self.rulebook().policy();
        let rights = policy.of(caller);
        let method = || entry.info().name.clone();
        let failed = |source| CallError::unrecorded(&entry.info().name, source);
        let denied = || CallError::Denied { method: method() };
        let decided = rights.decided(entry, None);
        intent.decided_by = decided.by();
        let strange = strange_values(caller, entry, arguments);
        match (decided.permission, &strange) {
            (Permission::Allow, None) => return Ok(()),
            (Permission::Deny, _) => return Err(denied()),
            (Permission::Allow | Permission::Confirm | Permission::Ask, _) => {}
        }
        let arguments = view(&written::labelled(arguments), Purpose::Read).unwrap_or_default();
        let arguments = read_back(&arguments);
        let decided = rights.decided(entry, Some(&arguments));
        intent.decided_by = decided.by();
        let (approver, strange) = match (decided.permission, strange) {
            (Permission::Deny, _) => return Err(denied()),
            (Permission::Allow, None) => return Ok(()),
            (Permission::Allow, Some(strange)) => match rights.confirmed(entry, &arguments) {
                Some(Permission::Allow) => return Ok(()),
                Some(Permission::Deny) => return Err(denied()),
                Some(Permission::Confirm | Permission::Ask) | None => {
                    (Approver::Requester, Some(strange))
                }
            },
            (Permission::Confirm, strange) => (Approver::Requester, strange),
            // They see the value.
            (Permission::Ask, _) => (Approver::Operator, None),
        };

        let approvals = self.store().approvals();
        let ask = Ask {
            journal: intent.journal,
            sequence: intent.sequence,
            session: caller.session.clone(),
            principal: caller.principal.clone(),
            method: entry.full_name.clone(),
            schema: entry.schema().to_owned(),
            arguments,
            approver,
            reason: strange,
        };
        let confirmer = self.confirmer().filter(|it| it.is_put(caller, &ask));
        let question = confirmer.clone().map(|confirmer| -> Question {
            let (caller, ask) = (caller.clone(), ask.clone());
            Box::new(move |number| confirmer.question(&caller, &ask, number))
        });
        let until = Instant::now() + self.policy().approval_wait;
        let mut answers = self.answers().subscribe();
        let mut approval = approvals.ask(&ask, question).await.map_err(failed)?;
        if approval.state == ApprovalState::Pending {
            self.tell_approval(&approval);
            if let Some(confirmer) = confirmer {
                confirmer.deliver(&caller.session).await;
            }
        }
        if !same(&approval.ask, &ask) {
            return Err(CallError::ApprovalElsewhere {
                method: method(),
                id: approval.id,
            });
        }
        intent.decided_by = Some(DecidedBy::Approval(approval.id));
        loop {
            match approval.state {
                ApprovalState::Allowed => return Ok(()),
                ApprovalState::Denied if ask.approver == Approver::Requester => {
                    return Err(CallError::Unconfirmed { method: method() });
                }
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
                    approver: ask.approver,
                });
            }
        }
    }
}

/// As the store will give them: a float may lose its last bit in text.
fn read_back(arguments: &Json) -> Json {
    serde_json::from_str(&arguments.to_string()).unwrap_or_default()
}

/// Is it the same method with the same arguments?
fn same(stored: &Ask, ask: &Ask) -> bool {
    stored.method == ask.method && stored.arguments == ask.arguments
}
