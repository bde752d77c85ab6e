//! One run, seen from the host: a thread that feeds the child its answers and never waits for it
//! without a deadline. Every read and every write here is non-blocking; the only sleep is in
//! [`Run::sleep`].

use std::{
    sync::Arc,
    task::{Context, Poll, Waker},
    time::{Duration, Instant},
};

use callgate_contract::{
    BoxFuture, Cancel, CodeReply, HostCall, Limits, Report, RunSpec, SandboxError, Stop,
    frame::FrameReader,
};
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
    net::{RecvFlags, SendFlags, recv, send},
};

use crate::{
    child::{Child, REAP},
    disk::{Folder, Usage},
    output::Output,
    pool::Pool,
    protocol::{self, Done, Said},
    slots::{Slot, Slots},
    unlinked::unlinked,
    verdict::{Verdict, judge},
    wire::{LEASED, Lease, as_bytes},
};

/// Once the run is to end, the code may unwind for this long.
const UNWIND: Duration = Duration::from_secs(1);
/// Once it said that it is done, it may take this long to be gone.
const LINGER: Duration = Duration::from_millis(100);
/// How often the disk is looked at: as long as counting takes, within these bounds.
const SAMPLE: (Duration, Duration) = (Duration::from_millis(20), Duration::from_millis(50));
/// Once counting took this long, the code waits while it is done again.
const SLOW_COUNT: Duration = Duration::from_millis(5);
/// The peer was just answered and will most likely call again within microseconds.
const SPIN: Duration = Duration::from_micros(50);
/// In unprivileged mode all runs share one user, and the limit on threads counts by user.
const SHARED_THREADS: u32 = 512;
/// Unless the session is over its limit, a file may grow to what the scratch filesystems hold.
const SMALLEST_FILE_LIMIT: u64 = 64 << 20;

/// Runs `spec` to its end. Blocking.
pub(crate) fn drive(
    pool: &Arc<Pool>,
    slots: &Slots,
    mut spec: RunSpec,
    host: HostCall,
) -> Result<Report, SandboxError> {
    let slot = slots.take();
    let shared = pool.shared_folder(spec.folders.id);
    let folder = Folder::open(&shared).map_err(|error| {
        SandboxError::Failed(format!(
            "the session's folder {}: {error}",
            shared.display()
        ))
    })?;
    let before = folder.usage();
    let child = pool.lease()?;
    let failed = |error: &dyn std::fmt::Display| SandboxError::Failed(error.to_string());
    spec.cancel
        .on_cancel(child.killer().map_err(|error| failed(&error))?);

    let mut outgoing = as_bytes(&lease_of(&spec, &child, before)).to_vec();
    protocol::write_init(&mut outgoing, &spec).map_err(|error| failed(&error.at("code")))?;
    let now = Instant::now();
    let mut run = Run {
        pool,
        waker: Waker::from(child.exit.bell.clone()),
        output: Output::new(spec.limits.output_kept, spec.output.take()),
        // A session that is over its limit may still run, to tidy up, but not grow.
        disk_limit: Usage::limit(spec.limits.disk).or(before),
        limits: spec.limits,
        cancel: spec.cancel,
        child,
        slots,
        slot: Some(slot),
        host,
        folder,
        reader: FrameReader::new(),
        outgoing,
        leased: false,
        calls: 0,
        pending: None,
        started: now,
        in_host: Duration::ZERO,
        answered: false,
        next_sample: now + SAMPLE.0,
        slow_to_count: false,
        must_end: None,
        verdict: None,
        done: None,
        calls_open: true,
        output_open: true,
        killed: false,
    };
    run.run_out();
    pool.top_up();
    run.report()
}

fn lease_of(spec: &RunSpec, child: &Child, before: Usage) -> Lease {
    let mut folder = [0; 36];
    spec.folders.id.hyphenated().encode_lower(&mut folder);
    let many_users = child.many_users();
    let threads = if many_users {
        spec.limits.threads
    } else {
        SHARED_THREADS
    };
    Lease {
        folder,
        user: if many_users { spec.folders.number } else { 0 },
        memory: child.base_memory() + spec.limits.memory,
        cpu_seconds: spec.limits.cpu.as_secs().max(1),
        file_size: before
            .left(Usage::limit(spec.limits.disk))
            .map_or(0, |left| left.max(SMALLEST_FILE_LIMIT)),
        threads: threads.into(),
    }
}

struct Run<'a> {
    pool: &'a Arc<Pool>,
    child: Child,
    limits: Limits,
    cancel: Cancel,
    slots: &'a Slots,
    /// Given back while the run waits for the host.
    slot: Option<Slot<'a>>,
    host: HostCall,
    waker: Waker,
    folder: Folder,
    disk_limit: Usage,
    reader: FrameReader,
    outgoing: Vec<u8>,
    output: Output,
    leased: bool,
    calls: u64,
    pending: Option<Pending>,
    started: Instant,
    in_host: Duration,
    answered: bool,
    next_sample: Instant,
    slow_to_count: bool,
    must_end: Option<Instant>,
    verdict: Option<Verdict>,
    done: Option<Done>,
    calls_open: bool,
    output_open: bool,
    killed: bool,
}

struct Pending {
    answer: BoxFuture<'static, CodeReply>,
    since: Instant,
}

impl Run<'_> {
    fn run_out(&mut self) {
        loop {
            self.flush();
            self.read_frames();
            self.poll_answer();
            self.read_output();
            self.enforce();
            if self.child.exit.get().is_some() {
                // Nothing can write any more: one last look, and it is over.
                self.read_last_word();
                self.read_output();
                self.heed_cancel();
                return;
            }
            if self.killed && self.must_end.is_some_and(|end| Instant::now() > end) {
                return;
            }
            if !self.outgoing_is_due() && !self.spin() {
                self.sleep();
            }
        }
    }

    /// Sends what the child is owed, as far as it takes it.
    fn flush(&mut self) {
        while self.calls_open && !self.outgoing.is_empty() {
            match send(&self.child.calls, &self.outgoing, SendFlags::NOSIGNAL) {
                Ok(sent) => drop(self.outgoing.drain(..sent)),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return,
                Err(_) => self.hang_up(),
            }
        }
    }

    fn outgoing_is_due(&self) -> bool {
        self.calls_open && self.answered && !self.outgoing.is_empty()
    }

    /// A child that owes us reads is not read from: no queue grows at its will.
    fn wants_frames(&self) -> bool {
        self.calls_open && self.outgoing.is_empty() && self.pending.is_none() && self.done.is_none()
    }

    fn read_frames(&mut self) {
        while self.wants_frames() {
            let said = match self.reader.next_frame() {
                Ok(Some(frame)) => protocol::read(frame, self.calls + 1).map_err(|e| e.to_string()),
                Ok(None) => match self.receive() {
                    true => continue,
                    false => return,
                },
                Err(error) => Err(error.to_string()),
            };
            match said {
                Ok(said) => self.hear(said),
                Err(reason) => self.stop(Stop::Killed, reason),
            }
        }
    }

    /// How the code said it ended, if that lies unread: it came since the last look, or while a
    /// thread of the code still waited for an answer. Calls before it are not made, for nobody is
    /// left to be answered.
    fn read_last_word(&mut self) {
        let mut unmade = 0;
        while self.done.is_none() {
            let expected = self.calls + unmade + 1;
            let said = match self.reader.next_frame() {
                Ok(Some(frame)) => protocol::read(frame, expected).map_err(|e| e.to_string()),
                Ok(None) => match self.receive() {
                    true => continue,
                    false => return,
                },
                Err(error) => Err(error.to_string()),
            };
            match said {
                Ok(Said::Done(done)) => self.done = Some(done),
                Ok(Said::Call(_) | Said::BadCall(_)) => unmade += 1,
                Err(reason) => return self.stop(Stop::Killed, reason),
            }
        }
    }

    /// Reads what is there; false when that is nothing.
    fn receive(&mut self) -> bool {
        let mut leased = [0];
        let buffer = if self.leased {
            self.reader.spare()
        } else {
            &mut leased
        };
        match recv(&self.child.calls, buffer, RecvFlags::DONTWAIT) {
            Ok((0, _)) => self.hang_up(),
            Ok(_) if !self.leased => {
                self.leased = leased == [LEASED];
                return true;
            }
            Ok((received, _)) => {
                self.reader.filled(received);
                return true;
            }
            Err(Errno::INTR) => return true,
            Err(Errno::AGAIN) => {}
            Err(_) => self.hang_up(),
        }
        false
    }

    /// The child closed its socket: it is ending, or has made itself unable to.
    fn hang_up(&mut self) {
        self.calls_open = false;
        self.outgoing.clear();
        self.end_within(LINGER);
    }

    fn hear(&mut self, said: Said) {
        match said {
            Said::Done(done) => {
                self.done = Some(done);
                self.end_within(LINGER);
            }
            // Nobody is left to be answered.
            Said::Call(_) | Said::BadCall(_) if self.child.exit.get().is_some() => {
                self.calls_open = false;
            }
            Said::Call(_) | Said::BadCall(_) if self.must_end.is_some() => {
                // It was told to end; being told again is all it gets.
                self.calls += 1;
                self.answer(&CodeReply::End(Stop::Finished));
            }
            Said::Call(_) | Said::BadCall(_) if self.calls >= self.limits.calls => {
                let reason = format!("more than {} calls", self.limits.calls);
                self.stop(Stop::Calls, reason);
            }
            Said::BadCall(reason) => {
                self.calls += 1;
                self.answer(&CodeReply::Error(reason));
            }
            Said::Call(call) => {
                self.calls += 1;
                self.pending = Some(Pending {
                    answer: (self.host)(call),
                    since: Instant::now(),
                });
                // The first poll is now, whoever rang before.
                self.child.exit.bell.ring();
            }
        }
    }

    fn poll_answer(&mut self) {
        let Some(pending) = &mut self.pending else {
            return;
        };
        if !self.child.exit.bell.hush() {
            return;
        }
        let mut context = Context::from_waker(&self.waker);
        match pending.answer.as_mut().poll(&mut context) {
            Poll::Ready(reply) => {
                self.in_host += pending.since.elapsed();
                self.pending = None;
                if self.slot.is_none() && !self.killed {
                    self.slot = Some(self.slots.take());
                }
                self.answer(&reply);
            }
            Poll::Pending => self.slot = None,
        }
    }

    fn answer(&mut self, reply: &CodeReply) {
        if let CodeReply::End(stop) = reply
            && self.verdict.is_none()
        {
            self.verdict = Some(Verdict::quiet(*stop));
            self.end_within(UNWIND);
        }
        protocol::write_reply(&mut self.outgoing, reply, !self.slots.may_spin());
        self.answered = true;
    }

    fn read_output(&mut self) {
        let mut buffer = [0; 16 << 10];
        while self.output_open {
            match rustix::io::read(&self.child.output, &mut buffer) {
                Ok(0) => self.output_open = false,
                Ok(count) => self.output.push(buffer.get(..count).unwrap_or_default()),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return,
                Err(_) => self.output_open = false,
            }
            if self.output.total > self.limits.output {
                let reason = format!("more than {} bytes of output", self.limits.output);
                self.stop(Stop::Output, reason);
                // What is still in the pipe is of no interest.
                self.output_open = false;
            }
        }
    }

    fn enforce(&mut self) {
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

    /// Cancelling kills the child by itself, so its end may be seen first.
    fn heed_cancel(&mut self) {
        if self.cancel.is_cancelled() {
            self.stop(Stop::Cancelled, "cancelled".into());
        }
    }

    fn look_at_disk(&mut self) {
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
    fn computed(&self) -> Duration {
        self.started.elapsed().saturating_sub(self.in_host)
    }

    fn end_within(&mut self, time: Duration) {
        let end = Instant::now() + time;
        self.must_end = Some(self.must_end.map_or(end, |earlier| earlier.min(end)));
    }

    /// Ends the run now. The first reason stands; what was written counts until the very end, also
    /// after the code said that it is done.
    fn stop(&mut self, stop: Stop, reason: String) {
        let counts = self.done.is_none() || matches!(stop, Stop::Output | Stop::Disk);
        if self.verdict.is_none() && counts {
            self.verdict = Some(Verdict::because(stop, reason));
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

    /// Looks again and again for a moment, while that is cheaper than sleeping. True if there is
    /// something to do.
    fn spin(&mut self) -> bool {
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

    fn sleep(&mut self) {
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

    fn report(mut self) -> Result<Report, SandboxError> {
        let wall = self.computed();
        if self.verdict.is_none() {
            self.look_at_disk();
        }
        let exit = self.child.exit.get();
        let (stdout, stdout_total) = self.output.into_text();
        if !self.leased && self.verdict.is_none() {
            let reason = format!("a child could not enter the jail: {}", stdout.trim());
            return Err(SandboxError::Failed(reason));
        }
        let done = self.done.unwrap_or_default();
        let verdict = judge(self.verdict, &done, exit, &self.limits);
        Ok(Report {
            stop: verdict.stop,
            stdout,
            stdout_total,
            error: verdict.error,
            line: done.line,
            calls: self.calls,
            wall,
            cpu: Duration::from_micros(exit.map_or(0, |exit| exit.cpu_micros)),
            memory_peak: exit.map_or(0, |exit| exit.memory_peak),
            clocks: done.clocks,
            threaded: done.threaded,
        })
    }
}
