//! [`Rates`]: how much of something each may have at once, and how fast it comes back.

use std::{collections::HashMap, hash::Hash, time::Instant};

use parking_lot::Mutex;

/// Buckets that are kept; beyond that, those that are full again are forgotten.
const KEPT: usize = 10_000;

/// A bucket for each: so many at once, and so many more each second.
pub struct Rates<T> {
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
    pub fn new(burst: f64, per_second: f64) -> Self {
        Rates {
            burst,
            per_second,
            buckets: Mutex::default(),
        }
    }

    pub fn pass(&self, who: T) -> bool {
        self.take(who, 1.0)
    }

    /// All of it or nothing.
    pub fn take(&self, who: T, amount: f64) -> bool {
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
        let pass = bucket.left >= amount;
        if pass {
            bucket.left -= amount;
        }
        pass
    }

    /// Would nothing pass now?
    pub fn is_empty(&self, who: &T) -> bool {
        let buckets = self.buckets.lock();
        let bucket = buckets.get(who);
        bucket.is_some_and(|bucket| self.left(bucket, Instant::now()) < 1.0)
    }

    fn left(&self, bucket: &Bucket, now: Instant) -> f64 {
        let back = now.duration_since(bucket.seen).as_secs_f64() * self.per_second;
        (bucket.left + back).min(self.burst)
    }
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
        assert!(!rates.take("third", 201.0) && rates.take("third", 200.0));
    }
}
