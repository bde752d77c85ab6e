//! `/function_call`: a client calls a method of ours, or a function of another client, and gets
//! exactly one answer: `{requestId, success, result}` or `{requestId, success, error: {message}}`.

use std::{future::poll_fn, sync::Arc, task::Poll, time::Duration};

use callgate_contract::{
    Arguments, BoxFuture, Budget, Caller, Grant, JournalId, Onlooker, Origin, Surface,
    json as value_json,
};
use callgate_gate::{CallError, CallRequest};
use serde_json::{Value as Json, json};
use tokio::sync::Notify;

use super::{
    Answer, Call, Namespace, Peer, Remote, clients, forward,
    in_flight::InFlightCalls,
    offers, progress,
    record::{self, GateCall},
};
use crate::Capability;

pub(super) const NAMESPACE: &str = "/function_call";
pub(super) const EVENT: &str = "FUNCTION_CALL";
/// Beyond every method's own deadline, so that no call waits for ever.
const LIMIT: Duration = Duration::from_secs(3600);
/// Messages that one call may send.
const MESSAGES: u64 = 100;

pub(super) fn namespace() -> Namespace {
    let calls = Arc::new(InFlightCalls::default());
    Namespace::new(NAMESPACE)
        .on(EVENT, move |call| function_call(calls.clone(), call))
        .on("REGISTER_FUNCTIONS", offers::register)
        // Heard when it arrived; see `Peer::progressed`.
        .on(progress::EVENT, async |_| ())
        .on_joined(clients::moved)
        .on_left(async |remote, peer| {
            offers::withdraw(remote.clone(), peer.clone()).await;
            clients::moved(remote, peer).await;
        })
        .refuses_with(|request, message| failure(request.unwrap_or(&Json::Null), message))
        .within(LIMIT)
}

/// What a client asks for.
pub(super) struct Request {
    pub(super) id: Json,
    pub(super) function: String,
    pub(super) arguments: Vec<Json>,
    pub(super) target: String,
    /// Asked for again under its id it is not made again, but answered from the record. Compat(newage): a
    /// client that does not say so may use one constant id for all its calls, and each of them is made.
    pub(super) once: bool,
    /// The client wants to hear how far its call has come.
    looks_on: bool,
}

impl Request {
    fn read(data: &Json) -> Result<Self, &'static str> {
        let text = |field: &str| data.get(field).and_then(Json::as_str).map(str::to_owned);
        let says = |field: &str| data.get(field) == Some(&Json::Bool(true));
        if !data.is_object() {
            return Err("A call is an object with requestId, functionName, args and target.");
        }
        let id = data.get("requestId").cloned().unwrap_or_default();
        let once = says("once");
        if once && id.is_null() {
            return Err("A call that is to be made once needs a requestId.");
        }
        Ok(Request {
            id,
            once,
            function: text("functionName").ok_or("functionName is missing or no text.")?,
            arguments: match data.get("args") {
                None | Some(Json::Null) => Vec::new(),
                Some(Json::Array(arguments)) => arguments.clone(),
                // Compat(newage): documented clients pass one object bare.
                Some(argument @ Json::Object(_)) => vec![argument.clone()],
                Some(_) => return Err("args is an array, or one object."),
            },
            target: text("target").ok_or("target is missing: 'server' or the id of a client.")?,
            looks_on: says("progress"),
        })
    }

    fn onlooker(&self, peer: &Peer) -> Onlooker {
        if self.looks_on {
            progress::of_call(peer, &self.id)
        } else {
            Onlooker::default()
        }
    }

    /// What tells this call from all others that are being made, if it is to be made once.
    fn identity(&self, peer: &Peer) -> Option<String> {
        let call = json!([
            peer.user(),
            peer.client(),
            self.id,
            self.target,
            self.function,
            self.arguments
        ]);
        self.once.then(|| call.to_string())
    }
}

async fn function_call(calls: Arc<InFlightCalls>, call: Call) -> Answer {
    if !call.wants_answer {
        tracing::info!(
            client = call.peer.client(),
            "ignored a function call without a callback"
        );
        return Answer::Silent;
    }
    let request = match Request::read(call.first()) {
        Ok(request) => request,
        Err(message) => {
            let id = call.first().get("requestId").cloned().unwrap_or_default();
            return Answer::Ack(failure(&id, message));
        }
    };
    let (quotas, standing) = (call.remote.quotas(), call.peer.standing());
    if let Err(refused) = quotas.charge(standing.key.as_deref(), &request.arguments) {
        return Answer::Ack(failure(&request.id, &refused.to_string()));
    }
    if request.target == "server" {
        here(&calls, call, request).await
    } else {
        elsewhere(&calls, call, request).await
    }
}

/// One of our methods.
async fn here(calls: &InFlightCalls, call: Call, request: Request) -> Answer {
    let Call { remote, peer, .. } = call;
    let caller = caller(&peer, JournalId::NONE);
    if remote.is_loading() && remote.gate().find_for(&caller, &request.function).is_none() {
        remote.settled().await;
    }
    if remote.gate().is_passing(&caller, &request.function) {
        return Answer::Ack(passing(&remote, &caller, &peer, request).await);
    }
    let ours = remote
        .gate()
        .find_for(&caller, &request.function)
        .is_some_and(|method| method.info().origin == Origin::Builtin);
    let making = joined(calls, request.identity(&peer), async move {
        let call = GateCall {
            method: &request.function,
            arguments: request.arguments.clone(),
            onlooker: request.onlooker(&peer),
        };
        let made = record::call(&remote, &peer, &request, call).await;
        shaped(&request.id, &request.function, made)
    });
    if ours {
        // In order with what the client sends before and after.
        Answer::Ack(making.await)
    } else {
        begun(making).await
    }
}

/// The answer of `make`, or of the same call that is being made already.
fn joined(
    calls: &InFlightCalls,
    identity: Option<String>,
    make: impl Future<Output = Json> + Send + 'static,
) -> BoxFuture<'static, Json> {
    match identity {
        Some(identity) => Box::pin(calls.join(identity, Box::pin(make))),
        None => Box::pin(make),
    }
}

/// A call that changes nothing needs no record and may be made as often as anybody likes.
async fn passing(remote: &Remote, caller: &Caller, peer: &Peer, request: Request) -> Json {
    let progress = request.onlooker(peer);
    let arguments = match arguments(request.arguments) {
        Ok(arguments) => arguments,
        Err(message) => return failure(&request.id, &message),
    };
    let call = CallRequest {
        progress,
        ..CallRequest::new(1, &request.function, arguments)
    };
    let made = remote.gate().dispatch(caller, call).await;
    let made = made.map(|outcome| value_json::to_json(&outcome.value));
    shaped(&request.id, &request.function, made)
}

pub(super) fn caller(peer: &Peer, journal: JournalId) -> Caller {
    let standing = peer.standing();
    Caller {
        session: peer.session().clone(),
        principal: peer.principal(),
        role: standing.role(),
        surface: Surface::Remote,
        journal,
        depth: 0,
        grant: Arc::new(Grant {
            methods: standing.capabilities.methods().clone(),
            budget: Budget::new(1, MESSAGES),
            ..Grant::everything()
        }),
    }
}

pub(super) fn arguments(arguments: Vec<Json>) -> Result<Arguments, String> {
    let positional = arguments.into_iter().map(value_json::from_json);
    let positional = positional.collect::<Result<_, _>>();
    Ok(Arguments {
        positional: positional.map_err(|error| format!("args: {error}"))?,
        named: Vec::new(),
    })
}

fn shaped(id: &Json, function: &str, made: Result<Json, CallError>) -> Json {
    match made {
        Ok(result) => success(id, result),
        Err(error) => failure(id, &told(function, &error)),
    }
}

/// A failure in words for somebody elsewhere: what is ours alone stays here.
fn told(function: &str, error: &CallError) -> String {
    let function: String = function.chars().take(128).collect();
    match error {
        CallError::Unknown { .. } | CallError::NotExposed { .. } => {
            format!("Function \"{function}\" not found.")
        }
        CallError::NotGranted { .. } => format!(
            "Function \"{function}\" needs a key that may call it, or the operator's approval of \
             this client."
        ),
        CallError::Panicked { method, message } => {
            tracing::warn!(method, message, "method panicked");
            format!("Function \"{function}\" failed.")
        }
        CallError::Store { method, source } => {
            tracing::warn!(method, %source, "could not record a call");
            "The server cannot record the call now.".to_owned()
        }
        error => match error.to_string().trim() {
            "" => format!("Function \"{function}\" failed without a message."),
            message => message.to_owned(),
        },
    }
}

/// A function of another client, which is a call of our method that reaches it. The next event begins
/// when this one was put to the client, so that calls arrive in the order in which they were made.
async fn elsewhere(calls: &InFlightCalls, call: Call, request: Request) -> Answer {
    let standing = call.peer.standing();
    if !standing.may(Capability::Methods) {
        let reason = standing.refusal(call.peer.client(), Capability::Methods);
        return Answer::Ack(failure(&request.id, &reason));
    }
    let put = Arc::new(Notify::new());
    let onlooker = {
        let (put, onlooker) = (put.clone(), request.onlooker(&call.peer));
        Onlooker::new(move |progress| {
            if progress == forward::PUT {
                put.notify_one();
            } else {
                onlooker.tell(progress);
            }
        })
    };
    let mut making = joined(calls, request.identity(&call.peer), async move {
        let forwarded = GateCall {
            method: forward::METHOD,
            arguments: vec![call.first().clone()],
            onlooker,
        };
        let made = record::call(&call.remote, &call.peer, &request, forwarded).await;
        shaped(&request.id, forward::METHOD, made)
    });
    tokio::select! {
        biased;
        answer = &mut making => Answer::Ack(answer),
        () = put.notified() => Answer::Later(making),
    }
}

/// `answer`, begun before the events behind it, so that calls arrive in the order in which they were
/// made, and finished beside them.
async fn begun(mut answer: BoxFuture<'static, Json>) -> Answer {
    let begin = poll_fn(|context| Poll::Ready(answer.as_mut().poll(context)));
    match begin.await {
        Poll::Ready(answer) => Answer::Ack(answer),
        Poll::Pending => Answer::Later(answer),
    }
}

fn success(id: &Json, result: Json) -> Json {
    json!({ "requestId": id, "success": true, "result": result })
}

pub(super) fn failure(id: &Json, message: &str) -> Json {
    json!({ "requestId": id, "success": false, "error": { "message": message } })
}
