//! What the operator decides for all turns.

use std::{collections::BTreeMap, time::Duration};

use callgate_contract::Limit;
use serde::{Deserialize, Serialize};

use crate::{AnswerWhen, Pace};

#[derive(Clone, Debug)]
pub struct AgentSettings {
    /// Model calls of one turn; then one more, without tools.
    pub rounds: u32,
    /// Answers whose code failed, beyond which the turn is given up.
    pub error_retries: u32,
    /// How long one tool call may take.
    pub call_timeout: Duration,
    /// Agents called by agents.
    pub depth: u8,
    /// Bytes of an `agent` method's result that go into the context; the rest goes into a file.
    pub observation: usize,
    /// Estimated tokens of history at which it is summarised.
    pub history_tokens: usize,
    /// Messages that arrive within this time are answered together, where the pace says nothing else.
    pub debounce: Duration,
    pub budgets: Budgets,
    /// How much people may ask for, besides what the store keeps.
    pub limits: Vec<Limit>,
    /// When to answer, where a session has no rule of its own.
    pub answer: AnswerWhen,
    /// How often and at which hours to speak unasked, the same way.
    pub pace: Pace,
    /// Whose word counts as the operator's.
    pub administrators: Vec<Administrator>,
    /// What a model may choose whatever it has read: recipients, paths, commands, URLs.
    pub known_values: Vec<String>,
    /// Keep each request in the journal: what a model was asked can be looked at, at the price of
    /// space.
    pub keep_requests: bool,
    /// The chats that are connected, by id: of which kind each is. Plugins are told.
    pub platforms: BTreeMap<String, String>,
}

impl Default for AgentSettings {
    fn default() -> Self {
        AgentSettings {
            rounds: 30,
            error_retries: 3,
            call_timeout: Duration::from_secs(120),
            depth: 5,
            observation: 60_000,
            history_tokens: 32_000,
            debounce: Duration::from_millis(600),
            budgets: Budgets::default(),
            limits: Vec::new(),
            answer: AnswerWhen::default(),
            pace: Pace::default(),
            administrators: Vec::new(),
            known_values: Vec::new(),
            keep_requests: true,
            platforms: BTreeMap::new(),
        }
    }
}

/// An account on one platform: elsewhere the same id is somebody else's. Written `platform:account`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Administrator {
    platform: String,
    account: String,
}

impl Administrator {
    pub fn new(platform: &str, account: &str) -> Self {
        Administrator {
            platform: platform.to_owned(),
            account: account.to_owned(),
        }
    }

    pub fn account(&self) -> &str {
        &self.account
    }

    pub(crate) fn is(&self, platform: &str, account: &str) -> bool {
        self.platform == platform && self.account == account
    }
}

#[derive(Debug, thiserror::Error)]
#[error("'{0}' is an account on no platform: write \"PLATFORM:ACCOUNT\", as in \"onebot:{0}\"")]
pub struct NoPlatform(String);

impl TryFrom<String> for Administrator {
    type Error = NoPlatform;

    fn try_from(text: String) -> Result<Self, NoPlatform> {
        match text.split_once(':') {
            Some((platform, account)) if !platform.is_empty() && !account.is_empty() => {
                Ok(Administrator::new(platform, account))
            }
            _ => Err(NoPlatform(text)),
        }
    }
}

impl From<Administrator> for String {
    fn from(one: Administrator) -> String {
        format!("{}:{}", one.platform, one.account)
    }
}

/// Limits by scope; `None` is none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Budgets {
    pub turn: Allowance,
    pub conversation: Allowance,
    /// Of one user, since midnight UTC.
    pub user_day: Allowance,
    /// Of one session, since midnight UTC.
    pub session_day: Allowance,
    /// Of everybody, since midnight UTC.
    pub day: Allowance,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Allowance {
    pub tokens: Option<u64>,
    pub calls: Option<u64>,
    pub seconds: Option<u64>,
    /// In millionths of the currency of prices.
    pub money: Option<u64>,
}
