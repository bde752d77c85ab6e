//! The words of a turn that every layer shares: which conversation, in which mode, and how it
//! ended.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// One history of a session. Ids are time-ordered, so that they sort by age.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    schemars::JsonSchema,
)]
#[schemars(with = "String", inline)]
pub struct ConversationId(pub Uuid);

impl ConversationId {
    pub fn fresh() -> Self {
        ConversationId(Uuid::now_v7())
    }
}

impl fmt::Display for ConversationId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for ConversationId {
    type Err = uuid::Error;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.parse().map(ConversationId)
    }
}

/// How a model's answers are read.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// As Python to run; an answer without code is a message.
    #[default]
    Code,
    /// As native tool calls.
    Tools,
}

/// Why a turn ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TurnStop {
    Answered,
    /// It ended as it should and had nothing to say.
    Silent,
    Limit,
    Budget,
    Cancelled,
    Error,
}
