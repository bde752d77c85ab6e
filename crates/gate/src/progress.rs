//! What a method tells of its progress, within bounds: a method that tells too much, or nonsense, is
//! a burden to nobody.
//! Progress goes with the call that it belongs to, also what a plugin does for that call.

use std::time::{Duration, Instant};

use callgate_contract::{Onlooker, Progress};
use parking_lot::Mutex;

/// What may be told at once, and how often from then on.
const AT_ONCE: u32 = 20;
const EVERY: Duration = Duration::from_millis(100);
/// Letters of a text.
const TEXT: usize = 200;

/// `onlooker` of one call; dropped tellings are those that others follow soon.
pub(crate) fn bounded(onlooker: Onlooker) -> Onlooker {
    if onlooker.is_nobody() {
        return onlooker;
    }
    let pace = Mutex::new(Pace::new(Instant::now()));
    Onlooker::new(move |progress| {
        let Some(progress) = sound(progress) else {
            return;
        };
        // Held for a look: a method may tell from several threads.
        let passes = {
            let mut pace = pace.lock();
            pace.passes(&progress, Instant::now())
        };
        if passes {
            onlooker.tell(progress);
        }
    })
}

/// `None` if it says nothing.
fn sound(progress: Progress) -> Option<Progress> {
    let is_amount = |amount: &f64| amount.is_finite() && *amount >= 0.0;
    is_amount(&progress.done).then(|| Progress {
        done: progress.done,
        total: progress.total.filter(is_amount),
        text: progress.text.chars().take(TEXT).collect(),
    })
}

struct Pace {
    /// Until when the pace is used up.
    free: Instant,
    ended: bool,
}

impl Pace {
    fn new(now: Instant) -> Self {
        Pace {
            free: now,
            ended: false,
        }
    }

    fn passes(&mut self, progress: &Progress, now: Instant) -> bool {
        let is_end = progress.total.is_some_and(|total| progress.done >= total);
        // Nothing follows the last one that would say the same.
        let last = is_end && !std::mem::replace(&mut self.ended, is_end);
        let free = self.free.max(now);
        if !last && free > now + EVERY * AT_ONCE {
            return false;
        }
        self.free = free + EVERY;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(done: f64, total: Option<f64>) -> Progress {
        Progress {
            done,
            total,
            text: String::new(),
        }
    }

    #[test]
    fn a_flood_becomes_a_trickle_and_its_end_is_told() {
        let began = Instant::now();
        let mut pace = Pace::new(began);
        let total = Some(1_000.0);
        let at_once = (0..500).filter(|n| pace.passes(&of(f64::from(*n), total), began));
        let at_once = at_once.count();
        assert!((20..=22).contains(&at_once), "{at_once}");
        assert!(pace.passes(&of(500.0, total), began + EVERY));
        assert!(!pace.passes(&of(501.0, total), began + EVERY));
        assert!(pace.passes(&of(1_000.0, total), began + EVERY));
        assert!(!pace.passes(&of(1_000.0, total), began + EVERY));
    }

    #[test]
    fn nonsense_is_not_told() {
        for nonsense in [f64::NAN, f64::INFINITY, -1.0] {
            assert_eq!(sound(of(nonsense, None)), None);
            assert_eq!(sound(of(1.0, Some(nonsense))), Some(of(1.0, None)));
        }
        let long = Progress {
            text: "画".repeat(1_000),
            ..of(1.0, None)
        };
        assert_eq!(sound(long).unwrap().text.chars().count(), TEXT);
    }
}
