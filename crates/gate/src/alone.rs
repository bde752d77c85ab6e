//! Calls that belong to no run and no turn, as they come over HTTP, MCP, Socket.IO and the command
//! line: each has a journal to itself, begun before it is made and closed when it has ended.

use callgate_contract::{Arguments, Caller, Onlooker, Stop};
use callgate_store::{RunStart, StoreError};
use serde_json::{Value as Json, json};

use crate::{CallError, CallRequest, Gate, Outcome};

/// The place of the only call of its journal.
const SEQUENCE: u64 = 1;

impl Gate {
    /// Calls `name` under `caller.journal`. One that was begun before, and cut off or left waiting for
    /// an approval, goes on. To be polled to its end: cancelling the caller's budget ends it early,
    /// and the record says so.
    pub async fn call_alone(
        &self,
        caller: &Caller,
        name: &str,
        arguments: Arguments,
        progress: Onlooker,
    ) -> Result<Result<Outcome, CallError>, StoreError> {
        let journal = self.store().journal();
        match journal.begin(&start(caller)).await {
            Err(StoreError::AlreadyBegun(_)) => journal.reopen(caller.journal).await?,
            begun => begun?,
        }
        let request = CallRequest {
            progress,
            ..CallRequest::new(SEQUENCE, name, arguments)
        };
        let made = self.dispatch(caller, request).await;
        let (stop, report) = ended(&made);
        journal.finish(caller.journal, stop, &report).await?;
        Ok(made)
    }
}

fn start(caller: &Caller) -> RunStart {
    RunStart {
        id: caller.journal,
        session: caller.session.clone(),
        principal: caller.principal.clone(),
        role: caller.role,
        surface: caller.surface,
        code: None,
        allowed: caller.grant.methods.clone(),
        // Nothing random happens in a single call.
        seed: [0; 16],
        turn: None,
    }
}

fn ended(made: &Result<Outcome, CallError>) -> (Stop, Json) {
    let stop = match made {
        Ok(outcome) => return (Stop::Finished, json!({ "kind": outcome.kind })),
        Err(CallError::ApprovalPending { .. }) => Stop::Approval,
        Err(CallError::Cancelled { .. }) => Stop::Cancelled,
        Err(_) => Stop::Error,
    };
    let error = made.as_ref().err().map(ToString::to_string);
    (stop, json!({ "error": error }))
}
