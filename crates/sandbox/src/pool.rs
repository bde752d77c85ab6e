//! [`Pool`]: children that wait, jailed and warm, each used once. Owns the zygote and replaces it
//! now and then, since all its children share one address layout.

use std::{
    collections::VecDeque,
    path::PathBuf,
    sync::{Arc, Weak},
    time::{Duration, Instant},
};

use callgate_contract::SandboxError;
use parking_lot::{Condvar, Mutex};
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
    /// queue operations and, where there is no living zygote, for the start of one.
    state: Mutex<PoolState>,
    added: Condvar,
}

#[derive(Default)]
struct PoolState {
    zygote: Option<Arc<Zygote>>,
    born: Option<Instant>,
    runs: u64,
    /// The next zygote is on its way.
    renewing: bool,
    waiting: VecDeque<Child>,
    /// Asked of the zygote and not here yet.
    coming: usize,
    /// Runs that have no child yet.
    seeking: usize,
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
        let mut state = self.state.lock();
        self.ensure_zygote(&mut state)?;
        self.refill(&mut state)
    }

    /// A child of its own for one run; the oldest, which is the warmest.
    pub(crate) fn lease(self: &Arc<Self>) -> Result<Child, SandboxError> {
        let until = Instant::now() + PATIENCE;
        let mut state = self.state.lock();
        state.runs += 1;
        state.seeking += 1;
        let leased = loop {
            match self.next_child(&mut state) {
                Ok(None) => {}
                Ok(Some(child)) => break Ok(child),
                Err(error) => break Err(error),
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break Err(SandboxError::Failed("no child came up in time".into()));
            }
            // In slices, to notice a zygote that died with the child we wait for.
            self.added.wait_for(&mut state, left.min(GLANCE));
        };
        state.seeking -= 1;
        let child = leased?;
        // A clone keeps a core busy for milliseconds, just when the run begins: as long as enough
        // are waiting, the place is filled when the run calls `top_up`.
        if state.waiting.len() < self.options.pool / 2 {
            self.refill(&mut state)?;
        }
        self.renew(&mut state);
        Ok(child)
    }

    /// Fills places that leases left. Cheap when there are none.
    pub(crate) fn top_up(self: &Arc<Self>) {
        if let Err(error) = self.refill(&mut self.state.lock()) {
            // The zygote is gone; the next lease starts another.
            tracing::warn!(%error, "could not fill the sandbox pool");
        }
    }

    fn next_child(self: &Arc<Self>, state: &mut PoolState) -> Result<Option<Child>, SandboxError> {
        self.ensure_zygote(state)?;
        while let Some(child) = state.waiting.pop_front() {
            if child.exit.get().is_none() {
                return Ok(Some(child));
            }
        }
        self.refill(state)?;
        Ok(None)
    }

    /// Where a session keeps what its runs share.
    pub(crate) fn shared_folder(&self, session: Uuid) -> PathBuf {
        let folder = session.hyphenated().to_string();
        self.options.sessions.join(folder).join("shared")
    }

    pub(crate) fn waiting(&self) -> usize {
        self.state.lock().waiting.len()
    }

    pub(crate) fn waiting_memory(&self) -> Vec<u64> {
        let state = self.state.lock();
        state
            .waiting
            .iter()
            .filter_map(Child::private_memory)
            .collect()
    }

    fn ensure_zygote(&self, state: &mut PoolState) -> Result<(), SandboxError> {
        match &state.zygote {
            Some(zygote) if !zygote.is_dead() => {}
            _ => state.take_over(Zygote::start(&self.options)?),
        }
        Ok(())
    }

    /// Has the next zygote warmed in the background once this one is old; runs go on meanwhile.
    fn renew(self: &Arc<Self>, state: &mut PoolState) {
        let old = state.born.is_some_and(|born| born.elapsed() > RECYCLE_AGE);
        if state.renewing || !old && state.runs < RECYCLE_RUNS {
            return;
        }
        let pool = self.clone();
        let start = move || {
            let started = Zygote::start(&pool.options);
            let mut state = pool.state.lock();
            state.renewing = false;
            let renewed = started.and_then(|zygote| {
                state.take_over(zygote);
                pool.refill(&mut state)
            });
            if let Err(error) = renewed {
                tracing::warn!(%error, "the next zygote did not start; the old one stays");
                state.begin_term();
            }
        };
        // A thread, since a start blocks for a tenth of a second.
        let spawned = std::thread::Builder::new()
            .name("renew".into())
            .spawn(start);
        state.renewing = spawned.is_ok();
    }

    fn refill(self: &Arc<Self>, state: &mut PoolState) -> Result<(), SandboxError> {
        let Some(zygote) = &state.zygote else {
            return Ok(());
        };
        let wanted = self.options.pool.max(state.seeking);
        while state.waiting.len() + state.coming < wanted {
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
        let mut state = self.state.lock();
        let current = state.zygote.as_ref().map(Arc::as_ptr);
        if current == Some(of.as_ptr()) {
            state.coming = state.coming.saturating_sub(1);
            state.waiting.push_back(child);
            self.added.notify_one();
        }
    }
}

impl PoolState {
    /// The children of the zygote before are used up, those waiting and those running: each keeps
    /// it alive until it ends.
    fn take_over(&mut self, zygote: Arc<Zygote>) {
        self.zygote = Some(zygote);
        self.coming = 0;
        self.begin_term();
    }

    fn begin_term(&mut self) {
        self.born = Some(Instant::now());
        self.runs = 0;
    }
}
