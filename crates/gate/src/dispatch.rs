//! One call, from the door to its durable outcome. The order is the contract: nothing runs before
//! every check has passed, and nothing counts as done before it is recorded.

use std::{sync::Arc, time::Instant};

use callgate_contract::{Arguments, CallContext, Caller, Effect, Kind, Part, Value};
use callgate_store::CallIntent;

use crate::{CallError, Gate, arguments::bind, registry::Entry, running::run, written};

/// A call as it arrives. `clocks` and `threaded` are what code brings along for its replay.
#[derive(Clone, Debug)]
pub struct CallRequest<'a> {
    /// The call's place in the caller's journal.
    pub sequence: u64,
    pub name: &'a str,
    pub arguments: Arguments,
    pub clocks: Vec<i64>,
    pub threaded: bool,
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

/// A call that passed every check.
struct Admitted {
    entry: Arc<Entry>,
    arguments: Vec<(String, Value)>,
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
        let request = CallRequest {
            sequence,
            name,
            arguments,
            clocks: Vec::new(),
            threaded: false,
        };
        self.dispatch(caller, request).await
    }

    /// As [`Gate::call`]; to be polled inside a tokio runtime. Dropping the future abandons the
    /// call: an effectful one then has no outcome, which [`Gate::replay`] reports.
    pub async fn dispatch(
        &self,
        caller: &Caller,
        request: CallRequest<'_>,
    ) -> Result<Outcome, CallError> {
        let (intent, checked) = self.check(caller, request);
        let Admitted { entry, arguments } = match checked {
            Ok(admitted) => admitted,
            Err(error) => return Err(self.refuse(intent, error).await),
        };
        if let Err(error) = self.approve(caller, &entry, &intent, &arguments).await {
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
        };
        let result = run(&entry, context, arguments).await;
        let micros = u64::try_from(started.elapsed().as_micros()).unwrap_or(u64::MAX);
        self.record(name, intent, result, micros).await
    }

    /// Everything that is decided before anything happens: existence, exposure, grant, arguments,
    /// budget. The intent describes the call also where it is refused.
    fn check(
        &self,
        caller: &Caller,
        request: CallRequest<'_>,
    ) -> (CallIntent, Result<Admitted, CallError>) {
        let entry = self.resolve(request.name);
        let (written, arguments) = written::encode(request.arguments);
        let (bytes, passable) = match written {
            Ok(bytes) => (bytes, Ok(())),
            Err(error) => (Vec::new(), Err(error.to_string())),
        };
        let intent = CallIntent {
            journal: caller.journal,
            sequence: request.sequence,
            method: written::name(entry.as_deref(), request.name),
            kind: entry.as_ref().map_or(Kind::Tool, |entry| entry.info().kind),
            effect: entry
                .as_ref()
                .map_or(Effect::Pure, |entry| entry.info().effect),
            arguments: bytes,
            clocks: request.clocks,
            threaded: request.threaded,
        };
        let admit = || {
            let entry = self.admit(caller, request.name, entry)?;
            let arguments = passable
                .and_then(|()| bind(&entry.signature, arguments))
                .and_then(|bound| entry.checker.check(&bound).map(|()| bound))
                .map_err(|reason| CallError::BadArguments {
                    signature: entry.signature.to_string(),
                    reason,
                })?;
            let spent = caller.grant.budget.take_call();
            spent.map_err(|spent| CallError::over_budget(&entry.info().name, spent))?;
            Ok(Admitted { entry, arguments })
        };
        (intent, admit())
    }
}
