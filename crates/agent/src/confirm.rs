//! Questions of the gate that are put to a chat, in its language: to the person whose turn it is about values that
//! strangers may have chosen and where a rule says so, to whoever administers about the rest. A surface of ours
//! shows the latter by itself.

use callgate_contract::{BoxFuture, Caller, SessionKey};
use callgate_gate::Confirmer;
use callgate_store::{Approver, Ask, StoreError, TurnStart};

use crate::{Agent, TurnError, agent::WeakAgent, language::Language, texts};

impl Confirmer for WeakAgent {
    fn is_put(&self, caller: &Caller, ask: &Ask) -> bool {
        match ask.approver {
            Approver::Requester => true,
            // What is not of a turn was asked for elsewhere, and is answered there.
            Approver::Operator => caller.grant.taint.is_tracked() && !ask.session.is_ours(),
        }
    }

    fn question(&self, caller: &Caller, ask: &Ask, approval: i64) -> String {
        let said = caller.grant.taint.first_said().unwrap_or_default();
        texts::may_i(Language::of(&said), ask, approval)
    }

    fn deliver<'a>(&'a self, session: &'a SessionKey) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            if let Some(agent) = self.upgrade() {
                agent.deliver(session).await;
            }
        })
    }
}

impl Agent {
    /// Is it theirs to answer? A number that nobody knows is for the answer itself to refuse.
    pub(crate) async fn may_answer(
        &self,
        approval: i64,
        start: &TurnStart,
    ) -> Result<bool, TurnError> {
        if start.role.administers() {
            return Ok(true);
        }
        match self.store().approvals().get(approval).await {
            Ok(approval) => {
                let ask = approval.ask;
                Ok(ask.approver == Approver::Requester
                    && ask.principal == start.principal
                    && ask.session == start.session)
            }
            Err(StoreError::UnknownApproval(_)) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }
}
