//! When a run must end: its limits, a cancel, and what is done about them.

use std::time::{Duration, Instant};

use callgate_contract::Stop;

use super::{ActiveRun, SAMPLE};
use crate::{child::REAP, unlinked::unlinked, verdict::RunVerdict};

/// Once counting took this long, the code waits while it is done again.
const SLOW_COUNT: Duration = Duration::from_millis(5);

impl ActiveRun<'_> {
    pub(super) fn enforce(&mut self) {
        let now = Instant::now();
        self.heed_cancel();
        if self.pending.is_none() && self.computed() > self.limits.wall {
            let limit = self.limits.wall.as_secs_f64();
            self.stop(Stop::Timeout, format!("ran for more than {limit} s"));
        }
        if now >= self.next_sample {
            self.look_at_disk();
            self.pool.top_up();
        }
        if !self.killed && self.must_end.is_some_and(|end| now >= end) {
            self.kill();
        }
    }

    pub(super) fn heed_cancel(&mut self) {
        if self.cancel.is_cancelled() {
            self.stop(Stop::Cancelled, "cancelled".into());
        }
    }

    pub(super) fn look_at_disk(&mut self) {
        let began = Instant::now();
        // While a large folder is counted it could be filled without end.
        let still = self.slow_to_count.then(|| self.child.hold());
        let held = self.child.pid().map(unlinked).unwrap_or_default();
        let usage = self.folder.usage().and(held);
        drop(still);
        let took = began.elapsed();
        self.slow_to_count = took > SLOW_COUNT;
        self.next_sample = Instant::now() + took.clamp(SAMPLE.0, SAMPLE.1);
        if usage.exceeds(self.disk_limit) {
            let limit = self.limits.disk >> 20;
            let reason = format!("more than {limit} MB, or too many files, in /app/shared");
            self.stop(Stop::Disk, reason);
        }
    }

    /// Time since the start, less what the host took.
    pub(super) fn computed(&self) -> Duration {
        self.started.elapsed().saturating_sub(self.in_host)
    }

    pub(super) fn end_within(&mut self, time: Duration) {
        let end = Instant::now() + time;
        self.must_end = Some(self.must_end.map_or(end, |earlier| earlier.min(end)));
    }

    /// Ends the run now. The first reason stands; what was written counts until the very end, also
    /// after the code said that it is done.
    pub(super) fn stop(&mut self, stop: Stop, reason: String) {
        let counts = self.done.is_none() || matches!(stop, Stop::Output | Stop::Disk);
        if self.verdict.is_none() && counts {
            self.verdict = Some(RunVerdict::because(stop, reason));
        }
        if !self.killed {
            self.kill();
        }
    }

    fn kill(&mut self) {
        self.child.kill();
        self.killed = true;
        self.calls_open = false;
        self.outgoing.clear();
        self.pending = None;
        self.must_end = Some(Instant::now() + REAP);
    }
}
