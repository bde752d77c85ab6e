//! How often: requests of one key ([`Rates`]), and keys that open nothing, from one address
//! ([`Attempts`]).

use std::{
    collections::HashMap,
    hash::{BuildHasher, Hash, RandomState},
    net::{IpAddr, Ipv4Addr, SocketAddr},
    time::{Duration, Instant},
};

use axum::{extract::ConnectInfo, http::Extensions};
use parking_lot::Mutex;

/// Buckets that are kept; beyond that, those that are full again are forgotten.
const KEPT: usize = 10_000;

/// A bucket for each: so many at once, and so many more each second.
pub(crate) struct Rates<T> {
    burst: f64,
    per_second: f64,
    /// A mutex, held for the arithmetic.
    buckets: Mutex<HashMap<T, Bucket>>,
}

#[derive(Clone, Copy)]
struct Bucket {
    left: f64,
    seen: Instant,
}

impl<T: Eq + Hash> Rates<T> {
    pub(crate) fn new(burst: f64, per_second: f64) -> Self {
        Rates {
            burst,
            per_second,
            buckets: Mutex::default(),
        }
    }

    pub(crate) fn pass(&self, who: T) -> bool {
        let mut buckets = self.buckets.lock();
        let now = Instant::now();
        if buckets.len() >= KEPT {
            buckets.retain(|_, bucket| self.left(bucket, now) < self.burst);
        }
        let bucket = buckets.entry(who).or_insert(Bucket {
            left: self.burst,
            seen: now,
        });
        bucket.left = self.left(bucket, now);
        bucket.seen = now;
        let pass = bucket.left >= 1.0;
        bucket.left -= f64::from(pass);
        pass
    }

    fn is_empty(&self, who: &T) -> bool {
        let buckets = self.buckets.lock();
        let bucket = buckets.get(who);
        bucket.is_some_and(|bucket| self.left(bucket, Instant::now()) < 1.0)
    }

    fn left(&self, bucket: &Bucket, now: Instant) -> f64 {
        let back = now.duration_since(bucket.seen).as_secs_f64() * self.per_second;
        (bucket.left + back).min(self.burst)
    }
}

/// Keys that open nothing, which one address may show at once, and how many more each second.
const FAILURES: f64 = 100.0;
const FAILURES_PER_SECOND: f64 = 1.0;
/// A key that opened something so long ago, or less, is looked up all the same.
const REMEMBERED: Duration = Duration::from_secs(3_600);

/// An address that shows one wrong key after the other is not looked up any more. Those behind the same
/// proxy whose key is in use go on.
pub(crate) struct Attempts {
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
    pub(crate) fn may_try(&self, from: IpAddr, text: &str) -> bool {
        if !self.failed.is_empty(&from) {
            return true;
        }
        let welcome = self.welcome.lock();
        let opened = welcome.get(&self.hashes.hash_one(text));
        opened.is_some_and(|at| at.elapsed() < REMEMBERED)
    }

    pub(crate) fn failed(&self, from: IpAddr, text: &str) {
        self.failed.pass(from);
        self.welcome.lock().remove(&self.hashes.hash_one(text));
    }

    /// Keys are few: only verified ones come here.
    pub(crate) fn opened(&self, text: &str) {
        let mut welcome = self.welcome.lock();
        welcome.retain(|_, at| at.elapsed() < REMEMBERED);
        welcome.insert(self.hashes.hash_one(text), Instant::now());
    }
}

/// Where a request comes from; one that was not served by us is nobody's in particular.
pub(crate) fn address(extensions: &Extensions) -> IpAddr {
    let from = extensions.get::<ConnectInfo<SocketAddr>>();
    let nowhere = IpAddr::V4(Ipv4Addr::UNSPECIFIED);
    from.map_or(nowhere, |ConnectInfo(from)| from.ip().to_canonical())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_passes_and_a_flood_does_not() {
        let rates = Rates::new(200.0, 50.0);
        let passed = (0..1_000).filter(|_| rates.pass("one")).count();
        assert!((200..1_000).contains(&passed), "{passed}");
        assert!(rates.pass("another"));
    }

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
