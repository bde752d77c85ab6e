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

use crate::{Cancel, Principal, Role, SessionKey, Taint};

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

/// The thing whose calls are journaled together: a run, a turn, or one direct call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[schemars(with = "String", inline)]
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
    /// Who stands at the root of the chain, also through sub-agents, with the role they have there.
    pub principal: Principal,
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

#[derive(Clone, Debug)]
pub struct Grant {
    pub methods: Allowed,
    pub budget: Budget,
    pub expires: Option<Instant>,
    /// Others whose words are in what is done: it may do nothing that one of them may not.
    pub others: Arc<[Principal]>,
    /// Whether strangers' words are in it.
    pub taint: Taint,
}

impl Grant {
    /// Every exposed method, within the default budget.
    pub fn everything() -> Self {
        Grant {
            methods: Allowed::All,
            budget: Budget::new(10_000, 1_000),
            expires: None,
            others: Arc::default(),
            taint: Taint::default(),
        }
    }
}

/// What is left to spend, who spends it, and whether they have been told to stop. Clones share one
/// account, so that a sub-agent pays from its caller's.
#[derive(Clone, Debug)]
pub struct Budget {
    account: Arc<Account>,
    payer: Arc<Payer>,
    cancel: Cancel,
}

/// To whom a model's work is charged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Payer {
    /// The turn that somebody's message began; limits of a turn hold for all that comes of it.
    pub root: Option<JournalId>,
    /// The turn that asks, or in which a method does.
    pub turn: Option<JournalId>,
    /// Of the method that asks; none for a turn's own rounds.
    pub origin: Option<String>,
    /// Its name, where it is a single method.
    pub method: Option<String>,
}

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
        Budget {
            account: Arc::new(Account {
                calls: AtomicU64::new(calls),
                messages: AtomicU64::new(messages),
            }),
            payer: Arc::default(),
            cancel: Cancel::default(),
        }
    }

    pub fn take_call(&self) -> Result<(), BudgetSpent> {
        take(&self.account.calls).ok_or(BudgetSpent::Calls)
    }

    pub fn take_message(&self) -> Result<(), BudgetSpent> {
        take(&self.account.messages).ok_or(BudgetSpent::Messages)
    }

    pub fn payer(&self) -> &Payer {
        &self.payer
    }

    /// Stops whatever is done with this budget; the budgets of sub-agents stop with it.
    pub fn cancel(&self) -> &Cancel {
        &self.cancel
    }

    /// The same account, in the hands of a turn that `cancel` stops.
    #[must_use]
    pub fn of_turn(&self, payer: Payer, cancel: Cancel) -> Self {
        Budget {
            account: self.account.clone(),
            payer: Arc::new(payer),
            cancel,
        }
    }

    /// The same account, in the hands of a method.
    #[must_use]
    pub fn of_method(&self, origin: String, method: Option<String>) -> Self {
        let payer = Payer {
            origin: Some(origin),
            method,
            ..Payer::clone(&self.payer)
        };
        Budget {
            payer: Arc::new(payer),
            ..self.clone()
        }
    }
}

impl Caller {
    /// This caller, on whose behalf a method of `origin` now does something of its own.
    #[must_use]
    pub fn within(&self, origin: impl Into<String>, method: Option<&str>) -> Self {
        let budget = &self.grant.budget;
        Caller {
            grant: Arc::new(Grant {
                budget: budget.of_method(origin.into(), method.map(str::to_owned)),
                ..Grant::clone(&self.grant)
            }),
            ..self.clone()
        }
    }
}

fn take(counter: &AtomicU64) -> Option<()> {
    let spend = |left: u64| left.checked_sub(1);
    counter
        .fetch_update(Ordering::Relaxed, Ordering::Relaxed, spend)
        .ok()
        .map(drop)
}
