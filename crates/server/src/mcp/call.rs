//! One tool call: a journal of its own, then the gate. What happens meanwhile is told as progress
//! and as log messages to who asked for them; who cancels, or leaves, ends the call.

use std::time::{Duration, Instant};

use callgate_contract::{Arguments, Caller, JournalId, Stop, json as value_json};
use callgate_gate::{CallError, Outcome};
use callgate_store::{RunStart, StoreError};
use rmcp::{ErrorData, RoleServer, model::JsonObject, service::RequestContext};
use serde_json::json;
use tokio::{
    sync::oneshot,
    time::{MissedTickBehavior, interval_at},
};

use super::{Mcp, handler::internal, told::Told, tools, who::Who};

/// A direct call is the only one of its journal.
const SEQUENCE: u64 = 1;
/// How often a call that goes on says so.
const BEAT: Duration = Duration::from_secs(1);

/// What a call came to, the client's own withdrawal aside.
pub(super) type Made = Result<Outcome, CallError>;

/// `None` if it was cancelled.
pub(super) async fn call(
    mcp: &Mcp,
    who: &Who,
    tool: &str,
    arguments: JsonObject,
    told: Told,
    context: &RequestContext<RoleServer>,
) -> Result<Option<Made>, ErrorData> {
    let caller = who.caller(JournalId::fresh()).map_err(internal)?;
    let method = tools::meant(mcp.gate(), &caller, tool);
    let arguments = arguments
        .into_iter()
        .map(|(name, value)| Ok((name, value_json::from_json(value)?)));
    let named = arguments.collect::<Result<_, value_json::JsonError>>();
    let named = named.map_err(|error| ErrorData::invalid_params(error.to_string(), None))?;
    let arguments = Arguments {
        positional: Vec::new(),
        named,
    };
    told.progress(0.0, "begun").await;
    told.note(format!("'{tool}' begins")).await;
    let began = Instant::now();
    // Dropped with this future too: then nobody waits for the call any more.
    let (withdraw, withdrawn) = oneshot::channel::<()>();
    let making = made(mcp.clone(), caller, method, arguments, withdrawn);
    let mut making = tokio::spawn(making);
    let mut beat = interval_at(tokio::time::Instant::now() + BEAT, BEAT);
    beat.set_missed_tick_behavior(MissedTickBehavior::Skip);
    let made = loop {
        tokio::select! {
            made = &mut making => break made.map_err(internal)?.map_err(internal)?,
            () = context.ct.cancelled() => {
                drop(withdraw);
                break making.await.map_err(internal)?.map_err(internal)?;
            }
            _ = beat.tick() => {
                let seconds = began.elapsed().as_secs();
                told.progress(began.elapsed().as_secs_f64(), "running").await;
                told.note(format!("'{tool}' has been running for {seconds} s")).await;
            }
        }
    };
    told.progress(began.elapsed().as_secs_f64(), "finished")
        .await;
    match &made {
        None => told.note(format!("'{tool}' was cancelled")).await,
        Some(Ok(outcome)) => {
            let millis = outcome.micros / 1_000;
            told.note(format!("'{tool}' finished after {millis} ms"))
                .await;
        }
        Some(Err(error)) => {
            told.warn(format!("'{tool}' failed: {}", in_words(error)))
                .await
        }
    }
    Ok(made)
}

/// In a task of its own, so that the record is closed also where nobody waits for the answer.
async fn made(
    mcp: Mcp,
    caller: Caller,
    method: String,
    arguments: Arguments,
    withdrawn: oneshot::Receiver<()>,
) -> Result<Option<Made>, StoreError> {
    let journal = mcp.store().journal();
    let start = RunStart {
        id: caller.journal,
        session: caller.session.clone(),
        user: caller.user.clone(),
        role: caller.role,
        surface: caller.surface,
        code: None,
        allowed: caller.grant.methods.clone(),
        // Nothing random happens in a single call.
        seed: [0; 16],
        turn: None,
    };
    journal.begin(&start).await?;
    let calling = mcp.gate().call(&caller, SEQUENCE, &method, arguments);
    let made = tokio::select! {
        made = calling => Some(made),
        _ = withdrawn => {
            // Agents that the method began work in tasks of their own.
            caller.grant.budget.cancel().cancel();
            None
        }
    };
    let (stop, report) = match &made {
        None => (
            Stop::Cancelled,
            json!({ "error": "cancelled by the client" }),
        ),
        Some(Ok(outcome)) => (Stop::Finished, json!({ "kind": outcome.kind })),
        Some(Err(error)) => {
            let stop = match error {
                CallError::ApprovalPending { .. } => Stop::Approval,
                _ => Stop::Error,
            };
            (stop, json!({ "error": error.to_string() }))
        }
    };
    journal.finish(caller.journal, stop, &report).await?;
    Ok(made)
}

/// A failure in words for somebody elsewhere: what is ours alone stays here.
pub(super) fn in_words(error: &CallError) -> String {
    match error {
        CallError::Panicked { method, message } => {
            tracing::warn!(method, message, "a method panicked");
            format!("'{method}' failed; the server's log says why")
        }
        CallError::Store { method, source } => {
            tracing::warn!(method, %source, "a call cannot be recorded");
            format!("'{method}' cannot be recorded now; try again later")
        }
        error => error.to_string(),
    }
}
