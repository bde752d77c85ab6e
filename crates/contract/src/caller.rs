//! Who calls, on whose behalf, and what they may use. The original user's rights travel with
//! every nested call; nothing here can widen them.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Instant,
};

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::SessionKey;

/// The side a call comes from; a method's [`crate::Exposure`] admits or refuses it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Surface {
    /// Code the AI wrote, running in the sandbox.
    Code,
    /// A model's tool call.
    ToolCall,
    /// A remote client: Socket.IO, HTTP, MCP, command line.
    Remote,
    /// Plugin code on the trusted side.
    Plugin,
}

#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    User,
    Operator,
}

/// The thing whose calls are journaled together: a run, a turn, or one direct call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct JournalId(pub Uuid);

impl JournalId {
    /// Of calls that nobody will look up or repeat: pure ones leave no record under it, and others
    /// must not be made under it.
    pub const NONE: JournalId = JournalId(Uuid::nil());

    /// Time-ordered, so that journals sort by age.
    pub fn fresh() -> Self {
        JournalId(Uuid::now_v7())
    }
}

#[derive(Clone, Debug)]
pub struct Caller {
    pub session: SessionKey,
    /// The person at the root of the chain, also through sub-agents.
    pub user: String,
    pub role: Role,
    pub surface: Surface,
    pub journal: JournalId,
    /// How many agents lie between the user and this call.
    pub depth: u8,
    pub grant: Arc<Grant>,
}

/// Which methods a grant holds, by bare name or `origin/name`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Allowed {
    All,
    Only(Vec<String>),
}

#[derive(Debug)]
pub struct Grant {
    pub methods: Allowed,
    pub budget: Budget,
    pub expires: Option<Instant>,
}

impl Grant {
    /// Every exposed method, within the default budget.
    pub fn everything() -> Self {
        Grant {
            methods: Allowed::All,
            budget: Budget::new(10_000, 1_000),
            expires: None,
        }
    }
}

/// What is left to spend. Clones share one account, so that a sub-agent pays from its caller's.
#[derive(Clone, Debug)]
pub struct Budget(Arc<Account>);

/// Counters only fall. Calls of one grant may run concurrently: hence atomics.
#[derive(Debug)]
struct Account {
    calls: AtomicU64,
    messages: AtomicU64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BudgetSpent {
    #[error("the budget of calls is used up")]
    Calls,
    #[error("the budget of messages is used up")]
    Messages,
}

impl Budget {
    pub fn new(calls: u64, messages: u64) -> Self {
        Budget(Arc::new(Account {
            calls: AtomicU64::new(calls),
            messages: AtomicU64::new(messages),
        }))
    }

    pub fn take_call(&self) -> Result<(), BudgetSpent> {
        take(&self.0.calls).ok_or(BudgetSpent::Calls)
    }

    pub fn take_message(&self) -> Result<(), BudgetSpent> {
        take(&self.0.messages).ok_or(BudgetSpent::Messages)
    }
}

fn take(counter: &AtomicU64) -> Option<()> {
    let spend = |left: u64| left.checked_sub(1);
    counter
        .fetch_update(Ordering::Relaxed, Ordering::Relaxed, spend)
        .ok()
        .map(drop)
}
