//! [`Namespace`]: a name and what its events do, for those whose key is for it. Whatever a client sends and whatever a handler
//! does, an event that asks for an answer gets exactly one.

use std::{collections::HashMap, panic::AssertUnwindSafe, sync::Arc, thread, time::Duration};

use callgate_contract::BoxFuture;
use futures_util::FutureExt;
use serde_json::{Map, Value as Json, json};

use super::{Peer, Remote, Rights, access, newage_texts::UNAUTHORIZED};

/// For a handler to answer, unless the namespace says otherwise.
const LIMIT: Duration = Duration::from_secs(30);

/// An event, as a handler sees it. The callback is no argument: both `(cb)` and `({}, cb)` of a
/// client arrive here with the callback taken away.
pub struct Call {
    pub remote: Remote,
    pub peer: Peer,
    pub event: String,
    pub arguments: Vec<Json>,
    /// The client gave a callback.
    pub wants_answer: bool,
}

impl Call {
    /// The first argument; null where there is none.
    pub fn first(&self) -> &Json {
        self.arguments.first().unwrap_or(&Json::Null)
    }

    /// The text at `name` of the first argument.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.first().get(name)?.as_str()
    }

    /// The first argument if it is an object.
    pub fn fields(&self) -> Option<&Map<String, Json>> {
        self.first().as_object()
    }
}

/// What a handler says.
pub enum Answer {
    /// To the client's callback, if it gave one.
    Ack(Json),
    /// To the client's callback, in the namespace's shape of a failure.
    Refused(String),
    /// Will be said; the events behind this one do not wait for it.
    Later(BoxFuture<'static, Json>),
    Silent,
}

impl Answer {
    pub fn later(answer: impl Future<Output = Json> + Send + 'static) -> Self {
        Answer::Later(Box::pin(answer))
    }
}

impl From<Json> for Answer {
    fn from(answer: Json) -> Self {
        Answer::Ack(answer)
    }
}

impl From<()> for Answer {
    fn from((): ()) -> Self {
        Answer::Silent
    }
}

impl<T: Into<Answer>> From<Result<T, String>> for Answer {
    fn from(answer: Result<T, String>) -> Self {
        match answer {
            Ok(answer) => answer.into(),
            Err(message) => Answer::Refused(message),
        }
    }
}

type EventHandler = Arc<dyn Fn(Call) -> BoxFuture<'static, Answer> + Send + Sync>;
type Admit = Arc<dyn Fn(Remote, Peer) -> BoxFuture<'static, Result<(), String>> + Send + Sync>;
type Hook = Arc<dyn Fn(Remote, Peer) -> BoxFuture<'static, ()> + Send + Sync>;
/// Makes the ack of a failure out of the event's `requestId`, if it has one, and the reason.
type RefusalAck = fn(Option<&Json>, &str) -> Json;

/// An answer in its final shape; `None` says nothing.
pub enum EventAnswer {
    Now(Option<Json>),
    Later(BoxFuture<'static, Option<Json>>),
}

/// Built once, at start; see [`Namespace::new`].
pub struct Namespace {
    name: &'static str,
    handlers: HashMap<&'static str, EventHandler>,
    admit: Option<Admit>,
    joined: Option<Hook>,
    left: Option<Hook>,
    refusal: RefusalAck,
    limit: Duration,
}

impl Namespace {
    pub fn new(name: &'static str) -> Self {
        Namespace {
            name,
            handlers: HashMap::new(),
            admit: None,
            joined: None,
            left: None,
            refusal: |_, message| json!({ "status": "error", "message": message }),
            limit: LIMIT,
        }
    }

    pub fn on<F, Handling, A>(mut self, event: &'static str, handler: F) -> Self
    where
        F: Fn(Call) -> Handling + Send + Sync + 'static,
        Handling: Future<Output = A> + Send + 'static,
        A: Into<Answer>,
    {
        let handler = move |call| -> BoxFuture<'static, Answer> {
            let handling = handler(call);
            Box::pin(async move { handling.await.into() })
        };
        self.handlers.insert(event, Arc::new(handler));
        self
    }

    /// Decides who may connect, before the connect reply. `Err` is what the client is told.
    pub fn admits<F, Deciding>(mut self, admit: F) -> Self
    where
        F: Fn(Remote, Peer) -> Deciding + Send + Sync + 'static,
        Deciding: Future<Output = Result<(), String>> + Send + 'static,
    {
        self.admit = Some(Arc::new(move |remote, peer| Box::pin(admit(remote, peer))));
        self
    }

    /// After the connect reply and before the first event.
    pub fn on_joined<F, Running>(mut self, hook: F) -> Self
    where
        F: Fn(Remote, Peer) -> Running + Send + Sync + 'static,
        Running: Future<Output = ()> + Send + 'static,
    {
        self.joined = Some(Arc::new(move |remote, peer| Box::pin(hook(remote, peer))));
        self
    }

    /// After the last event. The roster has forgotten the peer by then.
    pub fn on_left<F, Running>(mut self, hook: F) -> Self
    where
        F: Fn(Remote, Peer) -> Running + Send + Sync + 'static,
        Running: Future<Output = ()> + Send + 'static,
    {
        self.left = Some(Arc::new(move |remote, peer| Box::pin(hook(remote, peer))));
        self
    }

    /// The shape of a failure's ack, where it is not `{status: 'error', message}`.
    pub fn refuses_with(mut self, refusal: RefusalAck) -> Self {
        self.refusal = refusal;
        self
    }

    /// How long a handler may take, an answer given later included.
    pub fn within(mut self, limit: Duration) -> Self {
        self.limit = limit;
        self
    }

    pub fn name(&self) -> &'static str {
        self.name
    }

    #[cfg(test)]
    pub(super) fn events(&self) -> impl Iterator<Item = &'static str> {
        self.handlers.keys().copied()
    }

    pub(super) async fn admit(&self, remote: &Remote, peer: &Peer) -> Result<(), String> {
        let standing = peer.standing();
        // Nobody listens where they may do nothing. Who waits for the operator's word may wait here.
        if standing.rights > Rights::Guest && !access::is_of_use(self.name, &standing) {
            return Err(format!(
                "{UNAUTHORIZED}: this key is not for {}.",
                self.name
            ));
        }
        match &self.admit {
            Some(admit) => admit(remote.clone(), peer.clone()).await,
            None => Ok(()),
        }
    }

    pub async fn joined(&self, remote: &Remote, peer: &Peer) {
        run(&self.joined, remote, peer).await;
    }

    pub async fn left(&self, remote: &Remote, peer: &Peer) {
        run(&self.left, remote, peer).await;
    }

    /// Never panics, and never takes longer than the limit.
    pub async fn handle(self: Arc<Self>, call: Call) -> EventAnswer {
        let request = call.first().get("requestId").cloned();
        let refusal = self.refusal;
        let refuse = move |reason: &str| refusal(request.as_ref(), reason);
        let Some(handler) = self.handlers.get(call.event.as_str()).cloned() else {
            let event: String = call.event.chars().take(64).collect();
            let reason = format!("{} has no event '{event}'.", self.name);
            return EventAnswer::Now(Some(refuse(&reason)));
        };
        let (standing, need) = (call.peer.standing(), access::need(self.name, &call.event));
        if !standing.may(need) {
            let reason = standing.refusal(call.peer.client(), need);
            return EventAnswer::Now(Some(refuse(&reason)));
        }
        let (name, event, limit) = (self.name, call.event.clone(), self.limit);
        let failed = move |reason: &str| {
            tracing::warn!(namespace = name, event, reason, "Socket.IO event failed");
        };
        let wants_answer = call.wants_answer;
        let handling = caught(async move { handler(call).await });
        let answer = match tokio::time::timeout(limit, handling).await {
            Ok(Ok(answer)) => answer,
            failure => {
                let reason = if failure.is_err() { LATE } else { FAULT };
                failed(reason);
                Answer::Refused(reason.to_owned())
            }
        };
        match answer {
            Answer::Ack(answer) => EventAnswer::Now(Some(answer)),
            Answer::Refused(reason) => EventAnswer::Now(Some(refuse(&reason))),
            Answer::Silent => EventAnswer::Now(wants_answer.then(|| json!({ "status": "ok" }))),
            Answer::Later(later) => EventAnswer::Later(Box::pin(async move {
                let answered = tokio::time::timeout(limit, caught(later)).await;
                let reason = match answered {
                    Ok(Ok(answer)) => return Some(answer),
                    Ok(Err(_)) => FAULT,
                    Err(_) => LATE,
                };
                failed(reason);
                Some(refuse(reason))
            })),
        }
    }
}

const FAULT: &str = "The server failed to answer this.";
const LATE: &str = "The server took too long to answer this.";

/// A panic in a handler is an answer like any other failure, never the end of a task that serves
/// others. Unwind safety: a future that panicked is never polled again, and what it shares is behind
/// locks that know no poison.
pub(super) fn caught<T>(
    future: impl Future<Output = T>,
) -> impl Future<Output = thread::Result<T>> {
    AssertUnwindSafe(future).catch_unwind()
}

async fn run(hook: &Option<Hook>, remote: &Remote, peer: &Peer) {
    if let Some(hook) = hook
        && caught(hook(remote.clone(), peer.clone())).await.is_err()
    {
        tracing::warn!(namespace = peer.namespace(), "Socket.IO hook panicked");
    }
}
