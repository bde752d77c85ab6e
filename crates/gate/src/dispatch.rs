//! One call, from the door to its durable outcome. The order is the contract: nothing runs before
//! every check has passed, and nothing counts as done before it is recorded.

use std::{sync::Arc, time::Instant};

use callgate_contract::{
    Arguments, Binding, CallContext, Caller, Effect, JournalId, Kind, Method, Onlooker, Part, Peer,
    Surface, Value,
};
use callgate_store::CallIntent;
use tracing::Instrument;

use crate::{
    CallError, Gate, InvalidMethod,
    arguments::bind,
    observe::{CallStatus, CompletedCall},
    progress::bounded,
    registry::Entry,
    running::run,
    values::note_outcome,
    view::{Purpose, view},
    written,
};

/// A call as it arrives. `clocks` and `threaded` are what code brings along for its replay.
#[derive(Clone, Debug)]
pub struct CallRequest<'a> {
    /// The call's place in the caller's journal.
    pub sequence: u64,
    pub name: &'a str,
    pub arguments: Arguments,
    pub clocks: Vec<i64>,
    pub threaded: bool,
    /// Who hears how far it has come.
    pub progress: Onlooker,
}

impl<'a> CallRequest<'a> {
    /// One that nothing else is known of.
    pub fn new(sequence: u64, name: &'a str, arguments: Arguments) -> Self {
        CallRequest {
            sequence,
            name,
            arguments,
            clocks: Vec::new(),
            threaded: false,
            progress: Onlooker::default(),
        }
    }
}

/// What a call gave.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    pub value: Value,
    /// What goes into the context; of `agent` and `behavior` methods only.
    pub text: Option<String>,
    /// What goes into the context; of `multimodal_agent` methods only.
    pub parts: Vec<Part>,
    /// A tool that gives nothing back has said all there is: a turn of tool calls ends with it.
    pub ends_turn: bool,
    pub kind: Kind,
    pub micros: u64,
}

/// A method that is in no registry and lives only as long as somebody holds it, such as a tool that a
/// plugin made for one loop. Whoever holds it may call it; every other check is as for any method.
#[derive(Clone)]
pub struct AdHoc(Arc<Entry>);

impl AdHoc {
    pub fn new(method: Arc<dyn Method>) -> Result<Self, InvalidMethod> {
        Entry::new(method).map(|entry| AdHoc(Arc::new(entry)))
    }

    pub fn method(&self) -> &Arc<dyn Method> {
        &self.0.method
    }

    pub(crate) fn entry(&self) -> &Entry {
        &self.0
    }
}

/// How a plugin's call came.
#[derive(Clone, Copy, Debug)]
pub struct PluginCallContext<'a> {
    pub peer: &'a Peer,
    /// The plugin's event loop stands still until the answer is there.
    pub blocking: bool,
}

/// A call that passed every check.
struct AdmittedCall {
    entry: Arc<Entry>,
    arguments: Arguments,
}

impl Gate {
    /// Calls `name` for `caller` as call number `sequence` of its journal.
    pub async fn call(
        &self,
        caller: &Caller,
        sequence: u64,
        name: &str,
        arguments: Arguments,
    ) -> Result<Outcome, CallError> {
        let request = CallRequest::new(sequence, name, arguments);
        self.dispatch(caller, request).await
    }

    /// As [`Gate::call`]; to be polled inside a tokio runtime. Dropping the future abandons the
    /// call: an effectful one then has no outcome, which [`Gate::replay`] reports.
    pub async fn dispatch(
        &self,
        caller: &Caller,
        request: CallRequest<'_>,
    ) -> Result<Outcome, CallError> {
        let entry = self.resolve_for(caller, request.name);
        let admitted = self.admit(caller, request.name, entry.clone());
        self.make(caller, request, entry, admitted, None).await
    }

    /// As [`Gate::dispatch`], for plugin code. Such a call is part of the plugin's own, which is on
    /// record: only what has effects beyond our rows is recorded again, and paid for.
    pub async fn dispatch_from_plugin(
        &self,
        caller: &Caller,
        request: CallRequest<'_>,
        way: PluginCallContext<'_>,
    ) -> Result<Outcome, CallError> {
        let entry = self.resolve_for(caller, request.name);
        let admitted = self.admit(caller, request.name, entry.clone());
        let admitted = admitted.and_then(|entry| {
            if way.blocking && !entry.info().leaf {
                Err(CallError::NotLeaf {
                    method: entry.info().name.clone(),
                })
            } else {
                Ok(entry)
            }
        });
        self.make(caller, request, entry, admitted, Some(way)).await
    }

    /// As [`Gate::dispatch`], for a method that is not registered; `request.name` is not looked at.
    pub async fn dispatch_ad_hoc(
        &self,
        caller: &Caller,
        request: CallRequest<'_>,
        method: &AdHoc,
    ) -> Result<Outcome, CallError> {
        let entry = method.0.clone();
        self.make(caller, request, Some(entry.clone()), Ok(entry), None)
            .await
    }

    async fn make(
        &self,
        caller: &Caller,
        request: CallRequest<'_>,
        entry: Option<Arc<Entry>>,
        admitted: Result<Arc<Entry>, CallError>,
        way: Option<PluginCallContext<'_>>,
    ) -> Result<Outcome, CallError> {
        let admitted = match admitted {
            Ok(entry) => self.permit(caller, entry).await,
            refused => refused,
        };
        let (began, known) = (Instant::now(), entry.clone());
        let result = self.execute(caller, request, entry, admitted, way).await;
        if let Some(entry) = &known {
            note_outcome(caller, Some(entry), &entry.full_name, result.as_ref());
        }
        let Some(observer) = self.observer() else {
            return result;
        };
        observer(&CompletedCall {
            method: known.as_ref().map(|entry| entry.full_name.as_str()),
            surface: caller.surface,
            ended: CallStatus::of(&result),
            elapsed: began.elapsed(),
        });
        result
    }

    async fn execute(
        &self,
        caller: &Caller,
        mut request: CallRequest<'_>,
        entry: Option<Arc<Entry>>,
        admitted: Result<Arc<Entry>, CallError>,
        way: Option<PluginCallContext<'_>>,
    ) -> Result<Outcome, CallError> {
        let progress = bounded(std::mem::take(&mut request.progress));
        let refused_by = match (&admitted, &entry) {
            (Err(CallError::Denied { .. }), Some(entry)) => self.decided_by(caller, entry),
            _ => None,
        };
        let (mut intent, checked) = check(caller, request, entry, admitted);
        intent.decided_by = refused_by;
        let kept = is_kept(caller, intent.effect);
        let AdmittedCall { entry, arguments } = match checked {
            Ok(admitted) => admitted,
            Err(error) if !kept => return Err(error),
            Err(error) => return Err(self.refuse(intent, error).await),
        };
        let approved = tokio::select! {
            biased;
            approved = self.approve(caller, &entry, &mut intent, &arguments) => approved,
            () = caller.grant.budget.cancel().cancelled() => Err(CallError::Cancelled {
                method: entry.info().name.clone(),
                effectful: false,
            }),
        };
        if let Err(error) = approved {
            return Err(self.refuse(intent, error).await);
        }

        let name = &entry.info().name;
        if intent.effect == Effect::Effectful {
            let written = self.store().journal().intent(&intent).await;
            written.map_err(|source| CallError::unrecorded(name, source))?;
        }
        let started = Instant::now();
        let context = CallContext {
            caller,
            sequence: intent.sequence,
            peer: way.map(|way| way.peer),
            progress: &progress,
        };
        let span =
            tracing::debug_span!("call", method = entry.full_name, sequence = intent.sequence);
        let running = run(&entry, context, arguments);
        let result = running.instrument(span.clone()).await;
        if let Err(error) = &result {
            tracing::debug!(parent: &span, %error, "the call failed");
        }
        let micros = u64::try_from(started.elapsed().as_micros()).unwrap_or(u64::MAX);
        match result {
            Ok(done) if !kept && done.changes.is_empty() => Ok(Outcome {
                micros,
                ..done.outcome
            }),
            Err(error) if !kept || !error.is_outcome() => Err(error),
            result => {
                let soon = caller.surface == Surface::ToolCall;
                self.record(name, intent, result, micros, soon).await
            }
        }
    }
}

/// Is this call recorded and paid for by itself?
fn is_kept(caller: &Caller, effect: Effect) -> bool {
    match caller.surface {
        Surface::Plugin => effect == Effect::Effectful,
        _ => caller.journal != JournalId::NONE || effect != Effect::Pure,
    }
}

/// Everything that is decided before anything happens: existence, exposure, grant (already in
/// `admitted`), arguments, budget. The intent describes the call also where it is refused.
fn check(
    caller: &Caller,
    request: CallRequest<'_>,
    entry: Option<Arc<Entry>>,
    admitted: Result<Arc<Entry>, CallError>,
) -> (CallIntent, Result<AdmittedCall, CallError>) {
    let (written, arguments) = written::encode(request.arguments);
    let (bytes, passable) = match written {
        Ok(bytes) => (bytes, Ok(())),
        Err(error) => (Vec::new(), Err(error.to_string())),
    };
    let info = entry.as_ref().map(|entry| entry.info());
    let intent = CallIntent {
        journal: caller.journal,
        sequence: request.sequence,
        method: written::name(entry.as_deref(), request.name),
        kind: info.map_or(Kind::Tool, |info| info.kind),
        effect: info.map_or(Effect::Pure, |info| info.effect),
        arguments: bytes,
        clocks: request.clocks,
        threaded: request.threaded,
        decided_by: None,
    };
    let checked = admitted.and_then(|entry| {
        let arguments = passable
            .and_then(|()| accept(&entry, arguments))
            .map_err(|reason| CallError::BadArguments {
                signature: entry.signature.to_string(),
                reason,
            })?;
        if is_kept(caller, intent.effect) {
            let spent = caller.grant.budget.take_call();
            spent.map_err(|spent| CallError::over_budget(&entry.info().name, spent))?;
        }
        Ok(AdmittedCall { entry, arguments })
    });
    (intent, checked)
}

/// The arguments as the method takes them.
fn accept(entry: &Entry, arguments: Arguments) -> Result<Arguments, String> {
    match entry.info().binding {
        Binding::Loose => {
            // For its limits alone.
            view(&written::labelled(&arguments), Purpose::Check)?;
            Ok(arguments)
        }
        Binding::Strict => {
            let bound = bind(&entry.signature, arguments)?;
            entry.checker.check(&bound)?;
            Ok(Arguments {
                positional: Vec::new(),
                named: bound,
            })
        }
    }
}
