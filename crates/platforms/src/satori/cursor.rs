//! [`Cursor`]: up to which number (`sn`) the server's events are on disk. What comes again after a disconnect may
//! come in between what is new, so a number is passed by only when everything below it is stored, or when
//! nothing from below has come for a while: servers may leave numbers out.

use std::{
    collections::BTreeSet,
    sync::Arc,
    time::{Duration, Instant},
};

use parking_lot::Mutex;
use tokio::sync::Notify;

use crate::{Host, NotStored};

/// How long a number that is left out is waited for.
const GAP: Duration = Duration::from_secs(5);
/// Between two looks whether a gap is to be believed.
const LOOK: Duration = Duration::from_secs(1);

pub(super) struct Cursor {
    host: Arc<dyn Host>,
    /// A mutex, held for a look or a change.
    state: Mutex<State>,
    changed: Notify,
}

struct State {
    /// Everything up to it is on disk; `None` before the first event there ever was.
    base: Option<i64>,
    begun: BTreeSet<i64>,
    stored: BTreeSet<i64>,
    highest: i64,
    /// When an event last came that was older than another before it.
    disordered_at: Instant,
}

/// What is to be done with an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Take,
    /// It is here already.
    Pass,
    /// The server counts from the beginning: it has started anew, and has told us nothing since.
    Anew,
}

impl Cursor {
    pub(super) fn new(host: Arc<dyn Host>) -> Self {
        Cursor {
            host,
            state: Mutex::new(State::at(None)),
            changed: Notify::new(),
        }
    }

    /// Reads it from disk.
    pub(super) async fn load(&self) -> Result<(), NotStored> {
        let known = self.host.cursor().await?;
        *self.state.lock() = State::at(known.and_then(|text| text.parse().ok()));
        Ok(())
    }

    pub(super) fn base(&self) -> Option<i64> {
        self.state.lock().base
    }

    /// A connection begins: events may come out of order for a while.
    pub(super) fn connected(&self) {
        self.state.lock().disordered_at = Instant::now();
    }

    /// An event has come. `asked` is the number that the connection was begun with, for the first event of
    /// one.
    pub(super) async fn begin(&self, number: i64, asked: Option<i64>) -> Result<Step, NotStored> {
        let first = self.state.lock().base.is_none();
        if first {
            // Nothing before it is wanted, and it itself must not be lost.
            self.host.set_cursor(&(number - 1).to_string()).await?;
        }
        Ok(self.state.lock().begin(number, asked, Instant::now()))
    }

    /// Its event is on disk, or is none.
    pub(super) fn done(&self, number: i64) {
        let mut state = self.state.lock();
        if state.begun.remove(&number) {
            state.stored.insert(number);
        }
        drop(state);
        self.changed.notify_one();
    }

    /// Keeps what is on disk up to date, for as long as it is awaited.
    pub(super) async fn keep(&self) {
        let mut kept = self.base();
        loop {
            // Either way it is looked again.
            let _ = tokio::time::timeout(LOOK, self.changed.notified()).await;
            let moved = self.state.lock().advance(Instant::now());
            let Some(base) = moved.filter(|base| kept != Some(*base)) else {
                continue;
            };
            match self.host.set_cursor(&base.to_string()).await {
                Ok(()) => kept = Some(base),
                // It is tried again; what comes twice is known by its id.
                Err(error) => tracing::warn!(%error, "cannot write down how far events were read"),
            }
        }
    }
}

impl State {
    fn at(base: Option<i64>) -> Self {
        State {
            base,
            begun: BTreeSet::new(),
            stored: BTreeSet::new(),
            highest: base.unwrap_or(i64::MIN),
            disordered_at: Instant::now(),
        }
    }

    fn begin(&mut self, number: i64, asked: Option<i64>, now: Instant) -> Step {
        if asked.is_some_and(|asked| number <= asked) {
            *self = State::at(Some(0.min(number - 1)));
            if number > 1 {
                return Step::Anew;
            }
        }
        let base = *self.base.get_or_insert(number - 1);
        if number <= base || self.stored.contains(&number) || !self.begun.insert(number) {
            return Step::Pass;
        }
        if number < self.highest {
            self.disordered_at = now;
        }
        self.highest = self.highest.max(number);
        Step::Take
    }

    fn advance(&mut self, now: Instant) -> Option<i64> {
        let base = self.base.as_mut()?;
        let is_settled = now.duration_since(self.disordered_at) >= GAP;
        while let Some(next) = self.stored.first().copied() {
            let waits_below = self.begun.first().is_some_and(|begun| *begun < next);
            if waits_below || next != *base + 1 && !is_settled {
                break;
            }
            self.stored.remove(&next);
            *base = next;
        }
        Some(*base)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of events that came in this order and are all stored, and of none.
    fn after(base: Option<i64>, came: &[i64], seconds: u64) -> Option<i64> {
        let mut state = State::at(base);
        let begun = state.disordered_at;
        for number in came {
            assert_eq!(state.begin(*number, None, begun), Step::Take);
        }
        state.stored = std::mem::take(&mut state.begun);
        state.advance(begun + Duration::from_secs(seconds))
    }

    #[test]
    fn a_number_is_passed_by_when_all_below_it_are_stored() {
        assert_eq!(after(Some(4), &[5, 6, 7], 0), Some(7));
        assert_eq!(after(None, &[7, 8], 0), Some(8));
        // New ones came between those that came again.
        assert_eq!(after(Some(4), &[5, 9, 6], 0), Some(6));
        assert_eq!(after(Some(4), &[5, 9, 6], 6), Some(9));
        let mut state = State::at(Some(4));
        let now = Instant::now();
        for number in [5, 6] {
            state.begin(number, None, now);
        }
        state.begun.remove(&6);
        state.stored.insert(6);
        assert_eq!(state.advance(now + GAP * 2), Some(4));
    }

    #[test]
    fn what_is_here_is_passed_and_a_server_that_starts_anew_is_noticed() {
        let now = Instant::now();
        let mut state = State::at(Some(4));
        assert_eq!(state.begin(5, Some(4), now), Step::Take);
        assert_eq!(state.begin(5, None, now), Step::Pass);
        assert_eq!(state.begin(3, None, now), Step::Pass);
        assert_eq!(state.begin(3, Some(4), now), Step::Anew);
        assert_eq!(state.base, Some(0));
        assert_eq!(state.begin(1, Some(0), now), Step::Take);
        let mut state = State::at(Some(4));
        assert_eq!(state.begin(0, Some(4), now), Step::Take);
        assert_eq!(state.base, Some(-1));
    }
}
