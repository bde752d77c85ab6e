//! Named places where a test may kill the process. A release build has none.

/// Every crash point. A test kills a process at each and checks what the next one finds.
pub const CRASH_POINTS: &[&str] = &[
    "journal.after_begin",
    "journal.before_intent",
    "journal.after_intent",
    "journal.before_outcome_commit",
    "journal.after_outcome",
    "journal.before_flush_commit",
    "journal.after_flush",
    "journal.before_finish",
    "journal.after_finish",
    "log.after_incoming",
    "turn.before_begin_commit",
    "turn.after_begin",
    "turn.after_asked",
    "turn.before_reply",
    "turn.after_reply",
    "turn.before_finish",
    "turn.before_finish_commit",
    "turn.after_finish",
    "timer.before_fire_commit",
    "timer.after_fire",
    "outbox.after_intent",
    "outbox.after_delivery",
    "outbox.after_receipt",
    "files.before_rename",
    "files.after_rename",
    "approval.after_ask",
    "approval.after_answer",
    "log.before_settle",
    "log.after_settle",
    "request.after_claim",
    "timer.after_claim",
    "lease.after_take",
];

/// Kills the process, as `kill -9` would, where `CALLGATE_CRASH_AT` is `name`, or on the way past
/// it for the second time where it is `name:2`, and so on.
#[inline]
pub fn crash_point(name: &str) {
    #[cfg(debug_assertions)]
    armed::pass(name);
    #[cfg(not(debug_assertions))]
    let _ = name;
}

#[cfg(debug_assertions)]
mod armed {
    use std::sync::{
        LazyLock,
        atomic::{AtomicU32, Ordering},
    };

    use rustix::process::{Signal, getpid, kill_process};

    static AT: LazyLock<Option<(String, AtomicU32)>> = LazyLock::new(|| {
        let at = std::env::var("CALLGATE_CRASH_AT").ok()?;
        let (name, times) = at.split_once(':').unwrap_or((&at, "1"));
        Some((name.to_owned(), AtomicU32::new(times.parse().ok()?)))
    });

    pub(super) fn pass(name: &str) {
        debug_assert!(super::CRASH_POINTS.contains(&name), "unlisted: {name}");
        if let Some((at, left)) = &*AT
            && at == name
            && left.fetch_sub(1, Ordering::Relaxed) == 1
        {
            // Nothing in this process runs after it.
            let _ = kill_process(getpid(), Signal::KILL);
        }
    }
}
