//! [`Drafts`]: the beginning of an answer, shown in a private chat while the rest is written. Telegram takes
//! it away with the next message or after half a minute. One that came after its message would stand there
//! as if more were to come, so none is shown then.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicI64, Ordering},
    },
    time::{Duration, Instant},
};

use callgate_contract::SessionKey;
use parking_lot::Mutex;

/// After a message no draft is shown for so long: what is still on its way was of it.
const QUIET: Duration = Duration::from_secs(2);
const MOST_CHATS: usize = 1_000;

#[derive(Default)]
pub(super) struct Drafts {
    /// A mutex, held for a look.
    chats: Mutex<HashMap<SessionKey, Arc<ChatDraft>>>,
    last_id: AtomicI64,
    /// The server does not have them.
    are_unknown: AtomicBool,
}

#[derive(Default)]
pub(super) struct ChatDraft {
    /// Held while a draft or a message is on its way: the draft goes first. An async mutex, since that is a
    /// request.
    pub(super) going: tokio::sync::Mutex<State>,
}

#[derive(Default)]
pub(super) struct State {
    /// Of the answer that is being shown.
    id: Option<i64>,
    delivered_at: Option<Instant>,
}

impl Drafts {
    pub(super) fn of(&self, session: &SessionKey) -> Arc<ChatDraft> {
        let mut chats = self.chats.lock();
        if chats.len() >= MOST_CHATS {
            chats.retain(|_, chat| Arc::strong_count(chat) > 1);
        }
        chats.entry(session.clone()).or_default().clone()
    }

    /// A message is on its way, or was just now.
    pub(super) fn is_quiet(&self, session: &SessionKey) -> bool {
        let chat = self.of(session);
        chat.going.try_lock().map_or(true, |state| state.is_quiet())
    }

    pub(super) fn are_unknown(&self) -> bool {
        self.are_unknown.load(Ordering::Relaxed)
    }

    pub(super) fn forget(&self) {
        self.are_unknown.store(true, Ordering::Relaxed);
    }

    /// What the answer's draft is called; `None` if none may be shown now.
    pub(super) fn id(&self, state: &mut State) -> Option<i64> {
        if state.is_quiet() {
            return None;
        }
        let next = || self.last_id.fetch_add(1, Ordering::Relaxed) + 1;
        Some(*state.id.get_or_insert_with(next))
    }
}

impl State {
    fn is_quiet(&self) -> bool {
        self.delivered_at.is_some_and(|at| at.elapsed() < QUIET)
    }

    pub(super) fn delivered(&mut self) {
        self.id = None;
        self.delivered_at = Some(Instant::now());
    }
}
