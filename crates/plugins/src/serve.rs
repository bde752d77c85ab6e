//! Requests of workers: each becomes a call through the gate, in the name behind its token.
//! Only effectful ones are recorded and paid for: the plugin's own call, which is on record, stands for the
//! rest.

use std::{
    borrow::Cow,
    sync::{Arc, Weak},
    time::Duration,
};

use callgate_contract::{Arguments, Caller, MethodError, Origin, Peer, PeerMessage, Value};
use callgate_gate::{CallError, CallRequest, Gate, PluginCallContext};
use tracing::Instrument;

use crate::{
    Worker,
    failure::{Failure, told},
    frame::Frame,
    identity::Identities,
    link::{Answer, AskError, Link, RequestHandler, WorkerRequest},
};

/// How long a worker's whole event loop may stand still for one call, unless the method itself is
/// known to take longer.
const BLOCKING: Duration = Duration::from_secs(2);

/// Answers requests that come on `main`.
pub(crate) fn main(gate: Gate, identities: Arc<Identities>) -> RequestHandler {
    Arc::new(move |link, asked| {
        let (gate, identities) = (gate.clone(), identities.clone());
        Box::pin(async move {
            let id = asked.id;
            let answer = call(&gate, &identities, &link, asked, false).await;
            reply(&link, id, answer);
        })
    })
}

/// Answers requests that come on `lane`, whose asker blocks. While the operator is asked, or an
/// installer is at work, nobody minds that `worker` stands still.
pub(crate) fn lane(
    gate: Gate,
    identities: Arc<Identities>,
    worker: Weak<Worker>,
) -> RequestHandler {
    Arc::new(move |link, asked| {
        let (gate, identities) = (gate.clone(), identities.clone());
        let worker = worker.upgrade();
        Box::pin(async move {
            let id = asked.id;
            let name = asked.name.clone();
            let limit = gate.find(&name).map_or(BLOCKING, |method| {
                if method.info().leaf {
                    method.info().deadline
                } else {
                    BLOCKING
                }
            });
            let patient = worker.filter(|_| limit > BLOCKING);
            let _patient = patient.and_then(|worker| worker.patient());
            let answer = call(&gate, &identities, &link, asked, true);
            let answer = match tokio::time::timeout(limit, answer).await {
                Ok(answer) => answer,
                Err(_) => Err(HostError {
                    kind: "TimeoutError",
                    message: format!("'{name}' was not done within {} s", limit.as_secs()),
                    hint: None,
                }),
            };
            reply(&link, id, answer);
        })
    })
}

/// Parameters of these names are never left to the asker: which worker asks is told by its channel,
/// and for which plugin, by the worker.
const WORKER: &str = "worker";
const ASKER: &str = "asker";

/// Fills in who asks, where a method of the host wants to know.
fn identify(gate: &Gate, asked: &mut WorkerRequest, worker: &str) {
    let Some(method) = gate.find(&asked.name) else {
        return;
    };
    let properties = method.info().parameters.get("properties");
    if method.info().origin != Origin::Builtin {
        return;
    }
    for (name, told) in [(WORKER, worker), (ASKER, asked.plugin.as_str())] {
        if properties.is_some_and(|properties| properties.get(name).is_some()) {
            asked.arguments.retain(|(given, _)| given != name);
            let told = (name.to_owned(), Value::Str(told.to_owned()));
            asked.arguments.push(told);
        }
    }
}

struct HostError {
    kind: &'static str,
    message: String,
    hint: Option<&'static str>,
}

fn reply(link: &Link, id: u64, answer: Result<Value, HostError>) {
    let answer = answer.and_then(|value| match opaque(&value) {
        None => Ok(value),
        Some(class) => Err(HostError {
            kind: "CannotPass",
            message: format!("the result holds a '{class}', which only the sandbox can open"),
            hint: None,
        }),
    });
    let frame = match answer {
        Ok(value) => Frame::Result { id, value },
        Err(refused) => Frame::Error {
            id,
            error: told(refused.kind, &refused.message, refused.hint),
        },
    };
    if let Err(error) = link.send(frame) {
        let error = told("CannotPass", &error.at("result").to_string(), None);
        let _ = link.send(Frame::Error { id, error });
    }
}

async fn call(
    gate: &Gate,
    identities: &Identities,
    link: &Arc<Link>,
    mut asked: WorkerRequest,
    blocking: bool,
) -> Result<Value, HostError> {
    let acting = identities.resolve(asked.token.as_deref(), &asked.plugin);
    identify(gate, &mut asked, identities.worker());
    let arguments = Arguments::by_name(asked.arguments);
    let request = CallRequest {
        // What is done for a call that the plugin serves counts for that call.
        progress: acting.progress.clone(),
        ..CallRequest::new(acting.next(), &asked.name, arguments)
    };
    let peer = peer(link.clone(), asked.id, asked.token.clone(), asked.credit);
    let way = PluginCallContext {
        peer: &peer,
        blocking,
    };
    let caller = answerable(&acting.caller, &asked.plugin, identities.worker());
    let outcome = gate
        .dispatch_from_plugin(&caller, request, way)
        .instrument(acting.span.clone());
    outcome
        .await
        .map(|outcome| outcome.value)
        .map_err(|error| HostError {
            kind: kind(&error),
            hint: match error {
                CallError::NotLeaf { .. } => Some("use `await host.call(...)`"),
                _ => None,
            },
            message: error.to_string(),
        })
}

/// What plugin code spends outside of its methods is the plugin's to answer for.
fn answerable<'a>(caller: &'a Caller, plugin: &str, worker: &str) -> Cow<'a, Caller> {
    if caller.grant.budget.payer().origin.is_some() {
        return Cow::Borrowed(caller);
    }
    let plugin = match plugin {
        "" => worker,
        plugin => plugin,
    };
    Cow::Owned(caller.within(Origin::Plugin(plugin.to_owned()).to_string(), None))
}

/// The way back to the code that waits for this request.
fn peer(
    link: Arc<Link>,
    id: u64,
    token: Option<Vec<u8>>,
    credit: Arc<tokio::sync::Semaphore>,
) -> Peer {
    Peer::new(move |said| {
        let (link, token, credit) = (link.clone(), token.clone(), credit.clone());
        Box::pin(async move {
            let gone = |_| MethodError::new("the plugin's worker has ended");
            match said {
                PeerMessage::Item(value) => {
                    credit.acquire().await.map_err(|_| gone(()))?.forget();
                    let sent = link.send(Frame::Item { id, value });
                    sent.map_err(|error| MethodError::new(error.at("item").to_string()))?;
                    match link.closed() {
                        Some(_) => Err(gone(())),
                        None => Ok(Value::Null),
                    }
                }
                PeerMessage::Step { name, arguments } => match link
                    .ask(token, &name, arguments)
                    .await
                {
                    Ok(Answer::Value(value) | Answer::Item(value)) => Ok(value),
                    Ok(Answer::Raised(failure)) => Err(raised(failure)),
                    Err(AskError::Unpassable(error)) => Err(MethodError::new(error.to_string())),
                    Err(AskError::Closed) => Err(gone(())),
                },
            }
        })
    })
}

fn raised(failure: Failure) -> MethodError {
    MethodError::new(failure.to_string()).with_detail(failure.traceback)
}

/// What the plugin can tell apart.
fn kind(error: &CallError) -> &'static str {
    match error {
        CallError::Unknown { .. } => "UnknownMethod",
        CallError::NotLeaf { .. } => "NotLeaf",
        CallError::NotExposed { .. } | CallError::NotGranted { .. } | CallError::Denied { .. } => {
            "PermissionError"
        }
        CallError::BadArguments { .. } => "TypeError",
        CallError::Budget { .. } | CallError::Expired { .. } => "BudgetSpent",
        CallError::Deadline { .. } => "TimeoutError",
        CallError::Cancelled { .. } => "CancelledError",
        _ => "MethodError",
    }
}

/// The class of an object in `value` that only the sandbox may open.
fn opaque(value: &Value) -> Option<&str> {
    match value {
        Value::Opaque { class, .. } => Some(class),
        Value::List(items) | Value::Tuple(items) | Value::Set(items) | Value::FrozenSet(items) => {
            items.iter().find_map(opaque)
        }
        Value::Dict(entries) => entries
            .iter()
            .find_map(|(key, value)| opaque(key).or_else(|| opaque(value))),
        Value::Record { fields, .. } => fields.iter().find_map(|(_, value)| opaque(value)),
        _ => None,
    }
}
