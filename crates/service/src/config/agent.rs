//! What the operator decides about turns.

use std::{num::NonZero, time::Duration};

use callgate_agent::{Administrator, AgentSettings, Allowance, Budgets};
use serde::{Deserialize, Serialize};

use super::{Config, PlatformEntry, count};

#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Agent {
    pub rounds: NonZero<u32>,
    pub error_retries: u32,
    pub call_timeout_seconds: NonZero<u32>,
    pub depth: u8,
    pub observation_bytes: NonZero<u32>,
    pub history_tokens: NonZero<u32>,
    pub debounce_ms: u32,
    pub keep_requests: bool,
    pub administrators: Vec<Administrator>,
}

/// `None` is no limit.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Budget {
    pub turn_tokens: Option<NonZero<u64>>,
    pub turn_calls: Option<NonZero<u64>>,
    pub turn_seconds: Option<NonZero<u64>>,
    pub turn_money: Option<Amount>,
    pub conversation_tokens: Option<NonZero<u64>>,
    pub conversation_calls: Option<NonZero<u64>>,
    pub conversation_seconds: Option<NonZero<u64>>,
    pub conversation_money: Option<Amount>,
    pub user_day_tokens: Option<NonZero<u64>>,
    pub user_day_calls: Option<NonZero<u64>>,
    pub user_day_seconds: Option<NonZero<u64>>,
    pub user_day_money: Option<Amount>,
    pub session_day_tokens: Option<NonZero<u64>>,
    pub session_day_calls: Option<NonZero<u64>>,
    pub session_day_seconds: Option<NonZero<u64>>,
    pub session_day_money: Option<Amount>,
    pub day_tokens: Option<NonZero<u64>>,
    pub day_calls: Option<NonZero<u64>>,
    pub day_seconds: Option<NonZero<u64>>,
    pub day_money: Option<Amount>,
}

/// Money, in units of the currency of prices; more than nothing.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
#[serde(try_from = "f64")]
pub struct Amount(f64);

impl TryFrom<f64> for Amount {
    type Error = &'static str;

    fn try_from(number: f64) -> Result<Self, Self::Error> {
        if number.is_finite() && number > 0.0 {
            Ok(Amount(number))
        } else {
            Err("not more than 0")
        }
    }
}

impl Amount {
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "positive, and nobody has 2^64 millionths"
    )]
    fn millionths(self) -> u64 {
        (self.0 * 1e6).round() as u64
    }
}

impl Default for Agent {
    fn default() -> Self {
        Agent {
            rounds: count(30),
            error_retries: 3,
            call_timeout_seconds: count(120),
            depth: 5,
            observation_bytes: count(60_000),
            history_tokens: count(32_000),
            debounce_ms: 600,
            keep_requests: true,
            administrators: Vec::new(),
        }
    }
}

impl Config {
    pub fn turns(&self) -> AgentSettings {
        let (agent, budget) = (&self.agent, &self.budget);
        let size = |count: NonZero<u32>| usize::try_from(count.get()).unwrap_or(usize::MAX);
        AgentSettings {
            rounds: agent.rounds.get(),
            error_retries: agent.error_retries,
            call_timeout: Duration::from_secs(agent.call_timeout_seconds.get().into()),
            depth: agent.depth,
            observation: size(agent.observation_bytes),
            history_tokens: size(agent.history_tokens),
            debounce: Duration::from_millis(agent.debounce_ms.into()),
            budgets: Budgets {
                turn: allowance(
                    budget.turn_tokens,
                    budget.turn_calls,
                    budget.turn_seconds,
                    budget.turn_money,
                ),
                conversation: allowance(
                    budget.conversation_tokens,
                    budget.conversation_calls,
                    budget.conversation_seconds,
                    budget.conversation_money,
                ),
                user_day: allowance(
                    budget.user_day_tokens,
                    budget.user_day_calls,
                    budget.user_day_seconds,
                    budget.user_day_money,
                ),
                session_day: allowance(
                    budget.session_day_tokens,
                    budget.session_day_calls,
                    budget.session_day_seconds,
                    budget.session_day_money,
                ),
                day: allowance(
                    budget.day_tokens,
                    budget.day_calls,
                    budget.day_seconds,
                    budget.day_money,
                ),
            },
            answer: self.answer.clone(),
            pace: self.pace.clone(),
            limits: self.limit.clone(),
            administrators: agent.administrators.clone(),
            known_values: self.approval.known_values.clone(),
            keep_requests: agent.keep_requests,
            platforms: self.platform.iter().map(PlatformEntry::named).collect(),
        }
    }
}

fn allowance(
    tokens: Option<NonZero<u64>>,
    calls: Option<NonZero<u64>>,
    seconds: Option<NonZero<u64>>,
    money: Option<Amount>,
) -> Allowance {
    Allowance {
        tokens: tokens.map(NonZero::get),
        calls: calls.map(NonZero::get),
        seconds: seconds.map(NonZero::get),
        money: money.map(Amount::millionths),
    }
}
