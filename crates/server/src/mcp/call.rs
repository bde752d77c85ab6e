//! One tool call: a journal of its own, then the gate. What happens meanwhile is told as progress
//! and as log messages to who asked for them; who cancels, or leaves, ends the call.

use std::time::{Duration, Instant};

use callgate_contract::{Arguments, JournalId, Onlooker, json as value_json};
use callgate_gate::{CallError, Outcome};
use rmcp::{ErrorData, RoleServer, model::JsonObject, service::RequestContext};
use tokio::{
    sync::mpsc,
    time::{MissedTickBehavior, interval_at},
};

use super::{Mcp, handler::internal, told::ProgressNotifier, tools, who::ClientIdentity};

/// How often a call that goes on says so.
const BEAT: Duration = Duration::from_secs(1);
/// What may wait to be told; beyond it the newest is not.
const WAITING: usize = 16;

/// What a call came to, the client's own withdrawal aside.
pub(super) type CallResult = Result<Outcome, CallError>;

/// `None` if it was cancelled.
pub(super) async fn call(
    mcp: &Mcp,
    who: &ClientIdentity,
    tool: &str,
    arguments: JsonObject,
    mut told: ProgressNotifier,
    context: &RequestContext<RoleServer>,
) -> Result<Option<CallResult>, ErrorData> {
    let charged = mcp.0.remote.quotas().charge(who.key(), arguments.values());
    charged.map_err(|refused| ErrorData::invalid_request(refused.to_string(), None))?;
    let caller = who.caller(JournalId::fresh()).map_err(internal)?;
    let method = tools::meant(mcp.gate(), &caller, tool);
    let arguments = arguments
        .into_iter()
        .map(|(name, value)| Ok((name, value_json::from_json(value)?)));
    let named = arguments.collect::<Result<_, value_json::JsonError>>();
    let named = named.map_err(|error| ErrorData::invalid_params(error.to_string(), None))?;
    let arguments = Arguments::by_name(named);
    told.begun().await;
    told.note(format!("'{tool}' begins")).await;
    let began = Instant::now();
    let (tell, mut heard) = mpsc::channel(WAITING);
    let progress = if told.looks_on() {
        Onlooker::new(move |progress| drop(tell.try_send(progress)))
    } else {
        Onlooker::default()
    };
    // Dropped, nobody waits for the call any more. It also ends the agents that the method began,
    // which work in tasks of their own.
    let cancel = caller.grant.budget.cancel().clone();
    let _waiting = cancel.drop_guard_ref();
    let gate = mcp.gate().clone();
    // In a task of its own, so that the record is closed also where nobody waits for the answer.
    let making = async move {
        let made = gate.call_alone(&caller, &method, arguments, progress);
        made.await
    };
    let mut making = tokio::spawn(making);
    let mut beat = interval_at(tokio::time::Instant::now() + BEAT, BEAT);
    beat.set_missed_tick_behavior(MissedTickBehavior::Skip);
    let made = loop {
        tokio::select! {
            made = &mut making => break made,
            () = context.ct.cancelled() => {
                cancel.cancel();
                break (&mut making).await;
            }
            () = who.goes() => {
                cancel.cancel();
                break (&mut making).await;
            }
            Some(progress) = heard.recv() => told.progress(progress).await,
            _ = beat.tick() => {
                let seconds = began.elapsed().as_secs();
                told.goes_on(seconds).await;
                told.note(format!("'{tool}' has been running for {seconds} s")).await;
            }
        }
    };
    while let Ok(progress) = heard.try_recv() {
        told.progress(progress).await;
    }
    let made = made.map_err(internal)?.map_err(internal)?;
    match &made {
        Ok(outcome) => {
            told.finished().await;
            let millis = outcome.micros / 1_000;
            told.note(format!("'{tool}' finished after {millis} ms"))
                .await;
        }
        Err(CallError::Cancelled { .. }) if cancel.is_cancelled() => {
            told.note(format!("'{tool}' was cancelled")).await;
            return Ok(None);
        }
        Err(error) => {
            told.warn(format!("'{tool}' failed: {}", in_words(error)))
                .await;
        }
    }
    Ok(Some(made))
}

/// A failure in words for somebody elsewhere: what is ours alone stays here.
pub(super) fn in_words(error: &CallError) -> String {
    match error {
        CallError::Panicked { method, message } => {
            tracing::warn!(method, message, "method panicked");
            format!("'{method}' failed; the server's log says why")
        }
        CallError::Store { method, source } => {
            tracing::warn!(method, %source, "could not record a call");
            format!("'{method}' cannot be recorded now; try again later")
        }
        error => error.to_string(),
    }
}
