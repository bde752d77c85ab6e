//! One run, seen from the host: a thread that feeds the child its answers, holds it to its limits and
//! reports how it ended.

mod limits;
mod talk;
mod wait;

use std::{
    pin::pin,
    sync::Arc,
    task::{Context, Waker},
    time::{Duration, Instant},
};

use callgate_contract::{
    BoxFuture, Cancel, CodeReply, HostCall, Limits, Report, RunSpec, SandboxError,
    frame::FrameReader,
};

use crate::{
    child::Child,
    disk::{DiskUsage, Folder},
    output::OutputBuffer,
    pool::Pool,
    protocol::{self, GuestResult},
    slots::{Slot, Slots},
    verdict::{RunVerdict, judge},
    wire::{Lease, as_bytes},
};

/// How often the disk is looked at: as long as counting takes, within these bounds.
const SAMPLE: (Duration, Duration) = (Duration::from_millis(20), Duration::from_millis(50));
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
    let mut outgoing = as_bytes(&lease_of(&spec, &child, before)).to_vec();
    protocol::write_init(&mut outgoing, &spec).map_err(|error| failed(&error.at("code")))?;
    let waker = Waker::from(child.exit.bell.clone());
    // Polled once, to ring the bell when it comes; whether it has come is looked up in every round.
    let mut cancelled = pin!(spec.cancel.clone().cancelled_owned());
    let _ = cancelled.as_mut().poll(&mut Context::from_waker(&waker));
    let now = Instant::now();
    let mut run = ActiveRun {
        pool,
        waker,
        output: OutputBuffer::new(spec.limits.output_kept, spec.output.take()),
        // A session that is over its limit may still run, to tidy up, but not grow.
        disk_limit: DiskUsage::limit(spec.limits.disk).or(before),
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

fn lease_of(spec: &RunSpec, child: &Child, before: DiskUsage) -> Lease {
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
            .left(DiskUsage::limit(spec.limits.disk))
            .map_or(0, |left| left.max(SMALLEST_FILE_LIMIT)),
        threads: threads.into(),
    }
}

struct ActiveRun<'a> {
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
    disk_limit: DiskUsage,
    reader: FrameReader,
    outgoing: Vec<u8>,
    output: OutputBuffer,
    leased: bool,
    calls: u64,
    pending: Option<PendingAnswer>,
    started: Instant,
    in_host: Duration,
    answered: bool,
    next_sample: Instant,
    slow_to_count: bool,
    must_end: Option<Instant>,
    verdict: Option<RunVerdict>,
    done: Option<GuestResult>,
    calls_open: bool,
    output_open: bool,
    killed: bool,
}

struct PendingAnswer {
    answer: BoxFuture<'static, CodeReply>,
    since: Instant,
}

impl ActiveRun<'_> {
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
