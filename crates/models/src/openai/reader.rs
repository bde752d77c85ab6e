//! What a chat-completions server says, chunk by chunk or in one piece: they have the same shape.

use callgate_contract::{FinishReason, ModelError, Part, Usage};
use serde_json::Value as Json;

use super::think::{SplitText, ThinkSplitter};
use crate::{
    calls::CallPiece,
    decoder::{AnswerReader, present, text},
    draft::Draft,
    failure,
};

#[derive(Debug, Default)]
pub(crate) struct ChatReader {
    think: ThinkSplitter,
}

impl AnswerReader for ChatReader {
    fn read(&mut self, chunk: &Json, draft: &mut Draft) -> Result<(), ModelError> {
        if let Some(usage) = present(chunk, "usage") {
            draft.usage = Some(used(usage));
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
            self.message(message, draft);
        }
        if let Some(reason) = choice.get("finish_reason").and_then(Json::as_str) {
            draft.finish = Some(finish(reason));
        }
        Ok(())
    }

    fn is_answer(&self, whole: &Json) -> bool {
        whole.get("choices").is_some()
    }

    fn flush(&mut self, draft: &mut Draft) {
        tell(self.think.end(), draft);
    }
}

impl ChatReader {
    fn message(&mut self, message: &Json, draft: &mut Draft) {
        // Some servers send the thoughts under both names.
        let thought =
            present(message, "reasoning_content").or_else(|| present(message, "reasoning"));
        draft.think(thought.and_then(Json::as_str).unwrap_or_default());
        for field in ["content", "refusal"] {
            match message.get(field) {
                Some(Json::String(text)) => tell(self.think.push(text), draft),
                Some(Json::Array(parts)) => {
                    for part in parts {
                        tell(self.think.push(text(part, "text")), draft);
                    }
                }
                _ => {}
            }
        }
        let list = |field: &str| message.get(field).and_then(Json::as_array);
        for call in list("tool_calls").into_iter().flatten() {
            draft.calls.add(piece(call));
        }
        // OpenRouter's way to give images.
        for image in list("images").into_iter().flatten() {
            let url = image.pointer("/image_url/url").and_then(Json::as_str);
            if let Some(url) = url {
                let url = url.to_owned();
                draft.show(Part::Image { url });
            }
        }
    }
}

fn piece(delta: &Json) -> CallPiece<'_> {
    let function = delta.get("function").unwrap_or(delta);
    CallPiece {
        index: delta.get("index").and_then(Json::as_u64),
        id: text(delta, "id"),
        name: text(function, "name"),
        arguments: function.get("arguments"),
        extra: present(delta, "extra_content").cloned(),
    }
}

fn tell(split: SplitText, draft: &mut Draft) {
    draft.think(&split.reasoning);
    draft.say(&split.text);
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
        written: count("/prompt_tokens_details/cache_write_tokens").unwrap_or_default(),
        output: count("/completion_tokens").unwrap_or_default(),
        reasoning: count("/completion_tokens_details/reasoning_tokens").unwrap_or_default(),
        money: charged(usage),
    }
}

/// OpenRouter says what it charges, in dollars.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn charged(usage: &Json) -> Option<u64> {
    let dollars = usage.get("cost").and_then(Json::as_f64)?;
    (dollars >= 0.0).then(|| (dollars * 1e6).ceil() as u64)
}
