//! Methods of a replay: they look like those of the session and do nothing. What was recorded is
//! answered before they are reached, so a call that comes here is one too many.

use std::sync::Arc;

use callgate_contract::{
    BoxFuture, CallContext, DeliveryError, Method, MethodError, MethodInfo, Model, ModelError,
    ModelRequest, ModelStream, Outbox, Piece, Receipt, Reply, Value,
};
use callgate_gate::Gate;

use super::{CapsuleError, format::MethodRecord};
use crate::host;

struct Proxy(MethodInfo);

impl Method for Proxy {
    fn info(&self) -> &MethodInfo {
        &self.0
    }

    fn call<'a>(
        &'a self,
        _context: CallContext<'a>,
        _arguments: Vec<(String, Value)>,
    ) -> BoxFuture<'a, Result<Reply, MethodError>> {
        let refusal = MethodError::new("this call is not in the record, so it has no result");
        Box::pin(std::future::ready(Err(refusal)))
    }
}

pub(super) fn register(gate: &Gate, methods: &[MethodRecord]) -> Result<(), CapsuleError> {
    // Capsules of earlier versions list tools of one loop among the methods.
    for method in methods
        .iter()
        .filter(|method| !host::is_loop(&method.origin))
    {
        if let Some(info) = method.info() {
            gate.register(Arc::new(Proxy(info)))?;
        }
    }
    Ok(())
}

/// Nobody is asked anything in a replay.
pub(super) struct NoModel;

impl Model for NoModel {
    fn stream(&self, _request: ModelRequest) -> BoxFuture<'_, Result<ModelStream, ModelError>> {
        let message = "the record has no reply for this round".to_owned();
        Box::pin(std::future::ready(Err(ModelError::Exhausted { message })))
    }
}

/// Nothing leaves a replay.
pub(super) struct Nowhere;

impl Outbox for Nowhere {
    fn deliver<'a>(&'a self, _: Piece<'a>) -> BoxFuture<'a, Result<Receipt, DeliveryError>> {
        Box::pin(std::future::ready(Ok(Receipt::default())))
    }
}
