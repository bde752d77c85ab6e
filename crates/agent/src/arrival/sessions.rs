//! [`Sessions`]: the sessions that are being answered by this process, what runs in each, and what is
//! wanted of messages that listeners still have.

use std::{collections::HashMap, sync::Arc};

use callgate_contract::{Cancel, Principal, SessionKey};
use callgate_store::LogRow;
use parking_lot::Mutex;

use super::Override;
use crate::{
    Agent, Watch, drain::UnderWay, in_flight::InFlight, recall::Histories, spending::Holds,
};

/// The sessions that are being answered.
#[derive(Default)]
pub struct Sessions {
    /// A mutex held for a map lookup only; the lock of a session is inside.
    answering: Mutex<HashMap<SessionKey, Arc<Answering>>>,
    /// By row, while a message is offered to listeners: how its sender wants it answered. A mutex
    /// held for a look.
    wishes: Mutex<HashMap<i64, Wished>>,
    /// By row, while a listener's turn answers it: a lock held as long. A mutex held for a look.
    asked_for: Mutex<HashMap<i64, Arc<tokio::sync::Mutex<()>>>>,
    pub(crate) histories: Histories,
    pub(crate) under_way: UnderWay,
    pub(crate) holds: Holds,
    pub(crate) in_flight: InFlight,
}

/// The session of the row, and what its sender wants.
type Wished = (SessionKey, Override, Watch);

/// Sessions that are remembered before those nobody waits for are looked for.
const MANY: usize = 256;

/// One session's turn and delivery. The async locks are what makes each one at a time: held across
/// a whole turn, and across a whole delivery, which would otherwise send a message twice.
#[derive(Default)]
pub(crate) struct Answering {
    pub(crate) lock: tokio::sync::Mutex<()>,
    pub(crate) delivery: tokio::sync::Mutex<()>,
    running: Mutex<Option<Running>>,
}

/// The turn that runs now.
#[derive(Clone)]
struct Running {
    /// So that `/stop` reaches it.
    cancel: Cancel,
    /// Whose further messages join it.
    principal: Principal,
}

impl Answering {
    /// While the guard lives, `/stop` reaches the turn and messages of its user join it.
    pub(crate) fn runs(&self, cancel: &Cancel, principal: &Principal) -> RunningTurn<'_> {
        self.set(Some(Running {
            cancel: cancel.clone(),
            principal: principal.clone(),
        }));
        RunningTurn(self)
    }

    fn set(&self, running: Option<Running>) {
        *self.running.lock() = running;
    }
}

/// Over when it is dropped, also where nobody waited for its end.
pub(crate) struct RunningTurn<'a>(&'a Answering);

impl Drop for RunningTurn<'_> {
    fn drop(&mut self) {
        self.0.set(None);
    }
}

/// Forgotten when the listeners have decided.
pub(super) struct Wish<'a>(&'a Sessions, i64);

impl Drop for Wish<'_> {
    fn drop(&mut self) {
        self.0.wishes.lock().remove(&self.1);
    }
}

impl Sessions {
    pub(super) fn wish(&self, row: &LogRow, overrule: &Override, watch: &Watch) -> Wish<'_> {
        let wished = (row.session.clone(), overrule.clone(), watch.clone());
        self.wishes.lock().insert(row.id, wished);
        Wish(self, row.id)
    }

    /// How the message of this row is to be answered, where a listener asks for its turn; `None` of a
    /// row of another session.
    pub(crate) fn wished(&self, session: &SessionKey, row: i64) -> Option<(Override, Watch)> {
        let wishes = self.wishes.lock();
        let (of, overrule, watch) = wishes.get(&row)?;
        (of == session).then(|| (overrule.clone(), watch.clone()))
    }

    /// While the guard lives, the row is being answered for a listener.
    pub(crate) async fn answers(&self, row: i64) -> tokio::sync::OwnedMutexGuard<()> {
        let lock = {
            let mut asked_for = self.asked_for.lock();
            asked_for.retain(|_, lock| lock.try_lock().is_err());
            asked_for.entry(row).or_default().clone()
        };
        lock.lock_owned().await
    }

    /// Returns when no listener's turn answers the row any more: the turn outlives a listener that
    /// has ended over it.
    pub(super) async fn answered(&self, row: i64) {
        let lock = self.asked_for.lock().get(&row).cloned();
        if let Some(lock) = lock {
            drop(lock.lock().await);
        }
    }

    pub(crate) fn of(&self, session: &SessionKey) -> Arc<Answering> {
        let mut answering = self.answering.lock();
        // Sessions nobody waits for are forgotten, so that the map does not grow for ever; only when
        // it would have to grow, so that a look into it stays a look.
        if answering.len() >= MANY && answering.len() == answering.capacity() {
            answering.retain(|key, state| key == session || Arc::strong_count(state) > 1);
        }
        answering.entry(session.clone()).or_default().clone()
    }

    /// The session's turn, if one runs.
    fn running(&self, session: &SessionKey) -> Option<Running> {
        self.of(session).running.lock().clone()
    }
}

impl Agent {
    /// Stops the session's turn; false if none runs.
    pub fn stop(&self, session: &SessionKey) -> bool {
        let running = self.sessions().running(session);
        running.inspect(|turn| turn.cancel.cancel()).is_some()
    }

    /// Does a turn run in the session now?
    pub fn is_answering(&self, session: &SessionKey) -> bool {
        self.sessions().running(session).is_some()
    }

    /// Does a turn of this user run there? Whoever is part of it must not wait for it.
    pub(crate) fn is_answering_to(&self, session: &SessionKey, principal: &Principal) -> bool {
        let running = self.sessions().running(session);
        running.is_some_and(|turn| turn.principal == *principal)
    }
}
