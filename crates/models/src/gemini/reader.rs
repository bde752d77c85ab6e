//! What Google's server says, chunk by chunk or in one piece: they have the same shape.

use callgate_contract::{FinishReason, ModelError, Part, Usage};
use serde_json::{Value as Json, json};

use crate::{
    calls::CallPiece,
    decoder::{AnswerReader, present, text},
    draft::Draft,
};

#[derive(Debug)]
pub(crate) struct Contents {
    model: String,
}

impl Contents {
    pub(crate) fn new(model: &str) -> Self {
        Contents {
            model: model.to_owned(),
        }
    }
}

impl AnswerReader for Contents {
    fn read(&mut self, chunk: &Json, draft: &mut Draft) -> Result<(), ModelError> {
        if let Some(usage) = present(chunk, "usageMetadata") {
            draft.usage = Some(used(usage));
        }
        if present(chunk, "promptFeedback")
            .is_some_and(|feedback| present(feedback, "blockReason").is_some())
        {
            draft.finish = Some(FinishReason::ContentFilter);
        }
        let Some(candidate) = chunk.pointer("/candidates/0") else {
            return Ok(());
        };
        let parts = candidate.pointer("/content/parts").and_then(Json::as_array);
        for part in parts.into_iter().flatten() {
            self.part(part, draft);
        }
        match text(candidate, "finishReason") {
            "" | "FINISH_REASON_UNSPECIFIED" => {}
            // The model slipped; asked again it mostly does not.
            reason @ "MALFORMED_FUNCTION_CALL" => {
                let words = text(candidate, "finishMessage");
                return Err(ModelError::Server {
                    status: 200,
                    retry_after: None,
                    message: format!("{reason} {words}").trim_end().to_owned(),
                });
            }
            reason => draft.finish = Some(finish(reason)),
        }
        Ok(())
    }

    fn is_answer(&self, whole: &Json) -> bool {
        whole.get("candidates").is_some() || whole.get("promptFeedback").is_some()
    }
}

impl Contents {
    fn part(&self, part: &Json, draft: &mut Draft) {
        let signature = part.get("thoughtSignature").and_then(Json::as_str);
        if let Some(call) = present(part, "functionCall") {
            let signed = |signature: &str| json!({"google": {"thought_signature": signature, "model": self.model}});
            draft.calls.add(CallPiece {
                index: None,
                id: text(call, "id"),
                name: text(call, "name"),
                arguments: call.get("args"),
                extra: signature.map(signed),
            });
            return;
        }
        if part.get("thought") == Some(&Json::Bool(true)) {
            draft.think(text(part, "text"));
            return;
        }
        draft.say(text(part, "text"));
        if let Some(part) = present(part, "inlineData").and_then(media) {
            draft.show(part);
        }
        if let Some(signature) = signature {
            draft.keep(json!(signature));
        }
    }
}

fn media(blob: &Json) -> Option<Part> {
    let kind = text(blob, "mimeType");
    let url = format!("data:{kind};base64,{}", text(blob, "data"));
    match kind.split('/').next()? {
        "image" => Some(Part::Image { url }),
        "audio" => Some(Part::Audio { url }),
        _ => None,
    }
}

fn finish(reason: &str) -> FinishReason {
    match reason {
        "STOP" => FinishReason::Stop,
        // Google has no such reason, imitations do.
        "FUNCTION_CALL" => FinishReason::ToolCalls,
        "MAX_TOKENS" => FinishReason::Length,
        "SAFETY"
        | "RECITATION"
        | "BLOCKLIST"
        | "PROHIBITED_CONTENT"
        | "SPII"
        | "IMAGE_SAFETY"
        | "IMAGE_PROHIBITED_CONTENT"
        | "IMAGE_RECITATION" => FinishReason::ContentFilter,
        other => FinishReason::Other(other.to_lowercase()),
    }
}

/// Thoughts are counted beside the answer here, not as part of it.
fn used(usage: &Json) -> Usage {
    let count = |key: &str| usage.get(key).and_then(Json::as_u64).unwrap_or_default();
    let thoughts = count("thoughtsTokenCount");
    Usage {
        input: count("promptTokenCount").saturating_add(count("toolUsePromptTokenCount")),
        cached: count("cachedContentTokenCount"),
        written: 0,
        output: count("candidatesTokenCount").saturating_add(thoughts),
        reasoning: thoughts,
        money: None,
    }
}
