//! [`Sessions`]: the sessions that this process answers; for each the state that decides, and those who
//! wait for what it decides.

mod claim;
mod drive;
pub(crate) mod event;
mod request;
pub(crate) mod state;
mod wishes;

pub(crate) use claim::ClaimGuard;

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use callgate_contract::{Cancel, Principal, SessionKey};
use callgate_store::Lease;
use parking_lot::Mutex;
use tokio::sync::{OnceCell, Semaphore, oneshot};

use self::{
    event::{SessionAction, SessionEvent, Ticket},
    request::Request,
    state::SessionState,
    wishes::Wishes,
};
use crate::{
    Agent, Recovered, drain::UnderWay, recall::Histories, spending::Holds, when::JudgeHealth,
};

/// Sessions that are remembered before those nobody waits for are looked for.
const MANY: usize = 256;
/// Interrupted sessions whose work is resumed side by side: bounds what begins at once when the store is
/// back, and one whose turn takes long holds up few others.
const SIDE_BY_SIDE: usize = 16;

pub struct Sessions {
    /// A mutex held for a map lookup only.
    live: Mutex<HashMap<SessionKey, Arc<LiveSession>>>,
    pub(crate) wishes: Wishes,
    pub(crate) histories: Histories,
    pub(crate) under_way: UnderWay,
    pub(crate) holds: Holds,
    pub(crate) judge: JudgeHealth,
    /// Held while it is found out whether somebody has heard that they are limited, and they are told.
    pub(crate) refusing: tokio::sync::Mutex<()>,
    resuming: Semaphore,
    /// Sessions in which an earlier process left a turn; known once somebody has looked. A mutex held
    /// for a look.
    left: OnceCell<Mutex<HashSet<SessionKey>>>,
}

impl Default for Sessions {
    fn default() -> Self {
        Sessions {
            live: Mutex::default(),
            wishes: Wishes::default(),
            histories: Histories::default(),
            under_way: UnderWay::default(),
            holds: Holds::default(),
            judge: JudgeHealth::default(),
            refusing: tokio::sync::Mutex::default(),
            resuming: Semaphore::new(SIDE_BY_SIDE),
            left: OnceCell::new(),
        }
    }
}

pub(crate) struct LiveSession {
    pub(crate) key: SessionKey,
    /// A mutex held for one step.
    core: Mutex<Core>,
    /// A mutex held for a look.
    running: Mutex<Option<Running>>,
}

/// The state, and what its decisions are about.
#[derive(Default)]
struct Core {
    state: SessionState,
    requests: HashMap<u64, Request>,
    last_ticket: u64,
    lease: Option<Lease>,
    recovered: Recovered,
    /// Told what was recovered when everything that was left has come to its end.
    settled: Vec<oneshot::Sender<Recovered>>,
    /// Told when the delivery that runs now is over, and when the one after it is.
    delivered: (Vec<oneshot::Sender<()>>, Vec<oneshot::Sender<()>>),
}

/// The turn that runs now.
#[derive(Clone)]
struct Running {
    /// So that `/stop` reaches it.
    cancel: Cancel,
    /// Whose further messages join it.
    principal: Principal,
}

impl LiveSession {
    fn new(key: &SessionKey) -> Self {
        LiveSession {
            key: key.clone(),
            core: Mutex::default(),
            running: Mutex::default(),
        }
    }

    fn step(&self, event: SessionEvent) -> Vec<SessionAction> {
        let mut core = self.core.lock();
        if let SessionEvent::Delivered(_) = event {
            let (now, after) = &mut core.delivered;
            for waiting in std::mem::replace(now, std::mem::take(after)) {
                // Whoever waited may have left.
                let _ = waiting.send(());
            }
        }
        core.state.step(event)
    }

    /// While its turns are ours.
    pub(crate) fn lease(&self) -> Option<Lease> {
        self.core.lock().lease.clone()
    }

    /// Puts the request in the queue.
    fn want(&self, request: Request) -> Vec<SessionAction> {
        let mut core = self.core.lock();
        core.last_ticket += 1;
        let ticket = core.last_ticket;
        core.requests.insert(ticket, request);
        core.state.step(SessionEvent::TurnWanted(Ticket(ticket)))
    }

    /// While the guard lives, `/stop` reaches the turn and messages of its user join it.
    pub(crate) fn runs(&self, cancel: &Cancel, principal: &Principal) -> RunningTurn<'_> {
        *self.running.lock() = Some(Running {
            cancel: cancel.clone(),
            principal: principal.clone(),
        });
        RunningTurn(self)
    }
}

/// Over when it is dropped, also where nobody waited for its end.
pub(crate) struct RunningTurn<'a>(&'a LiveSession);

impl Drop for RunningTurn<'_> {
    fn drop(&mut self) {
        *self.0.running.lock() = None;
    }
}

impl Sessions {
    pub(crate) fn of(&self, session: &SessionKey) -> Arc<LiveSession> {
        let mut live = self.live.lock();
        // Sessions nobody waits for are forgotten, so that the map does not grow for ever; only when
        // it would have to grow, so that a look into it stays a look.
        if live.len() >= MANY && live.len() == live.capacity() {
            live.retain(|key, state| key == session || Arc::strong_count(state) > 1);
        }
        let entry = live.entry(session.clone());
        entry
            .or_insert_with(|| Arc::new(LiveSession::new(session)))
            .clone()
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
