//! What a model answers: events as they arrive, and the reply they add up to.

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::{ModelMessage, Part, ToolCall};

/// A stream that ends without an error ends with `Finished`, and nothing follows it. Tool calls
/// come whole, just before the end, so none is ever seen of an answer that was cut off.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum ModelEvent {
    TextDelta {
        text: String,
    },
    ReasoningDelta {
        text: String,
    },
    /// An image or a sound that the model made, as a `data:` address.
    Media(Part),
    ToolCall(ToolCall),
    /// What the provider attached to the reply and wants back unchanged with it.
    Extra {
        extra: Json,
    },
    Usage(Usage),
    Finished {
        reason: FinishReason,
    },
    /// The answer was cut off and is asked for again with the next event: forget all of it so far.
    /// Whoever drops the stream now causes no second request.
    Restarted,
    /// Not the model that was asked gives this answer, but this one, its replacement.
    Replaced {
        model: String,
    },
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FinishReason {
    #[default]
    Stop,
    ToolCalls,
    /// The limit of tokens cut the answer short.
    Length,
    ContentFilter,
    Other(String),
}

/// Tokens.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(default)]
pub struct Usage {
    pub input: u64,
    /// Of `input`, read from the provider's cache.
    pub cached: u64,
    /// Of `input`, written into the provider's cache, which some charge for.
    #[serde(skip_serializing_if = "is_zero")]
    pub written: u64,
    pub output: u64,
    /// Of `output`, spent on thoughts.
    pub reasoning: u64,
    /// What they cost, in millionths of the currency of prices. None where no price is known: that
    /// is not the same as nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub money: Option<u64>,
}

impl Usage {
    /// Of two requests together. A price unknown for one of them is unknown for both.
    #[must_use]
    pub fn plus(self, other: Usage) -> Usage {
        let money = self.money.zip(other.money);
        Usage {
            input: self.input.saturating_add(other.input),
            cached: self.cached.saturating_add(other.cached),
            written: self.written.saturating_add(other.written),
            output: self.output.saturating_add(other.output),
            reasoning: self.reasoning.saturating_add(other.reasoning),
            money: money.map(|(one, other)| one.saturating_add(other)),
        }
    }
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ModelReply {
    pub text: String,
    pub reasoning: String,
    pub tool_calls: Vec<ToolCall>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub media: Vec<Part>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extra: Option<Json>,
    /// The model that answered, where it is not the one that was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// None where the provider did not say.
    pub usage: Option<Usage>,
    pub finish: FinishReason,
}

impl ModelReply {
    pub fn absorb(&mut self, event: ModelEvent) {
        match event {
            ModelEvent::TextDelta { text } => self.text.push_str(&text),
            ModelEvent::ReasoningDelta { text } => self.reasoning.push_str(&text),
            ModelEvent::Media(part) => self.media.push(part),
            ModelEvent::Extra { extra } => self.extra = Some(extra),
            ModelEvent::Replaced { model } => self.model = Some(model),
            ModelEvent::ToolCall(call) => self.tool_calls.push(call),
            ModelEvent::Usage(usage) => self.usage = Some(usage),
            ModelEvent::Finished { reason } => self.finish = reason,
            ModelEvent::Restarted => {
                let model = self.model.take();
                *self = ModelReply {
                    model,
                    ..ModelReply::default()
                };
            }
        }
    }
}

impl From<ModelReply> for ModelMessage {
    fn from(reply: ModelReply) -> Self {
        ModelMessage::Assistant {
            text: reply.text,
            reasoning: reply.reasoning,
            tool_calls: reply.tool_calls,
            media: reply.media,
            extra: reply.extra,
        }
    }
}
