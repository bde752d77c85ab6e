//! Ending in good order: turns and deliveries under way are waited for, and no turn begins any more. A message that
//! comes meanwhile is in the log, and is answered at the next start.

use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::watch;

use crate::Agent;

/// How many turns and deliveries are under way. A watch, so that whoever waits for the last one misses no change.
pub(crate) struct UnderWay {
    count: watch::Sender<usize>,
    closed: AtomicBool,
}

impl Default for UnderWay {
    fn default() -> Self {
        UnderWay {
            count: watch::Sender::new(0),
            closed: AtomicBool::new(false),
        }
    }
}

/// While it lives, one is under way; also one that nobody waits for any more.
pub(crate) struct Going<'a>(&'a UnderWay);

impl UnderWay {
    pub(crate) fn enter(&self) -> Going<'_> {
        self.count.send_modify(|count| *count += 1);
        Going(self)
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }
}

impl Drop for Going<'_> {
    fn drop(&mut self) {
        self.0.count.send_modify(|count| *count -= 1);
    }
}

impl Agent {
    /// Begins no turn for a message any more. Those under way go on.
    pub fn close(&self) {
        let under_way = &self.sessions().under_way;
        under_way.closed.store(true, Ordering::Release);
    }

    /// Returns when no turn and no delivery is under way.
    pub async fn idle(&self) {
        let mut count = self.sessions().under_way.count.subscribe();
        // The sender lives as long as we do.
        let _ = count.wait_for(|count| *count == 0).await;
    }
}
