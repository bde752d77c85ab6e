//! Turns within calls: a plugin or a model asks, inside a running call, for a turn of its own. It
//! belongs to the turn above, is stopped with it, and comes to its recorded end in any case.

use std::sync::Arc;

use callgate_contract::{BoxFuture, Caller, Cancel, Grant, MethodError};

use crate::{Parent, TurnError};

impl Parent {
    /// Of a turn that `caller` asks for, with `grant` of what it holds.
    pub(crate) fn of(caller: &Caller, grant: Arc<Grant>) -> Self {
        let above = caller.grant.budget.payer().turn;
        Parent {
            turn: above.unwrap_or(caller.journal),
            depth: caller.depth,
            grant,
        }
    }
}

/// Stops with whatever `caller` is part of.
pub(crate) fn cancel_below(caller: &Caller) -> Cancel {
    caller.grant.budget.cancel().child_token()
}

/// Somebody who no longer waits has their turn stopped; the turn itself still comes to its recorded
/// end.
pub(crate) async fn to_the_end<T: Send + 'static>(
    cancel: Cancel,
    work: BoxFuture<'static, Result<T, TurnError>>,
) -> Result<T, MethodError> {
    let _waiting = cancel.drop_guard();
    match tokio::spawn(work).await {
        Ok(done) => Ok(done?),
        Err(error) => Err(MethodError::new(error.to_string())),
    }
}
