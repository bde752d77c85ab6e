//! Direct calls: one method, called by the operator through the gate, with a journal of its own.

use std::sync::Arc;

use callgate_contract::{
    Arguments, Caller, Cancel, Grant, JournalId, Onlooker, Role, SessionKey, Surface,
    json as value_json,
};
use callgate_gate::CallError;
use callgate_store::{KeyHandle, RunStart};
use serde_json::Value as Json;

use super::Service;
use crate::{
    ErrorCode, Hint, Requester, ServiceError,
    operations::{CallMethod, CallResult, ContinuedReport},
};

impl Service {
    pub(crate) async fn call_method(
        &self,
        requester: &Requester,
        request: CallMethod,
    ) -> Result<CallResult, ServiceError> {
        let key = self.key_of(requester);
        let charged = self
            .remote
            .quotas()
            .charge(key.as_ref().map(KeyHandle::key), [&request.arguments]);
        charged.map_err(|refused| {
            ServiceError::new(ErrorCode::Busy, refused.to_string(), Hint::None)
        })?;
        let arguments = arguments(request.arguments)?;
        self.wait_for_methods(requester, Some(&request.name))
            .await?;
        let session = match request.session {
            Some(session) => session,
            None => requester.session()?,
        };
        let acting = requester.acting(&session, request.user.as_deref());
        let id = JournalId::fresh();
        let held = self.code.running.enter(id, Cancel::default());
        let surface = self.surface(&request.name, requester.role());
        let caller = self.caller(session, (acting, requester.role()), surface, id);
        let cancel = caller.grant.budget.cancel().clone();
        let _ends = key.map(|key| key.at_end(move || cancel.cancel()));
        let made = self.make(&caller, &request.name, arguments).await?;
        drop(held);
        self.deliver_to_chat(&caller.session);
        if matches!(made, Err(CallError::ApprovalPending { .. }))
            && let Some(continued) = self.continue_answered(id).await
            && let ContinuedReport::Call(result) = continued?
        {
            return Ok(result);
        }
        Ok(made?)
    }

    /// What a call has queued for a chat goes out now: no turn is under way there that would see to it.
    fn deliver_to_chat(&self, session: &SessionKey) {
        if self.platforms().of(session.platform()).is_some()
            && let Some(agent) = self.running_agent().cloned()
        {
            let session = session.clone();
            // A task: whoever calls does not wait for the platform.
            tokio::spawn(async move { agent.deliver(&session).await });
        }
    }

    /// At the terminal nothing else goes on: what is still on its way is waited for, unless the method
    /// that is asked for is there already. A server does not keep callers waiting.
    pub(crate) async fn wait_for_methods(
        &self,
        requester: &Requester,
        method: Option<&str>,
    ) -> Result<(), ServiceError> {
        if let Requester::Terminal = requester {
            self.with_plugins().await;
            self.with_servers(method).await;
        }
        self.offer_personas().await
    }

    /// The operator may call whatever an AI may, from the side that the method is open to.
    fn surface(&self, method: &str, role: Role) -> Surface {
        let sides = [Surface::Remote, Surface::Code, Surface::ToolCall];
        let open = self.gate.find(method).map(|method| method.info().exposure);
        match (role, open) {
            (Role::Operator, Some(open)) => {
                let mut sides = sides.into_iter();
                sides
                    .find(|side| open.admits(*side))
                    .unwrap_or(Surface::Remote)
            }
            _ => Surface::Remote,
        }
    }

    /// Makes a call that waited for its approval, with the arguments that were approved.
    pub(super) async fn call_again(&self, start: RunStart) -> Result<CallResult, ServiceError> {
        let approvals = self.store.approvals().list(None).await?;
        let asked = approvals.into_iter().find(|it| it.ask.journal == start.id);
        let Some(asked) = asked else {
            return Err(ServiceError::refused(
                format!("nothing was asked for {}", start.id.0),
                "make the call anew",
            ));
        };
        let arguments = arguments(asked.ask.arguments)?;
        let acting = (start.principal, start.role);
        let mut caller = self.caller(start.session, acting, start.surface, start.id);
        caller.grant = Arc::new(Grant {
            methods: start.allowed,
            ..Grant::everything()
        });
        Ok(self.make(&caller, &asked.ask.method, arguments).await??)
    }

    async fn make(
        &self,
        caller: &Caller,
        method: &str,
        arguments: Arguments,
    ) -> Result<Result<CallResult, CallError>, ServiceError> {
        let made = self
            .gate
            .call_alone(caller, method, arguments, Onlooker::default());
        Ok(made.await?.map(|outcome| CallResult {
            value: value_json::to_json(&outcome.value),
            kind: outcome.kind,
        }))
    }
}

/// Left out, there are none.
fn arguments(json: Json) -> Result<Arguments, ServiceError> {
    let read = |json: Json| {
        value_json::from_json(json).map_err(|error| {
            ServiceError::invalid(
                format!("the arguments hold {error}"),
                "docs: {\"$type\", \"value\"} stands for what JSON cannot say",
            )
        })
    };
    match json {
        Json::Null => Ok(Arguments::default()),
        Json::Array(items) => Ok(Arguments {
            positional: items.into_iter().map(read).collect::<Result<_, _>>()?,
            named: Vec::new(),
        }),
        Json::Object(fields) => {
            let fields = fields.into_iter();
            let named = fields.map(|(name, value)| Ok((name, read(value)?)));
            Ok(Arguments {
                positional: Vec::new(),
                named: named.collect::<Result<_, ServiceError>>()?,
            })
        }
        other => Err(ServiceError::invalid(
            format!("the arguments are {other}, which is neither an object nor a list"),
            Hint::Arguments,
        )),
    }
}
