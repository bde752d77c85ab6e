//! Bytes of an answer to events, as they arrive. Pure: it neither reads nor waits. A stream that
//! ends before its finish reason is an error, never a short answer.

use callgate_contract::{FinishReason, ModelError, ModelEvent, Usage};
use serde_json::Value as Json;

use super::{
    calls::Calls,
    failure,
    sse::{Line, Lines, line},
    think::{Split, Think},
};

/// No honest answer is longer; a server that never stops must not fill the memory.
const LONGEST: usize = 64 << 20;

#[derive(Debug, Default)]
pub struct Decoder {
    body: Body,
    received: usize,
    /// Data of an event that goes on in the next line.
    held: String,
    think: Think,
    calls: Calls,
    usage: Option<Usage>,
    finish: Option<FinishReason>,
    done: bool,
}

#[derive(Debug)]
enum Body {
    /// Nothing but blanks so far.
    Unknown(Vec<u8>),
    Stream(Lines),
    /// Not a stream, though one was asked for: an answer in one piece, or no answer at all.
    Whole(Vec<u8>),
}

impl Default for Body {
    fn default() -> Self {
        Body::Unknown(Vec::new())
    }
}

impl Decoder {
    pub fn push(&mut self, bytes: &[u8]) -> Result<Vec<ModelEvent>, ModelError> {
        self.received += bytes.len();
        if self.received > LONGEST {
            let message = format!("an answer of more than {} MB", LONGEST >> 20);
            return Err(ModelError::Malformed { message });
        }
        match &mut self.body {
            Body::Whole(body) => body.extend_from_slice(bytes),
            Body::Stream(lines) => lines.push(bytes),
            Body::Unknown(begun) => {
                begun.extend_from_slice(bytes);
                self.body = recognise(std::mem::take(begun));
            }
        }
        let mut events = Vec::new();
        while let Body::Stream(lines) = &mut self.body
            && let Some(text) = lines.next()
        {
            self.line(&text, &mut events)?;
        }
        Ok(events)
    }

    /// The last events, once the server has nothing more to say.
    pub fn end(&mut self) -> Result<Vec<ModelEvent>, ModelError> {
        let mut events = Vec::new();
        match &mut self.body {
            Body::Unknown(_) => {}
            Body::Whole(body) => {
                let body = std::mem::take(body);
                self.whole(&String::from_utf8_lossy(&body), &mut events)?;
            }
            Body::Stream(lines) => {
                let rest = lines.rest();
                self.line(&rest, &mut events)?;
            }
        }
        if !self.is_complete() {
            return Err(ModelError::CutStream);
        }
        let rest = self.think.end();
        told(rest, &mut events);
        let called = !self.calls.is_empty();
        events.extend(self.calls.take().into_iter().map(ModelEvent::ToolCall));
        events.extend(self.usage.map(ModelEvent::Usage));
        let reason = match self.finish.take().unwrap_or_default() {
            // Some servers say "stop" after tool calls too.
            FinishReason::Stop if called => FinishReason::ToolCalls,
            reason => reason,
        };
        events.push(ModelEvent::Finished { reason });
        Ok(events)
    }

    /// The answer has its finish reason; only its usage may be missing.
    pub fn is_complete(&self) -> bool {
        self.done || self.finish.is_some()
    }

    /// The server has said that nothing follows.
    pub fn is_done(&self) -> bool {
        self.done
    }

    fn line(&mut self, text: &str, events: &mut Vec<ModelEvent>) -> Result<(), ModelError> {
        match line(text) {
            Line::Other => Ok(()),
            Line::Data(data) if data.trim() == "[DONE]" => {
                self.done = true;
                Ok(())
            }
            Line::Data(data) => {
                self.held.push_str(data);
                // Not whole yet: data may go on in another line until the event ends.
                let Ok(chunk) = serde_json::from_str(&self.held) else {
                    self.held.push('\n');
                    return Ok(());
                };
                self.held.clear();
                self.chunk(&chunk, events)
            }
            Line::End if self.held.trim().is_empty() => {
                self.held.clear();
                Ok(())
            }
            Line::End => Err(failure::no_json(&std::mem::take(&mut self.held))),
        }
    }

    fn whole(&mut self, body: &str, events: &mut Vec<ModelEvent>) -> Result<(), ModelError> {
        let answer: Json = match serde_json::from_str(body) {
            Ok(answer) => answer,
            Err(error) if error.is_eof() => return Err(ModelError::CutStream),
            Err(_) => return Err(failure::no_json(body)),
        };
        if answer.get("choices").is_none() && answer.get("error").is_none() {
            return Err(failure::no_json(body));
        }
        self.done = true;
        self.chunk(&answer, events)
    }

    fn chunk(&mut self, chunk: &Json, events: &mut Vec<ModelEvent>) -> Result<(), ModelError> {
        if let Some(error) = present(chunk, "error") {
            return Err(failure::reported(error));
        }
        if let Some(usage) = present(chunk, "usage") {
            self.usage = Some(used(usage));
        }
        let choices = chunk.get("choices").and_then(Json::as_array);
        let first =
            |choice: &&Json| matches!(choice.get("index").and_then(Json::as_u64), None | Some(0));
        let Some(choice) = choices.and_then(|choices| choices.iter().find(first)) else {
            return Ok(());
        };
        if let Some(error) = present(choice, "error") {
            return Err(failure::reported(error));
        }
        if let Some(message) = present(choice, "delta").or_else(|| present(choice, "message")) {
            self.message(message, events);
        }
        if let Some(reason) = choice.get("finish_reason").and_then(Json::as_str) {
            self.finish = Some(finish(reason));
        }
        Ok(())
    }

    /// A message or a piece of one: they have the same shape.
    fn message(&mut self, message: &Json, events: &mut Vec<ModelEvent>) {
        // Some servers send the thoughts under both names.
        let thought =
            present(message, "reasoning_content").or_else(|| present(message, "reasoning"));
        if let Some(thought) = thought.and_then(Json::as_str) {
            let reasoning = thought.to_owned();
            told(
                Split {
                    reasoning,
                    ..Split::default()
                },
                events,
            );
        }
        for field in ["content", "refusal"] {
            match message.get(field) {
                Some(Json::String(text)) => told(self.think.push(text), events),
                Some(Json::Array(parts)) => {
                    for part in parts {
                        let text = part.get("text").and_then(Json::as_str);
                        told(self.think.push(text.unwrap_or_default()), events);
                    }
                }
                _ => {}
            }
        }
        let calls = message.get("tool_calls").and_then(Json::as_array);
        for call in calls.into_iter().flatten() {
            self.calls.add(call);
        }
    }

    /// Events of an assistant message that was never sent: a script's line.
    pub(crate) fn events_of(message: &Json) -> Result<Vec<ModelEvent>, ModelError> {
        let mut decoder = Decoder {
            done: true,
            ..Decoder::default()
        };
        let mut events = Vec::new();
        decoder.message(message, &mut events);
        events.extend(decoder.end()?);
        Ok(events)
    }
}

fn recognise(begun: Vec<u8>) -> Body {
    const MARK: &[u8] = b"\xef\xbb\xbf";
    let text = begun
        .strip_prefix(MARK)
        .unwrap_or(&begun)
        .trim_ascii_start();
    match text.first() {
        // A byte order mark may be cut by a chunk's border.
        None => Body::Unknown(begun),
        Some(_) if MARK.starts_with(text) => Body::Unknown(begun),
        Some(b'{' | b'<' | b'[') => Body::Whole(text.to_vec()),
        Some(_) => {
            let mut lines = Lines::default();
            lines.push(text);
            Body::Stream(lines)
        }
    }
}

fn told(split: Split, events: &mut Vec<ModelEvent>) {
    if !split.reasoning.is_empty() {
        events.push(ModelEvent::ReasoningDelta {
            text: split.reasoning,
        });
    }
    if !split.text.is_empty() {
        events.push(ModelEvent::TextDelta { text: split.text });
    }
}

fn present<'a>(object: &'a Json, key: &str) -> Option<&'a Json> {
    object.get(key).filter(|value| !value.is_null())
}

fn finish(reason: &str) -> FinishReason {
    match reason {
        "stop" | "end_turn" | "eos" => FinishReason::Stop,
        "length" | "max_tokens" => FinishReason::Length,
        "tool_calls" | "function_call" | "tool_use" => FinishReason::ToolCalls,
        "content_filter" => FinishReason::ContentFilter,
        other => FinishReason::Other(other.to_owned()),
    }
}

fn used(usage: &Json) -> Usage {
    let count = |path: &str| usage.pointer(path).and_then(Json::as_u64);
    let cached =
        count("/prompt_tokens_details/cached_tokens").or_else(|| count("/prompt_cache_hit_tokens"));
    Usage {
        input: count("/prompt_tokens").unwrap_or_default(),
        cached: cached.unwrap_or_default(),
        output: count("/completion_tokens").unwrap_or_default(),
        reasoning: count("/completion_tokens_details/reasoning_tokens").unwrap_or_default(),
    }
}
