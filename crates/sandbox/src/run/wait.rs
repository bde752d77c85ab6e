//! Waiting for the child or the host, never without a deadline: a moment of looking, then sleep. The
//! only place where a run's thread sleeps.

use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::ActiveRun;

/// The peer was just answered and will most likely call again within microseconds.
const SPIN: Duration = Duration::from_micros(50);

impl ActiveRun<'_> {
    /// Looks again and again for a moment, while that is cheaper than sleeping. True if there is
    /// something to do.
    pub(super) fn spin(&mut self) -> bool {
        let waits_for_host = self.pending.is_some();
        if !std::mem::take(&mut self.answered) && !waits_for_host || !self.slots.may_spin() {
            return false;
        }
        let until = Instant::now() + SPIN;
        while Instant::now() < until {
            if self.child.exit.bell.is_rung() {
                return true;
            }
            if !waits_for_host && self.wants_frames() && self.receive() {
                return true;
            }
            // Where both sides are on one core, the next call can only come if this one makes room.
            rustix::thread::sched_yield();
        }
        false
    }

    pub(super) fn sleep(&mut self) {
        let mut wanted = PollFlags::empty();
        if self.wants_frames() {
            wanted |= PollFlags::IN;
        }
        if !self.outgoing.is_empty() {
            wanted |= PollFlags::OUT;
        }
        let bell = self.child.exit.bell.clone();
        let mut polled = vec![PollFd::new(&bell, PollFlags::IN)];
        // A closed descriptor is always ready, so it is left out.
        if self.calls_open && !wanted.is_empty() {
            polled.push(PollFd::new(&self.child.calls, wanted));
        }
        if self.output_open {
            polled.push(PollFd::new(&self.child.output, PollFlags::IN));
        }
        let timeout = self.until_next_deadline();
        let _ = poll(&mut polled, Some(&timeout));
        if self.pending.is_none() {
            bell.hush();
        }
    }

    fn until_next_deadline(&self) -> Timespec {
        let now = Instant::now();
        let mut left = self.next_sample.saturating_duration_since(now);
        if let Some(end) = self.must_end {
            left = left.min(end.saturating_duration_since(now));
        }
        if self.pending.is_none() {
            left = left.min(self.limits.wall.saturating_sub(self.computed()));
        }
        let left = left + Duration::from_micros(50);
        Timespec {
            tv_sec: left.as_secs() as i64,
            tv_nsec: left.subsec_nanos().into(),
        }
    }
}
