//! [`Holds`]: what requests under way may take. It counts as spent until what they took is on
//! record, so that many at once do not go beyond a budget together.

use std::sync::Arc;

use callgate_store::{Counted, Scope};
use parking_lot::Mutex;
use tokio::sync::{Notify, futures::Notified};

use super::Spender;

/// Clones share it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Holds(Arc<HoldsState>);

#[derive(Debug, Default)]
struct HoldsState {
    /// A mutex, held for a look.
    entries: Mutex<Entries>,
    /// Held while budgets are asked: what is spent and what is held are read as one.
    admitting: tokio::sync::Mutex<()>,
    released: Notify,
}

#[derive(Debug, Default)]
struct Entries {
    last: u64,
    held: Vec<(u64, Spender, Held)>,
}

/// How much.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Held {
    pub(super) tokens: u64,
    pub(super) money: u64,
}

/// Lets go when dropped.
#[derive(Debug)]
pub(super) struct Hold {
    holds: Holds,
    id: u64,
}

impl Holds {
    pub(super) async fn admitting(&self) -> tokio::sync::MutexGuard<'_, ()> {
        self.0.admitting.lock().await
    }

    /// Resolves when a request has ended since it was enabled.
    pub(super) fn released(&self) -> Notified<'_> {
        self.0.released.notified()
    }

    /// Held by all whom the scope takes in.
    pub(super) fn sum(&self, scope: &Scope<'_>) -> Held {
        let entries = self.0.entries.lock();
        let within = entries.held.iter().filter(|(_, by, _)| covers(scope, by));
        within.fold(Held::default(), |sum, (_, _, held)| Held {
            tokens: sum.tokens.saturating_add(held.tokens),
            money: sum.money.saturating_add(held.money),
        })
    }

    pub(super) fn take(&self, spender: &Spender, held: Held) -> Hold {
        let mut entries = self.0.entries.lock();
        entries.last += 1;
        let id = entries.last;
        entries.held.push((id, spender.clone(), held));
        let holds = self.clone();
        Hold { holds, id }
    }
}

fn covers(scope: &Scope<'_>, spender: &Spender) -> bool {
    match scope {
        Scope::Turn(turn) => spender.payer.root == Some(*turn),
        Scope::Conversation(conversation) => spender.conversation == Some(*conversation),
        Scope::Of(Counted {
            principal,
            session,
            platform,
            ..
        }) => {
            principal.is_none_or(|it| spender.principal == *it)
                && session.is_none_or(|it| spender.session == *it)
                && platform.is_none_or(|it| spender.session.platform() == it)
        }
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        self.holds
            .0
            .entries
            .lock()
            .held
            .retain(|(id, _, _)| *id != self.id);
        self.holds.0.released.notify_waiters();
    }
}
