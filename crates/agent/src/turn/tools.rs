//! A round of tool mode: native tool calls through the gate, results in call order.

use callgate_contract::{
    Arguments, CallArguments, Effect, Kind, Method, MethodInfo, ModelMessage, Part, ToolCall,
    ToolSpec, TurnStop, json,
};
use callgate_gate::{CallError, CallRequest, Outcome};
use serde_json::{Map, Value as Json};
use std::sync::Arc;

use super::{Next, Turn};
use crate::{
    TurnError,
    prompt::declared,
    record::{Answered, Refusal},
    report::CallReport,
    search::methods::DESCRIBE_METHOD,
    texts,
    watch::TurnEvent,
};

/// How often a call may be made with the same arguments in one turn before it is refused; the
/// model is warned one call earlier.
const SAME_CALL: usize = 4;

/// What a tool call gave, as the model and the turn see it.
struct ToolResult {
    text: String,
    /// Shown after all results: most models take no images in a result.
    media: Vec<Part>,
    ends_turn: bool,
    suspend: bool,
}

impl ToolResult {
    fn text(text: impl Into<String>) -> Self {
        ToolResult {
            text: text.into(),
            media: Vec::new(),
            ends_turn: false,
            suspend: false,
        }
    }
}

impl Turn {
    pub(crate) async fn tool_round(&mut self) -> Result<Next, TurnError> {
        let last = self.is_last_round();
        let methods = self.agent.gate().catalogue(&self.caller);
        let tools = match last {
            true => {
                self.push(ModelMessage::user(texts::LAST_ROUND_TOOLS));
                Vec::new()
            }
            false => tool_specs(&methods, &self.request.messages),
        };
        let reply = match self.ask(tools).await? {
            Ok(reply) => reply,
            Err(none) => return Ok(self.without_reply(&none)),
        };
        if last {
            return Ok(Next::end(TurnStop::Limit, reply.text));
        }
        if reply.tool_calls.is_empty() {
            return Ok(Next::end(TurnStop::Answered, reply.text));
        }
        let results = self.call_all(&reply.tool_calls, &methods).await?;
        self.agent.deliver(&self.facts.session).await;
        if results.iter().any(|result| result.suspend) {
            return Ok(Next::Suspend);
        }
        let ends = results.iter().any(|result| result.ends_turn);
        let mut media = Vec::new();
        for (call, result) in reply.tool_calls.iter().zip(results) {
            self.push(ModelMessage::tool(&call.id, result.text));
            media.extend(result.media);
        }
        if !media.is_empty() {
            self.push(ModelMessage::User { parts: media });
        }
        Ok(match ends {
            true => Next::end(TurnStop::Answered, ""),
            false => Next::Again,
        })
    }

    /// Side by side only where no call can disturb another.
    async fn call_all(
        &mut self,
        calls: &[ToolCall],
        methods: &[Arc<dyn Method>],
    ) -> Result<Vec<ToolResult>, TurnError> {
        let first = self.sequence + 1;
        self.sequence += calls.len() as u64;
        self.calls += calls.len() as u64;
        let harmless = calls.iter().all(|call| {
            let found = self.agent.gate().find(&call.name);
            found.is_some_and(|method| {
                matches!(method.info().effect, Effect::Pure | Effect::Idempotent)
                    && method.info().kind == Kind::Tool
            })
        });
        let turn = &*self;
        let one = |(sequence, call)| turn.call_one(sequence, call, methods);
        let numbered = (first..).zip(calls);
        let mut results = Vec::with_capacity(calls.len());
        if harmless {
            for result in join_all(numbered.map(one).collect()).await {
                results.push(result?);
            }
        } else {
            for numbered in numbered {
                results.push(one(numbered).await?);
            }
        }
        Ok(results)
    }

    async fn call_one(
        &self,
        sequence: u64,
        call: &ToolCall,
        methods: &[Arc<dyn Method>],
    ) -> Result<ToolResult, TurnError> {
        let mut arguments = match &call.arguments {
            CallArguments::Object(arguments) => arguments.clone(),
            // Deliberately unlike upstream, which would run the tool with no arguments at all.
            CallArguments::Malformed(text) => {
                return Ok(ToolResult::text(texts::malformed_arguments(text)));
            }
        };
        let repeated = self.times_made(call);
        if repeated >= SAME_CALL {
            return Ok(ToolResult::text(texts::REPEATED_CALL));
        }
        for listener in self.agent.listeners() {
            listener
                .before_call(&self.facts, &call.name, &mut arguments)
                .await;
        }
        let mut result = self
            .dispatch(sequence, &call.name, arguments, methods)
            .await?;
        if repeated + 1 == SAME_CALL {
            result.text.push_str(texts::REPEATING_CALL);
        }
        for listener in self.agent.listeners() {
            listener
                .after_call(&self.facts, &call.name, &mut result.text)
                .await;
        }
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
            sequence,
            name,
            arguments: Arguments {
                positional: Vec::new(),
                named,
            },
            clocks: Vec::new(),
            threaded: false,
        };
        let limit = self.agent.settings().call_timeout;
        let answered = tokio::time::timeout(limit, self.record.call(request)).await;
        let result = match answered {
            Ok(Ok(Answered { outcome, replayed })) => {
                report.value = Some(json::to_json(&outcome.value));
                (report.micros, report.replayed) = (outcome.micros, replayed);
                self.result_of(outcome).await?
            }
            Ok(Err(Refusal::Call(CallError::ApprovalPending { .. }))) => ToolResult {
                suspend: true,
                ..ToolResult::text("")
            },
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
        let (texts, media): (Vec<Part>, Vec<Part>) = outcome
            .parts
            .into_iter()
            .partition(|part| matches!(part, Part::Text { .. }));
        let text = match (outcome.kind, outcome.text) {
            (Kind::MultimodalAgent, _) => crate::history::text_of(&texts),
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

    /// How often this turn has made the same call before.
    fn times_made(&self, call: &ToolCall) -> usize {
        let same = |made: &&ToolCall| made.name == call.name && made.arguments == call.arguments;
        // The call itself is in the newest message already.
        let times = made(&self.request.messages).filter(same).count();
        times.saturating_sub(1)
    }
}

/// What the model may call in this round. Of a large catalogue that is the search, and what it has
/// looked up in `messages`.
pub(crate) fn tool_specs(methods: &[Arc<dyn Method>], messages: &[ModelMessage]) -> Vec<ToolSpec> {
    let infos: Vec<&MethodInfo> = methods.iter().map(|method| method.info()).collect();
    let opened: Vec<&str> = made(messages)
        .filter(|call| call.name == DESCRIBE_METHOD)
        .filter_map(|call| match &call.arguments {
            CallArguments::Object(arguments) => arguments.get("name")?.as_str(),
            CallArguments::Malformed(_) => None,
        })
        .collect();
    let spec = |info: &MethodInfo| ToolSpec {
        name: info.name.clone(),
        description: info.doc.clone(),
        parameters: info.parameters.clone(),
    };
    declared(&infos, &opened).into_iter().map(spec).collect()
}

/// The calls of the assistant, newest message first.
fn made(messages: &[ModelMessage]) -> impl Iterator<Item = &ToolCall> {
    messages.iter().rev().flat_map(|message| match message {
        ModelMessage::Assistant { tool_calls, .. } => tool_calls.as_slice(),
        _ => &[],
    })
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
