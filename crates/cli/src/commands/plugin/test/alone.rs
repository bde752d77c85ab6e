//! Only the tested plugin's methods are seen by models and code: what the product itself offers is
//! hidden from them.

use std::sync::Arc;

use callgate_contract::{
    BoxFuture, CallContext, Caller, Grant, JournalId, Method, MethodError, MethodInfo, Principal,
    Reply, Role, SessionKey, SessionType, Surface, Value,
};
use callgate_gate::Gate;

/// Takes away what is in the gate by now from the AI's callers.
pub fn hide_others(gate: &Gate) {
    let Ok(session) = SessionKey::new("test", SessionType::FriendMessage, "nobody") else {
        return;
    };
    for surface in [Surface::Code, Surface::ToolCall] {
        let caller = Caller {
            session: session.clone(),
            principal: Principal::System,
            role: Role::Operator,
            surface,
            journal: JournalId::fresh(),
            depth: 0,
            grant: Arc::new(Grant::everything()),
        };
        for method in gate.catalogue(&caller) {
            let mut info = method.info().clone();
            info.exposure.code = false;
            info.exposure.tool_calls = false;
            let hidden = Arc::new(HiddenMethod { info, method });
            // That a method is replaced is worth a warning, except here.
            let quiet = tracing::subscriber::NoSubscriber::default();
            let registered = tracing::subscriber::with_default(quiet, || gate.register(hidden));
            if let Err(error) = registered {
                tracing::warn!(%error, "could not hide a method");
            }
        }
    }
}

struct HiddenMethod {
    info: MethodInfo,
    method: Arc<dyn Method>,
}

impl Method for HiddenMethod {
    fn info(&self) -> &MethodInfo {
        &self.info
    }

    fn needs_approval(&self) -> bool {
        self.method.needs_approval()
    }

    fn call<'a>(
        &'a self,
        context: CallContext<'a>,
        arguments: Vec<(String, Value)>,
    ) -> BoxFuture<'a, Result<Reply, MethodError>> {
        self.method.call(context, arguments)
    }
}
