//! A round of tool mode: native tool calls through the gate, results in call order.
//! Malformed arguments run nothing: the model is told what is wrong with them. The same call made again
//! and again in one turn is refused with an explanation.

use callgate_contract::{
    Arguments, CallArguments, Effect, Kind, Method, Part, Shared, ToolCall, ToolSpec, json,
};
use callgate_gate::{CallError, CallRequest, Outcome};
use serde_json::{Map, Value as Json};
use std::sync::Arc;

use super::{
    Turn,
    declared::opened,
    event::{Event, ToolResult},
    state::SAME_CALL,
};
use crate::{
    TurnError, host,
    record::{Answered, Refusal},
    report::CallReport,
    texts,
    watch::TurnEvent,
};

impl Turn {
    /// The methods of a round, and how the model sees them.
    pub(super) fn round_tools(&mut self) -> Shared<ToolSpec> {
        let (methods, tools) = match self.offered() {
            Some(offered) => offered,
            None => {
                let methods = self.agent.gate().catalogue(&self.caller);
                let tools = self.declared(&methods);
                (methods, tools)
            }
        };
        self.context.methods = methods;
        self.with_own(tools)
    }

    /// Makes the calls of a reply; harmless ones side by side.
    pub(super) async fn call_all(
        &mut self,
        first: u64,
        calls: Vec<ToolCall>,
    ) -> Result<Event, TurnError> {
        let harmless = self.are_harmless(&calls);
        if harmless {
            // They have no intent that would take the reply along.
            self.agent.store().journal().flush().await?;
        }
        self.context.declared.opened.extend(opened(&calls));
        let (queued, turn) = (self.queued(), &*self);
        let one = |(sequence, call)| turn.call_one(sequence, call);
        let numbered = (first..).zip(&calls);
        let mut results = Vec::with_capacity(calls.len());
        if harmless {
            for result in join_all(numbered.map(one).collect()).await {
                results.push(result?);
            }
        } else {
            for numbered in numbered {
                // A history must hold a result for each call, also for those not made.
                results.push(if self.cancel.is_cancelled() {
                    ToolResult::text(texts::STOPPED)
                } else {
                    one(numbered).await?
                });
            }
        }
        if self.queued() != queued {
            self.agent.deliver(&self.facts.session).await;
            self.tell_said(self.facts.turn).await?;
        }
        Ok(Event::Called(results))
    }

    /// Another number when the session was told something since.
    fn queued(&self) -> u64 {
        self.agent.store().outbox().queued(&self.facts.session)
    }

    /// No call can disturb another, or says anything to anybody.
    fn are_harmless(&self, calls: &[ToolCall]) -> bool {
        calls.iter().all(|call| {
            let found = match self.ad_hoc(&call.name) {
                Some(ad_hoc) => Some(ad_hoc.method().clone()),
                None => self.agent.gate().find(&call.name),
            };
            found.is_some_and(|method| {
                matches!(method.info().effect, Effect::Pure | Effect::Idempotent)
                    && method.info().kind == Kind::Tool
            })
        })
    }

    async fn call_one(&self, sequence: u64, call: &ToolCall) -> Result<ToolResult, TurnError> {
        let methods = &self.context.methods;
        let arguments = match &call.arguments {
            CallArguments::Object(arguments) => arguments.clone(),
            // Deliberately unlike upstream, which would run the tool with no arguments at all.
            CallArguments::Malformed(text) => {
                return Ok(ToolResult::text(texts::malformed_arguments(text)));
            }
        };
        if self.is_withheld(&call.name) {
            return Ok(ToolResult::text(texts::unknown_tool(&call.name, methods)));
        }
        let repeated = self.state.times_made(call);
        if repeated >= SAME_CALL {
            return Ok(ToolResult::text(texts::REPEATED_CALL));
        }
        let name = &call.name;
        let arguments = self.before_call(sequence, name, arguments).await?;
        let mut result = self.dispatch(sequence, name, arguments, methods).await?;
        // The plugin that a tool of one loop belongs to says so itself.
        if repeated + 1 == SAME_CALL && self.ad_hoc(&call.name).is_none() {
            result.text.push_str(texts::REPEATING_CALL);
        }
        result.text = self.after_call(sequence, name, result.text).await?;
        Ok(result)
    }

    async fn dispatch(
        &self,
        sequence: u64,
        name: &str,
        arguments: Map<String, Json>,
        methods: &[Arc<dyn Method>],
    ) -> Result<ToolResult, TurnError> {
        let mut report = CallReport {
            method: name.to_owned(),
            kind: self
                .agent
                .gate()
                .find(name)
                .map(|method| method.info().kind),
            arguments: Json::Object(arguments.clone()),
            value: None,
            error: None,
            micros: 0,
            replayed: false,
        };
        let mut named = Vec::new();
        for (name, value) in arguments {
            match json::from_json(value) {
                Ok(value) => named.push((name, value)),
                Err(error) => return Ok(ToolResult::text(format!("error: {name}: {error}"))),
            }
        }
        let request = CallRequest {
            progress: self.watch.progress(sequence, name),
            ..CallRequest::new(sequence, name, Arguments::by_name(named))
        };
        let usual = self.agent.settings().call_timeout;
        let ad_hoc = self.ad_hoc(name);
        let limit = match ad_hoc {
            // Its own code counts the time, anew with each word it gives.
            Some(ad_hoc) => ad_hoc.method().info().deadline,
            None => self.options.call_timeout.unwrap_or(usual),
        };
        let answered = tokio::time::timeout(limit, self.record.call(request, ad_hoc)).await;
        let result = match answered {
            Ok(Ok(Answered {
                outcome,
                replayed,
                of_loop,
            })) => {
                report.value = Some(json::to_json(&outcome.value));
                (report.micros, report.replayed) = (outcome.micros, replayed);
                if of_loop {
                    host::answer_of(&outcome.value)
                } else {
                    self.result_of(outcome).await?
                }
            }
            Ok(Err(Refusal::Call(error @ CallError::ApprovalPending { .. }))) => {
                // Whoever waits for a returned answer cannot wait for the operator as well.
                report.error = self.is_returned().then(|| error.to_string());
                ToolResult {
                    suspend: !self.is_returned(),
                    ..ToolResult::text(texts::call_failed(&error, methods))
                }
            }
            // Whether it was done is for the record to say, from which the turn goes on.
            Ok(Err(Refusal::Call(CallError::Store { source, .. }))) if source.is_temporary() => {
                return Err(source.into());
            }
            Ok(Err(Refusal::Call(error))) => {
                report.error = Some(error.to_string());
                ToolResult::text(texts::call_failed(&error, methods))
            }
            Ok(Err(Refusal::Diverged(why))) => {
                report.error = Some(why.clone());
                ToolResult::text(format!("error: {why}"))
            }
            Err(_) => {
                let text = texts::call_timeout(name, limit);
                report.error = Some(text.clone());
                ToolResult::text(text)
            }
        };
        self.watch.tell(TurnEvent::Call { call: report });
        Ok(result)
    }

    async fn result_of(&self, outcome: Outcome) -> Result<ToolResult, TurnError> {
        let given = match outcome.kind {
            Kind::MultimodalAgent => Some(outcome.parts),
            Kind::Tool => crate::parts::given(&outcome.value),
            Kind::Agent | Kind::Behavior => None,
        };
        let is_given = given.is_some();
        let (texts, media): (Vec<Part>, Vec<Part>) = given
            .unwrap_or_default()
            .into_iter()
            .partition(|part| matches!(part, Part::Text { .. }));
        let text = match (is_given, outcome.text) {
            (true, _) => crate::history::text_of(&texts),
            (_, Some(text)) => text,
            (_, None) => match json::to_json(&outcome.value) {
                Json::String(text) => text,
                Json::Null => texts::DONE.to_owned(),
                value => value.to_string(),
            },
        };
        Ok(ToolResult {
            text: self.bounded(text).await?,
            media,
            ends_turn: outcome.ends_turn,
            suspend: false,
        })
    }
}

/// All futures at once, results in their order.
async fn join_all<F: Future>(futures: Vec<F>) -> Vec<F::Output> {
    let mut futures: Vec<_> = futures.into_iter().map(Box::pin).collect();
    let mut results: Vec<Option<F::Output>> = futures.iter().map(|_| None).collect();
    std::future::poll_fn(|context| {
        let mut waiting = false;
        for (future, result) in futures.iter_mut().zip(&mut results) {
            if result.is_none() {
                match future.as_mut().poll(context) {
                    std::task::Poll::Ready(value) => *result = Some(value),
                    std::task::Poll::Pending => waiting = true,
                }
            }
        }
        if waiting {
            std::task::Poll::Pending
        } else {
            std::task::Poll::Ready(())
        }
    })
    .await;
    results.into_iter().flatten().collect()
}
