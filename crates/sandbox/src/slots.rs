//! [`Slots`]: how many runs compute at once. A run that waits for the host gives its slot back, so
//! that runs nested through sub-agents cannot wait for each other.

use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::{Condvar, Mutex};

pub(crate) struct Slots {
    /// Taken and given by blocking run threads, hence a plain mutex and condition.
    free: Mutex<usize>,
    freed: Condvar,
    /// Read on every answer without the lock; a stale value only costs a spin.
    computing: AtomicUsize,
    cores: usize,
}

impl Slots {
    pub(crate) fn new(concurrent: usize) -> Self {
        Slots {
            free: Mutex::new(concurrent.max(1)),
            freed: Condvar::new(),
            computing: AtomicUsize::new(0),
            cores: std::thread::available_parallelism().map_or(2, usize::from),
        }
    }

    pub(crate) fn take(&self) -> Slot<'_> {
        let mut free = self.free.lock();
        self.freed.wait_while(&mut free, |free| *free == 0);
        *free -= 1;
        self.computing.fetch_add(1, Ordering::Relaxed);
        Slot(self)
    }

    /// Spinning pays only while a core would otherwise idle.
    pub(crate) fn may_spin(&self) -> bool {
        self.computing.load(Ordering::Relaxed) < self.cores
    }
}

/// The right to compute, given back on drop.
pub(crate) struct Slot<'a>(&'a Slots);

impl Drop for Slot<'_> {
    fn drop(&mut self) {
        self.0.computing.fetch_sub(1, Ordering::Relaxed);
        let mut free = self.0.free.lock();
        *free += 1;
        self.0.freed.notify_one();
    }
}
