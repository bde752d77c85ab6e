//! What a model is asked: messages, tools, options. All of it can be journaled.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

use super::Shared;
use crate::Part;

pub type Messages = Shared<ModelMessage>;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ModelRequest {
    pub messages: Messages,
    pub tools: Shared<ToolSpec>,
    #[serde(default)]
    pub options: ModelOptions,
    /// The most tokens that the answer may take, whatever the options say: what a budget has left.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_limit: Option<u32>,
}

impl ModelRequest {
    pub fn new(messages: Vec<ModelMessage>) -> Self {
        ModelRequest {
            messages: messages.into(),
            ..ModelRequest::default()
        }
    }
}

/// Media parts must be `data:` or `http(s):` addresses by now: no model can open a session's files.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "role", rename_all = "snake_case")]
pub enum ModelMessage {
    System {
        text: String,
    },
    User {
        parts: Vec<Part>,
    },
    Assistant {
        #[serde(default, skip_serializing_if = "String::is_empty")]
        text: String,
        /// Kept apart from the text: most providers refuse to read their own thoughts again.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        reasoning: String,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        tool_calls: Vec<ToolCall>,
        /// Images and sounds that the model made.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        media: Vec<Part>,
        /// What the provider attached and wants back unchanged: thoughts it signed or encrypted.
        /// Each wire reads only what a model of its own has left there.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        extra: Option<Json>,
    },
    /// The result of the call `tool_call_id` of the assistant message before.
    Tool {
        tool_call_id: String,
        parts: Vec<Part>,
    },
}

impl ModelMessage {
    pub fn system(text: impl Into<String>) -> Self {
        ModelMessage::System { text: text.into() }
    }

    pub fn user(text: impl Into<String>) -> Self {
        ModelMessage::User {
            parts: vec![Part::text(text)],
        }
    }

    pub fn assistant(text: impl Into<String>) -> Self {
        ModelMessage::Assistant {
            text: text.into(),
            reasoning: String::new(),
            tool_calls: Vec::new(),
            media: Vec::new(),
            extra: None,
        }
    }

    pub fn tool(tool_call_id: impl Into<String>, text: impl Into<String>) -> Self {
        ModelMessage::Tool {
            tool_call_id: tool_call_id.into(),
            parts: vec![Part::text(text)],
        }
    }
}

/// A method as a model sees it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ToolSpec {
    pub name: String,
    pub description: String,
    /// JSON Schema of an object.
    pub parameters: Json,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ToolCall {
    /// Unique within its reply, never empty.
    pub id: String,
    pub name: String,
    pub arguments: CallArguments,
    /// What the provider attached and wants back unchanged, such as a signature of its thoughts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extra: Option<Json>,
}

/// In JSON an object, or the text that should have been one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum CallArguments {
    Object(Map<String, Json>),
    /// Not a JSON object, as the model wrote it: the tool is not run and the model is told.
    Malformed(String),
}

/// What is not set is left to the provider, or to the model's configuration.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ModelOptions {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub top_p: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub presence_penalty: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frequency_penalty: Option<f64>,
    /// Of the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<i64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stop: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_choice: Option<ToolChoice>,
    /// May one reply hold several calls?
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parallel_tool_calls: Option<bool>,
    /// How much to think, in the words of OpenAI's chat completions: `none`, `minimal`, `low`,
    /// `medium`, `high` and whatever comes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning_effort: Option<String>,
    /// What the answer must look like, as OpenAI's chat completions say it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub response_format: Option<Json>,
    /// Further fields of the request's body, written last: they replace fields of that name,
    /// `null` removes one, and an object joins one that is there.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub extra: Map<String, Json>,
}

impl ModelOptions {
    /// These options, and `defaults` where they say nothing.
    #[must_use]
    pub fn or(self, defaults: &ModelOptions) -> Self {
        let mut extra = defaults.extra.clone();
        extra.extend(self.extra);
        ModelOptions {
            temperature: self.temperature.or(defaults.temperature),
            top_p: self.top_p.or(defaults.top_p),
            presence_penalty: self.presence_penalty.or(defaults.presence_penalty),
            frequency_penalty: self.frequency_penalty.or(defaults.frequency_penalty),
            max_tokens: self.max_tokens.or(defaults.max_tokens),
            seed: self.seed.or(defaults.seed),
            stop: if self.stop.is_empty() {
                defaults.stop.clone()
            } else {
                self.stop
            },
            tool_choice: self.tool_choice.or_else(|| defaults.tool_choice.clone()),
            parallel_tool_calls: self.parallel_tool_calls.or(defaults.parallel_tool_calls),
            reasoning_effort: self
                .reasoning_effort
                .or_else(|| defaults.reasoning_effort.clone()),
            response_format: self
                .response_format
                .or_else(|| defaults.response_format.clone()),
            extra,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ToolChoice {
    Auto,
    /// Answer in words.
    None,
    /// Call at least one tool.
    Required,
    /// Call this one.
    Tool(String),
}
