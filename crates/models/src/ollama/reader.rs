//! What Ollama says, line by line.

use callgate_contract::{FinishReason, ModelError, Usage};
use serde_json::Value as Json;

use crate::{
    calls::CallPiece,
    decoder::{AnswerReader, present, text},
    draft::Draft,
};

#[derive(Debug)]
pub(crate) struct LineReader;

impl AnswerReader for LineReader {
    fn read(&mut self, line: &Json, draft: &mut Draft) -> Result<(), ModelError> {
        if let Some(message) = present(line, "message") {
            draft.think(text(message, "thinking"));
            draft.say(text(message, "content"));
            let calls = message.get("tool_calls").and_then(Json::as_array);
            for call in calls.into_iter().flatten() {
                let function = call.get("function").unwrap_or(&Json::Null);
                // Calls come whole, one after another.
                draft.calls.add(CallPiece {
                    id: text(call, "id"),
                    name: text(function, "name"),
                    arguments: function.get("arguments"),
                    ..CallPiece::default()
                });
            }
        }
        if line.get("done") == Some(&Json::Bool(true)) {
            draft.finish = Some(match text(line, "done_reason") {
                "" | "stop" => FinishReason::Stop,
                "length" => FinishReason::Length,
                other => FinishReason::Other(other.to_owned()),
            });
            let count = |key: &str| line.get(key).and_then(Json::as_u64);
            // A server that counts nothing says nothing.
            if count("prompt_eval_count").is_some() || count("eval_count").is_some() {
                draft.usage = Some(Usage {
                    input: count("prompt_eval_count").unwrap_or_default(),
                    output: count("eval_count").unwrap_or_default(),
                    ..Usage::default()
                });
            }
            draft.done = true;
        }
        Ok(())
    }

    fn is_answer(&self, whole: &Json) -> bool {
        whole.get("message").is_some()
    }
}
