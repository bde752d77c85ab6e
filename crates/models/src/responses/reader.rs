//! What a responses server says, event by event or in one piece.

use callgate_contract::{FinishReason, ModelError, Part, Usage};
use serde_json::{Map, Value as Json};

use crate::{
    calls::CallPiece,
    decoder::{AnswerReader, present, text},
    draft::Draft,
    failure,
};

#[derive(Debug, Default)]
pub(crate) struct Responses {
    /// Some of the thoughts has been told: the next part of them begins a paragraph.
    thought: bool,
}

impl AnswerReader for Responses {
    fn read(&mut self, event: &Json, draft: &mut Draft) -> Result<(), ModelError> {
        let item = || event.get("item").unwrap_or(&Json::Null);
        match text(event, "type") {
            "response.output_text.delta" | "response.refusal.delta" => {
                draft.say(text(event, "delta"));
            }
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                self.thought = true;
                draft.think(text(event, "delta"));
            }
            "response.reasoning_summary_part.added" if self.thought => draft.think("\n\n"),
            "response.output_item.done" if text(item(), "type") != "message" => {
                self.item(item(), draft);
            }
            "response.completed" | "response.incomplete" | "response.done" => {
                let response = event.get("response").unwrap_or(&Json::Null);
                self.response(response, draft)?;
                draft.done = true;
            }
            "response.failed" => {
                let error = event.pointer("/response/error").unwrap_or(&Json::Null);
                return Err(failure::reported(error));
            }
            "error" => return Err(failure::reported(event)),
            "" => self.response(event, draft)?,
            _ => {}
        }
        Ok(())
    }

    fn is_answer(&self, whole: &Json) -> bool {
        whole.get("output").is_some()
    }
}

impl Responses {
    /// The response as it ended. Its output has been told already, unless the server sent nothing
    /// else.
    fn response(&mut self, response: &Json, draft: &mut Draft) -> Result<(), ModelError> {
        if let Some(error) = present(response, "error") {
            return Err(failure::reported(error));
        }
        if draft.is_blank() {
            let output = response.get("output").and_then(Json::as_array);
            for item in output.into_iter().flatten() {
                self.item(item, draft);
            }
        }
        draft.usage = present(response, "usage").map(used);
        let incomplete = response.pointer("/incomplete_details/reason");
        draft.finish = Some(match incomplete.and_then(Json::as_str) {
            Some("max_output_tokens") => FinishReason::Length,
            Some("content_filter") => FinishReason::ContentFilter,
            Some(other) => FinishReason::Other(other.to_owned()),
            None => FinishReason::Stop,
        });
        Ok(())
    }

    fn item(&mut self, item: &Json, draft: &mut Draft) {
        match text(item, "type") {
            "function_call" => draft.calls.add(CallPiece {
                id: text(item, "call_id"),
                name: text(item, "name"),
                arguments: item.get("arguments"),
                ..CallPiece::default()
            }),
            // Without them the server would look for the item in its store, and find nothing.
            "reasoning" if present(item, "encrypted_content").is_some() => {
                draft.keep(returned(item));
            }
            "image_generation_call" => {
                let data = text(item, "result");
                if !data.is_empty() {
                    let format = item.get("output_format").and_then(Json::as_str);
                    let url = format!("data:image/{};base64,{data}", format.unwrap_or("png"));
                    draft.show(Part::Image { url });
                }
            }
            "message" => {
                let content = item.get("content").and_then(Json::as_array);
                for part in content.into_iter().flatten() {
                    draft.say(text(part, "text"));
                    draft.say(text(part, "refusal"));
                }
            }
            _ => {}
        }
    }
}

/// A reasoning item as it is sent back: what else it holds belongs to answers.
fn returned(item: &Json) -> Json {
    let field = |name: &str| Some((name.to_owned(), item.get(name)?.clone()));
    let fields = ["type", "id", "summary", "encrypted_content"];
    Json::Object(fields.into_iter().filter_map(field).collect::<Map<_, _>>())
}

fn used(usage: &Json) -> Usage {
    let count = |path: &str| {
        usage
            .pointer(path)
            .and_then(Json::as_u64)
            .unwrap_or_default()
    };
    Usage {
        input: count("/input_tokens"),
        cached: count("/input_tokens_details/cached_tokens"),
        written: count("/input_tokens_details/cache_write_tokens"),
        output: count("/output_tokens"),
        reasoning: count("/output_tokens_details/reasoning_tokens"),
        money: None,
    }
}
