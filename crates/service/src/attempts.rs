//! [`Attempts`]: how many keys that open nothing one address may show, whichever surface it shows them to.

use std::{
    collections::HashMap,
    hash::{BuildHasher, RandomState},
    net::IpAddr,
    time::{Duration, Instant},
};

use parking_lot::Mutex;

use crate::Rates;

/// Keys that open nothing, which one address may show at once, and how many more each second.
const FAILURES: f64 = 100.0;
const FAILURES_PER_SECOND: f64 = 1.0;
/// A key that opened something so long ago, or less, is looked up all the same.
const REMEMBERED: Duration = Duration::from_secs(3_600);

/// An address that shows one wrong key after the other is not looked up any more. Those behind the same
/// proxy whose key is in use go on.
pub struct Attempts {
    failed: Rates<IpAddr>,
    /// What opened something, by its hash, and when. A mutex, held for a look.
    welcome: Mutex<HashMap<u64, Instant>>,
    hashes: RandomState,
}

impl Default for Attempts {
    fn default() -> Self {
        Attempts {
            failed: Rates::new(FAILURES, FAILURES_PER_SECOND),
            welcome: Mutex::default(),
            hashes: RandomState::new(),
        }
    }
}

impl Attempts {
    pub fn may_try(&self, from: IpAddr, text: &str) -> bool {
        if !self.failed.is_empty(&from) {
            return true;
        }
        let welcome = self.welcome.lock();
        let opened = welcome.get(&self.hashes.hash_one(text));
        opened.is_some_and(|at| at.elapsed() < REMEMBERED)
    }

    pub fn failed(&self, from: IpAddr, text: &str) {
        self.failed.pass(from);
        self.welcome.lock().remove(&self.hashes.hash_one(text));
    }

    /// Keys are few: only verified ones come here.
    pub fn opened(&self, text: &str) {
        let mut welcome = self.welcome.lock();
        welcome.retain(|_, at| at.elapsed() < REMEMBERED);
        welcome.insert(self.hashes.hash_one(text), Instant::now());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_guesses_keys_is_not_looked_up_and_who_has_one_is() {
        let attempts = Attempts::default();
        let (here, there) = ([127, 0, 0, 1].into(), [127, 0, 0, 2].into());
        attempts.opened("right");
        for _ in 0..1_000 {
            attempts.failed(here, "wrong");
        }
        assert!(!attempts.may_try(here, "other"));
        assert!(attempts.may_try(here, "right"));
        assert!(attempts.may_try(there, "other"));
        // One that was revoked since is wrong like any other.
        attempts.failed(here, "right");
        assert!(!attempts.may_try(here, "right"));
    }
}
