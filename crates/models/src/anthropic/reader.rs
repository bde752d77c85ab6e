//! What a messages server says, event by event or in one piece.

use callgate_contract::{FinishReason, ModelError, Usage};
use serde_json::{Value as Json, json};

use crate::{
    calls::CallPiece,
    decoder::{AnswerReader, present, text},
    draft::Draft,
};

#[derive(Debug, Default)]
pub(crate) struct Messages {
    /// The thoughts under way: their text and their signature.
    thinking: Option<(String, String)>,
    counts: UsageCounts,
}

/// Each event that gives a count gives the whole of it.
#[derive(Debug, Default)]
struct UsageCounts {
    plain: u64,
    cached: u64,
    written: u64,
    output: u64,
    reasoning: u64,
}

impl AnswerReader for Messages {
    fn read(&mut self, event: &Json, draft: &mut Draft) -> Result<(), ModelError> {
        let field = |name: &str| event.get(name).unwrap_or(&Json::Null);
        match text(event, "type") {
            "message_start" => self.used(field("message"), draft),
            "content_block_start" => {
                let index = event.get("index").and_then(Json::as_u64);
                self.begin(index, field("content_block"), draft);
            }
            "content_block_delta" => {
                let index = event.get("index").and_then(Json::as_u64);
                self.delta(index, field("delta"), draft);
            }
            "content_block_stop" => self.end(draft),
            "message_delta" => {
                self.used(event, draft);
                self.stop(field("delta"), draft);
            }
            "message_stop" => draft.done = true,
            "message" => self.whole(event, draft),
            _ => {}
        }
        Ok(())
    }

    fn is_answer(&self, whole: &Json) -> bool {
        text(whole, "type") == "message"
    }
}

impl Messages {
    fn begin(&mut self, index: Option<u64>, block: &Json, draft: &mut Draft) {
        match text(block, "type") {
            "text" => draft.say(text(block, "text")),
            "thinking" => {
                draft.think(text(block, "thinking"));
                let begun = (text(block, "thinking"), text(block, "signature"));
                self.thinking = Some((begun.0.to_owned(), begun.1.to_owned()));
            }
            "redacted_thinking" => draft.keep(block.clone()),
            "tool_use" => draft.calls.add(CallPiece {
                index,
                id: text(block, "id"),
                name: text(block, "name"),
                arguments: block.get("input"),
                extra: None,
            }),
            _ => {}
        }
    }

    fn delta(&mut self, index: Option<u64>, delta: &Json, draft: &mut Draft) {
        match text(delta, "type") {
            "text_delta" => draft.say(text(delta, "text")),
            "thinking_delta" => {
                let piece = text(delta, "thinking");
                draft.think(piece);
                if let Some((thoughts, _)) = &mut self.thinking {
                    thoughts.push_str(piece);
                }
            }
            "signature_delta" => {
                if let Some((_, signature)) = &mut self.thinking {
                    signature.push_str(text(delta, "signature"));
                }
            }
            "input_json_delta" => draft.calls.add(CallPiece {
                index,
                arguments: delta.get("partial_json"),
                ..CallPiece::default()
            }),
            _ => {}
        }
    }

    /// Thoughts without a signature are refused when they come back.
    fn end(&mut self, draft: &mut Draft) {
        if let Some((thinking, signature)) = self.thinking.take()
            && !signature.is_empty()
        {
            draft.keep(json!({
                "type": "thinking",
                "thinking": thinking,
                "signature": signature,
            }));
        }
    }

    fn stop(&mut self, message: &Json, draft: &mut Draft) {
        if let Some(reason) = message.get("stop_reason").and_then(Json::as_str) {
            draft.finish = Some(finish(reason));
        }
    }

    fn whole(&mut self, message: &Json, draft: &mut Draft) {
        let content = message.get("content").and_then(Json::as_array);
        for block in content.into_iter().flatten() {
            self.begin(None, block, draft);
            self.end(draft);
        }
        self.used(message, draft);
        self.stop(message, draft);
    }

    /// Tokens of the cache are counted beside the input here, not as part of it.
    fn used(&mut self, event: &Json, draft: &mut Draft) {
        let Some(usage) = present(event, "usage") else {
            return;
        };
        let counts = &mut self.counts;
        for (path, count) in [
            ("/input_tokens", &mut counts.plain),
            ("/cache_read_input_tokens", &mut counts.cached),
            ("/cache_creation_input_tokens", &mut counts.written),
            ("/output_tokens", &mut counts.output),
            (
                "/output_tokens_details/thinking_tokens",
                &mut counts.reasoning,
            ),
        ] {
            *count = usage.pointer(path).and_then(Json::as_u64).unwrap_or(*count);
        }
        let read = counts.plain.saturating_add(counts.cached);
        draft.usage = Some(Usage {
            input: read.saturating_add(counts.written),
            cached: counts.cached,
            written: counts.written,
            output: counts.output,
            reasoning: counts.reasoning,
            money: None,
        });
    }
}

fn finish(reason: &str) -> FinishReason {
    match reason {
        "end_turn" | "stop_sequence" => FinishReason::Stop,
        "max_tokens" | "model_context_window_exceeded" => FinishReason::Length,
        "tool_use" => FinishReason::ToolCalls,
        "refusal" => FinishReason::ContentFilter,
        other => FinishReason::Other(other.to_owned()),
    }
}
