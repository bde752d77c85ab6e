//! `call_client`: a function of another client, called through the gate like everything else: by those
//! whose key allows it, on record, within a time limit. The other side gets the caller's words as they
//! were written.

use std::{pin::pin, sync::Weak, task::Poll, time::Duration};

use callgate_contract::{
    Binding, BoxFuture, CallContext, Caller, Effect, Exposure, Kind, Method, MethodError,
    MethodInfo, Origin, Progress, Reply, Trust, Value, json as value_json,
};
use futures_util::{StreamExt, poll, stream::FuturesUnordered};
use serde_json::{Value as Json, json};

use super::{
    AnswerError, Peer, Remote, RemoteInner,
    function_call::{EVENT, NAMESPACE},
};
use crate::Capability;

pub(super) const METHOD: &str = "call_client";

/// Beside what the client may take itself, whose own silence says more.
const MOMENT: Duration = Duration::from_secs(1);

/// Told when the call was put to the other client. As progress it would say nothing.
pub(super) const PUT: Progress = Progress {
    done: 0.0,
    total: None,
    text: String::new(),
};

pub(super) struct CallClient {
    info: MethodInfo,
    within: Duration,
    /// Weak: the gate, which holds this method, is part of it.
    remote: Weak<RemoteInner>,
}

impl CallClient {
    pub(super) fn new(remote: Weak<RemoteInner>, within: Duration) -> Self {
        let description = "Call a function of another connected client.".to_owned();
        CallClient {
            info: MethodInfo {
                name: METHOD.to_owned(),
                title: METHOD.to_owned(),
                aliases: Vec::new(),
                doc: description.clone(),
                description,
                parameters: json!({
                    "type": "object",
                    "properties": { "data": { "type": "object" } },
                    "required": ["data"],
                }),
                returns: "Any".to_owned(),
                kind: Kind::Tool,
                origin: Origin::Builtin,
                exposure: Exposure {
                    code: false,
                    tool_calls: false,
                    remote: true,
                    plugins: false,
                },
                effect: Effect::Effectful,
                deadline: within + MOMENT,
                binding: Binding::Strict,
                leaf: false,
                trust: Trust::default(),
            },
            within,
            remote,
        }
    }
}

impl Method for CallClient {
    fn info(&self) -> &MethodInfo {
        &self.info
    }

    /// Over Socket.IO, where clients are.
    fn serves(&self, caller: &Caller) -> bool {
        caller.session.platform() == "remote"
    }

    fn call<'a>(
        &'a self,
        context: CallContext<'a>,
        arguments: Vec<(String, Value)>,
    ) -> BoxFuture<'a, Result<Reply, MethodError>> {
        Box::pin(async move {
            let gone = || MethodError::new("The server is stopping.");
            let remote = Remote(self.remote.upgrade().ok_or_else(gone)?);
            let data = arguments.first().map(|(_, data)| value_json::to_json(data));
            let data = data.unwrap_or_default();
            let target = data["target"].as_str().unwrap_or_default();
            let sockets = callable(&remote, target);
            if sockets.is_empty() {
                let short: String = target.chars().take(128).collect();
                return Err(MethodError::new(format!(
                    "Target client not found: {short}"
                )));
            }
            let pending = &remote.offers().asking;
            let _progress = pending.listen(&data["requestId"], &sockets, context.progress);
            // The original data: the other side compares the target with its own id.
            let mut asking = pin!(first_answer(sockets, &data, self.within));
            let asked = poll!(&mut asking);
            context.progress.tell(PUT);
            let answer = match asked {
                Poll::Ready(answer) => answer,
                Poll::Pending => asking.await,
            };
            match answer {
                Ok(answer) => read(answer),
                Err(error) => Err(MethodError::new(format!("{} ({target})", capital(error)))),
            }
        })
    }
}

/// The sockets that answer for `target`, a client's id or, where no client of that id is here, the
/// identity of an instance: both are names that belong to whoever bears them.
fn callable(remote: &Remote, target: &str) -> Vec<Peer> {
    let bearing = remote.roster().bearing(NAMESPACE, target).into_iter();
    let bearing = bearing.filter(|peer| peer.standing().may(Capability::Methods));
    let (clients, instances): (Vec<Peer>, Vec<Peer>) =
        bearing.partition(|peer| peer.client() == target);
    if clients.is_empty() {
        instances
    } else {
        clients
    }
}

/// Asks every socket; the first that answers speaks for all.
pub(super) async fn first_answer(
    sockets: Vec<Peer>,
    data: &Json,
    within: Duration,
) -> Result<Json, AnswerError> {
    let data = std::slice::from_ref(data);
    let asks = sockets.iter().map(|peer| peer.ask(EVENT, data, within));
    let mut asks: FuturesUnordered<_> = asks.collect();
    let mut reason = AnswerError::Gone;
    while let Some(answer) = asks.next().await {
        match answer {
            Ok(answer) => return Ok(answer),
            Err(AnswerError::Late) => reason = AnswerError::Late,
            Err(AnswerError::Gone) => {}
        }
    }
    Err(reason)
}

/// What the other client answered: its result, or the whole where it does not say `success`.
fn read(mut answer: Json) -> Result<Reply, MethodError> {
    let result = match answer.get("success").and_then(Json::as_bool) {
        Some(true) => answer["result"].take(),
        Some(false) => {
            let error = answer.get("error").unwrap_or(&Json::Null);
            let message = error.get("message").unwrap_or(error).as_str();
            let message = message.unwrap_or("The client reported a failure.");
            return Err(MethodError::new(message));
        }
        None => answer,
    };
    let value = value_json::from_json(result);
    let value = value.map_err(|error| MethodError::new(format!("the client returned {error}")))?;
    Ok(value.into())
}

fn capital(error: AnswerError) -> &'static str {
    match error {
        AnswerError::Gone => "The target client is gone",
        AnswerError::Late => "The target client did not answer in time",
    }
}
