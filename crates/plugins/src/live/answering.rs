//! Does a worker's loop still answer? One plugin that blocks it keeps all others of the worker waiting. It is
//! noticed soon while calls wait, and named; what becomes of it depends on who waits.

use std::{pin::pin, sync::atomic::Ordering, time::Duration};

use tokio::{
    net::unix::pipe,
    time::{Instant, sleep, timeout, timeout_at},
};

use super::WorkerChannels;
use crate::blame::{self, CodePlace};

/// Between two looks at whether calls wait.
const LOOK: Duration = Duration::from_millis(250);
/// A loop that has not answered for this long while calls wait is blocked.
const NOTICE: Duration = Duration::from_millis(500);
/// How long it may stay so where others wait than who blocks it.
const GRACE: Duration = Duration::from_secs(5);

/// A loop that has not answered for too long.
pub(super) struct Blocked {
    /// What all threads were doing.
    pub(super) stacks: String,
    pub(super) limit: Duration,
}

impl WorkerChannels {
    /// Returns once the loop has not answered for too long. It is asked every `ping`, and more often
    /// while calls wait; `patience` is for what keeps nobody else waiting.
    pub(super) async fn blocked(
        &self,
        dump: &mut pipe::Receiver,
        ping: Duration,
        patience: Duration,
    ) -> Blocked {
        loop {
            let next = Instant::now() + ping;
            while Instant::now() < next {
                sleep(LOOK.min(ping)).await;
                if self.calls() > 0 {
                    break;
                }
            }
            let asked = Instant::now();
            let mut answer = pin!(self.main.ping());
            match timeout(NOTICE.min(patience), &mut answer).await {
                Ok(Ok(())) => continue,
                // Its end is somebody else's to notice.
                Ok(Err(_)) => std::future::pending().await,
                Err(_) => {}
            }
            if self.patient.load(Ordering::Relaxed) > 0 {
                let _ = timeout(patience, answer).await;
                continue;
            }
            let stacks = self.stacks(dump).await;
            let place = blame::find(&stacks, &self.plugins.lock());
            let blocker = place.as_ref().map(|place| place.plugin.clone());
            let blocker = blocker.or_else(|| self.suspect());
            self.tell_blocked(place.as_ref());
            loop {
                let limit = if self.others_wait(blocker.as_deref()) {
                    GRACE.min(patience)
                } else {
                    patience
                };
                if asked.elapsed() >= limit {
                    // What it does now, not what it did then.
                    let stacks = self.stacks(dump).await;
                    return Blocked { stacks, limit };
                }
                let soon = (asked + limit).min(Instant::now() + LOOK);
                match timeout_at(soon, &mut answer).await {
                    Ok(Ok(())) => break,
                    Ok(Err(_)) => std::future::pending().await,
                    // It has begun to load or install something.
                    Err(_) if self.patient.load(Ordering::Relaxed) > 0 => break,
                    Err(_) => {}
                }
            }
        }
    }

    /// Once for each time, while calls wait.
    fn tell_blocked(&self, place: Option<&CodePlace>) {
        let calls = self.calls();
        if calls == 0 {
            return;
        }
        match place {
            Some(CodePlace { plugin, line }) => tracing::warn!(
                plugin,
                line,
                calls,
                "a plugin blocks the event loop of its worker; calls wait"
            ),
            None => tracing::warn!(calls, "a plugin worker does not answer; calls wait"),
        }
    }

    fn calls(&self) -> usize {
        self.busy.lock().len()
    }

    /// More than the one call that may be the blocker's own.
    fn others_wait(&self, blocker: Option<&str>) -> bool {
        let busy = self.busy.lock();
        let others = busy
            .values()
            .filter(|plugin| Some(plugin.as_str()) != blocker);
        busy.len() > 1 || others.count() > 0
    }
}
