//! Running one admitted method: its deadline, its panic, its error, and whether what it returned
//! can pass, fits its kind and stays within the budget.

use std::{any::Any, panic::AssertUnwindSafe};

use callgate_contract::{
    Arguments, Binding, CallContext, Change, Effect, Kind, MethodInfo, Provenance, Reply, Value,
    codec, codec::CodecError, frame,
};
use callgate_store::StoreError;
use futures_util::FutureExt;
use tokio::time::timeout;

use crate::{CallError, Outcome, kind::shown, registry::Entry};

/// Longest encoded result: it must fit a frame together with what surrounds it there.
const MAX_RESULT: usize = frame::MAX_FRAME - 1024;

/// What a method gave, ready to be recorded.
pub(crate) struct EncodedOutcome {
    pub(crate) outcome: Outcome,
    /// `outcome.value` in the codec's bytes.
    pub(crate) encoded: Vec<u8>,
    pub(crate) changes: Vec<Change>,
}

pub(crate) async fn run(
    entry: &Entry,
    context: CallContext<'_>,
    arguments: Arguments,
) -> Result<EncodedOutcome, CallError> {
    let info = entry.info();
    let method = || info.name.clone();
    // Without a task of its own: the call is polled in place on the run's thread, where a spawn would
    // cost more than the call. The method's own code starts inside the future, so that a panic there
    // is caught as well. Unwind safety: the future is dropped after a panic and what it borrowed is a
    // method, which must expect to be abandoned at any await anyway.
    let running = AssertUnwindSafe(async {
        match info.binding {
            Binding::Strict => entry.method.call(context, arguments.named).await,
            Binding::Loose => entry.method.call_loosely(context, arguments).await,
        }
    })
    .catch_unwind();
    let stopped = context.caller.grant.budget.cancel();
    let ended = tokio::select! {
        biased;
        ended = timeout(info.deadline, running) => ended,
        () = stopped.cancelled() => return Err(CallError::Cancelled {
            method: method(),
            effectful: info.effect == Effect::Effectful,
        }),
    };
    let reply = match ended {
        Ok(Ok(Ok(reply))) => reply,
        // It is nobody's answer: whoever asked goes on from the record, and the call is made again.
        Ok(Ok(Err(error))) if error.is_temporary && info.effect != Effect::Effectful => {
            let source = StoreError::Unavailable(error.message);
            return Err(CallError::unrecorded(&info.name, source));
        }
        Ok(Ok(Err(error))) => {
            return Err(CallError::Failed {
                message: match error.message.trim() {
                    "" => format!("method '{}' failed without a message", info.name),
                    _ => error.message,
                },
                method: method(),
                detail: error.detail,
            });
        }
        Ok(Err(panic)) => {
            return Err(CallError::Panicked {
                method: method(),
                message: panic_message(panic.as_ref()),
            });
        }
        Err(_) => {
            return Err(CallError::Deadline {
                method: method(),
                seconds: info.deadline.as_secs_f64(),
                effectful: info.effect == Effect::Effectful,
            });
        }
    };
    take(info, context, reply)
}

fn panic_message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("no message").to_owned()
}

fn take(
    info: &MethodInfo,
    context: CallContext<'_>,
    reply: Reply,
) -> Result<EncodedOutcome, CallError> {
    let method = || info.name.clone();
    let Reply { value, mut changes } = reply;
    let encoded = encode(&value).map_err(|error| CallError::Unpassable {
        method: method(),
        reason: error.at("result").to_string(),
    })?;
    let shown = shown(info.kind, &value).map_err(|reason| CallError::BadResult {
        method: method(),
        reason,
    })?;
    for change in &changes {
        if let Change::Send { .. } = change {
            let spent = context.caller.grant.budget.take_message();
            spent.map_err(|spent| CallError::over_budget(&info.name, spent))?;
        }
    }
    if let Some(text) = &shown.text {
        changes.push(Change::SystemRow {
            session: context.caller.session.clone(),
            text: text.clone(),
            provenance: Provenance::Method(format!("{}/{}", info.origin, info.name)),
        });
    }
    Ok(EncodedOutcome {
        outcome: Outcome {
            ends_turn: ends_turn(info.kind, &value),
            value,
            text: shown.text,
            parts: shown.parts,
            kind: info.kind,
            micros: 0,
        },
        encoded,
        changes,
    })
}

/// A tool that gives nothing back has said all there is.
pub(crate) fn ends_turn(kind: Kind, value: &Value) -> bool {
    kind == Kind::Tool && *value == Value::Null
}

fn encode(value: &Value) -> Result<Vec<u8>, CodecError> {
    let encoded = codec::encode(value)?;
    match encoded.len() {
        bytes if bytes > MAX_RESULT => Err(CodecError::TooLong {
            bytes,
            limit: MAX_RESULT,
        }),
        _ => Ok(encoded),
    }
}
