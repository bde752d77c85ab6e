//! [`Arrivals`]: has a message come into a session, or gone out of it, since somebody last looked? Asked
//! in each round of each turn, so it costs no query.

use std::{
    hash::{BuildHasher, Hash, RandomState},
    sync::atomic::{AtomicU64, Ordering},
};

/// Sessions that share a counter make each other look in vain, no more.
const COUNTERS: usize = 1_024;

pub(crate) struct Arrivals {
    hasher: RandomState,
    counters: Box<[AtomicU64]>,
}

impl Default for Arrivals {
    fn default() -> Self {
        Arrivals {
            hasher: RandomState::new(),
            counters: (0..COUNTERS).map(|_| AtomicU64::new(0)).collect(),
        }
    }
}

impl Arrivals {
    /// After the row can be read.
    pub(crate) fn tell(&self, session: &(impl Hash + ?Sized)) {
        self.counter(session).fetch_add(1, Ordering::Release);
    }

    /// Another number than before whenever something has come in.
    pub(crate) fn count(&self, session: &(impl Hash + ?Sized)) -> u64 {
        self.counter(session).load(Ordering::Acquire)
    }

    fn counter(&self, session: &(impl Hash + ?Sized)) -> &AtomicU64 {
        let place = self.hasher.hash_one(session) as usize % COUNTERS;
        &self.counters[place]
    }
}
