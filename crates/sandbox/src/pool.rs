//! [`Pool`]: children that wait, jailed and warm, each used once. Owns the zygote and replaces it
//! now and then, since all its children share one address layout.

use std::{
    collections::VecDeque,
    path::PathBuf,
    sync::{Arc, Condvar, Mutex, PoisonError, Weak},
    time::{Duration, Instant},
};

use callgate_contract::SandboxError;
use uuid::Uuid;

use crate::{JailOptions, child::Child, zygote::Zygote};

const RECYCLE_RUNS: u64 = 10_000;
const RECYCLE_AGE: Duration = Duration::from_secs(3600);

/// Longer than any start of a zygote; beyond it something is broken.
const PATIENCE: Duration = Duration::from_secs(20);

const GLANCE: Duration = Duration::from_millis(100);

pub(crate) struct Pool {
    options: JailOptions,
    /// Run threads take children, the zygote's thread adds them: a mutex and a condition, held for
    /// queue operations and, by the first run only, for the start of the zygote.
    state: Mutex<State>,
    added: Condvar,
}

#[derive(Default)]
struct State {
    zygote: Option<Arc<Zygote>>,
    born: Option<Instant>,
    runs: u64,
    waiting: VecDeque<Child>,
    /// Asked for and not here yet.
    coming: usize,
}

impl Pool {
    pub(crate) fn new(options: JailOptions) -> Self {
        Pool {
            options,
            state: Mutex::default(),
            added: Condvar::new(),
        }
    }

    pub(crate) fn warm(self: &Arc<Self>) -> Result<(), SandboxError> {
        let mut state = self.lock();
        self.ensure_zygote(&mut state)?;
        self.refill(&mut state)
    }

    /// A child of its own for one run; the oldest, which is the warmest.
    pub(crate) fn lease(self: &Arc<Self>) -> Result<Child, SandboxError> {
        let mut state = self.lock();
        self.ensure_zygote(&mut state)?;
        state.runs += 1;
        let until = Instant::now() + PATIENCE;
        loop {
            if let Some(child) = state.waiting.pop_front() {
                if child.exit.get().is_some() {
                    continue;
                }
                self.refill(&mut state)?;
                return Ok(child);
            }
            self.refill(&mut state)?;
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(SandboxError::Failed("no child came up in time".into()));
            }
            // In slices, to notice a zygote that died with the child we wait for.
            let waited = self.added.wait_timeout(state, left.min(GLANCE));
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
            self.ensure_zygote(&mut state)?;
        }
    }

    /// Where a session keeps what its runs share.
    pub(crate) fn shared_folder(&self, session: Uuid) -> PathBuf {
        let folder = session.hyphenated().to_string();
        self.options.sessions.join(folder).join("shared")
    }

    pub(crate) fn waiting_memory(&self) -> Vec<u64> {
        let state = self.lock();
        state
            .waiting
            .iter()
            .filter_map(Child::private_memory)
            .collect()
    }

    fn ensure_zygote(&self, state: &mut State) -> Result<(), SandboxError> {
        let old = state.born.is_some_and(|born| born.elapsed() > RECYCLE_AGE);
        let fresh = state
            .zygote
            .as_ref()
            .is_some_and(|zygote| !zygote.is_dead() && !old && state.runs < RECYCLE_RUNS);
        if fresh {
            return Ok(());
        }
        let zygote = Zygote::start(&self.options)?;
        // Running children keep the old zygote alive until they end.
        *state = State {
            zygote: Some(zygote),
            born: Some(Instant::now()),
            ..State::default()
        };
        Ok(())
    }

    fn refill(self: &Arc<Self>, state: &mut State) -> Result<(), SandboxError> {
        let Some(zygote) = &state.zygote else {
            return Ok(());
        };
        while state.waiting.len() + state.coming < self.options.pool.max(1) {
            let (pool, of): (Weak<Pool>, _) = (Arc::downgrade(self), Arc::downgrade(zygote));
            zygote.spawn(move |child| {
                if let Some(pool) = pool.upgrade() {
                    pool.add(child, &of);
                }
            })?;
            state.coming += 1;
        }
        Ok(())
    }

    fn add(&self, child: Child, of: &Weak<Zygote>) {
        let mut state = self.lock();
        let current = state.zygote.as_ref().map(Arc::as_ptr);
        if current == Some(of.as_ptr()) {
            state.coming = state.coming.saturating_sub(1);
            state.waiting.push_back(child);
            self.added.notify_one();
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
