//! What a model answers: events as they arrive, and the reply they add up to.

use serde::{Deserialize, Serialize};

use crate::{ModelMessage, ToolCall};

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
    ToolCall(ToolCall),
    Usage(Usage),
    Finished {
        reason: FinishReason,
    },
    /// The answer was cut off and is asked for again: forget all of it so far.
    Restarted,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Usage {
    pub input: u64,
    /// Of `input`, read from the provider's cache.
    pub cached: u64,
    pub output: u64,
    /// Of `output`, spent on thoughts.
    pub reasoning: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ModelReply {
    pub text: String,
    pub reasoning: String,
    pub tool_calls: Vec<ToolCall>,
    /// None where the provider did not say.
    pub usage: Option<Usage>,
    pub finish: FinishReason,
}

impl ModelReply {
    pub fn absorb(&mut self, event: ModelEvent) {
        match event {
            ModelEvent::TextDelta { text } => self.text.push_str(&text),
            ModelEvent::ReasoningDelta { text } => self.reasoning.push_str(&text),
            ModelEvent::ToolCall(call) => self.tool_calls.push(call),
            ModelEvent::Usage(usage) => self.usage = Some(usage),
            ModelEvent::Finished { reason } => self.finish = reason,
            ModelEvent::Restarted => *self = ModelReply::default(),
        }
    }
}

impl From<ModelReply> for ModelMessage {
    fn from(reply: ModelReply) -> Self {
        ModelMessage::Assistant {
            text: reply.text,
            reasoning: reply.reasoning,
            tool_calls: reply.tool_calls,
        }
    }
}
