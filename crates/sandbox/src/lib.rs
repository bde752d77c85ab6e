//! Runs untrusted Python behind an operating-system wall: a warm CPython (the zygote) is jailed
//! once, each run is a clone of it with a jail of its own. Where the kernel lacks a wall nothing is
//! run; there is no unjailed mode.

mod cgroup;
mod child;
mod disk;
mod filter;
mod launch;
mod output;
mod packets;
mod pool;
mod probe;
mod protocol;
mod run;
mod slots;
mod unlinked;
mod verdict;
mod wait;
#[path = "../../jail/src/wire.rs"]
mod wire;
mod zygote;

use std::{path::PathBuf, sync::Arc};

use callgate_contract::{BoxFuture, HostCall, Report, RunSpec, Sandbox, SandboxError};

pub use probe::{Finding, Wall, find_python, hint, probe};

use pool::Pool;
use slots::Slots;

#[derive(Clone, Debug)]
pub struct JailOptions {
    /// The interpreter; CPython 3.11 or newer.
    pub python: PathBuf,
    /// Where the sessions' folders are, each named by its uuid.
    pub sessions: PathBuf,
    /// Packages of the operator, shown read-only.
    pub packages: Option<PathBuf>,
    /// Modules imported before the first run, so that a run finds them ready.
    pub preload: Vec<String>,
    /// How many runs compute at the same time. A run inside a host call does not count.
    pub concurrent: usize,
    /// How many children wait, jailed, for a run; with 0 each is cloned when its run begins.
    pub pool: usize,
}

impl JailOptions {
    pub fn new(python: impl Into<PathBuf>, sessions: impl Into<PathBuf>) -> Self {
        let cores = std::thread::available_parallelism().map_or(2, usize::from);
        JailOptions {
            python: python.into(),
            sessions: sessions.into(),
            packages: None,
            preload: Vec::new(),
            concurrent: cores * 4,
            pool: cores * 2,
        }
    }
}

/// The Linux backend of [`Sandbox`]. Starts lazily, with the first run or [`Jail::warm`].
pub struct Jail {
    pool: Arc<Pool>,
    slots: Arc<Slots>,
}

impl Jail {
    pub fn new(options: JailOptions) -> Self {
        let slots = Arc::new(Slots::new(options.concurrent));
        Jail {
            pool: Arc::new(Pool::new(options)),
            slots,
        }
    }

    /// Starts the zygote and fills the pool. Blocks for about a tenth of a second.
    pub fn warm(&self) -> Result<(), SandboxError> {
        self.pool.warm()
    }

    /// How many children wait for a run.
    pub fn waiting(&self) -> usize {
        self.pool.waiting()
    }

    /// Memory that each waiting child holds for itself, in bytes, for the benchmark.
    pub fn waiting_memory(&self) -> Vec<u64> {
        self.pool.waiting_memory()
    }
}

impl Sandbox for Jail {
    fn run(&self, spec: RunSpec, host: HostCall) -> BoxFuture<'_, Result<Report, SandboxError>> {
        let (pool, slots) = (self.pool.clone(), self.slots.clone());
        Box::pin(async move {
            // Kills the run when this future is dropped: nobody is left to hear of it.
            let guard = spec.cancel.clone().drop_guard();
            let runtime = tokio::runtime::Handle::current();
            // A thread per run: it polls the call's future in place, which saves the wake-ups that
            // would cost several times the call.
            let drive = move || {
                let _entered = runtime.enter();
                run::drive(&pool, &slots, spec, host)
            };
            let report = tokio::task::spawn_blocking(drive).await;
            guard.disarm();
            report.unwrap_or_else(|panic| Err(SandboxError::Failed(panic.to_string())))
        })
    }
}
