//! [`ProgressNotifier`]: what a client hears of its call while it waits: progress if it sent a token for it, log
//! messages if it said how much it wants of them.
#![allow(
    deprecated,
    reason = "clients of the versions that have logging ask for it"
)]

use std::time::Duration;

use callgate_contract::Progress;
use rmcp::{
    Peer, RoleServer,
    model::{
        LoggingLevel, LoggingMessageNotificationParam, ProgressNotificationParam, ProgressToken,
    },
};
use serde_json::json;

const LOGGER: &str = "callgate";
/// Nothing that is told may hold up the answer: who does not take it by then hears no more.
const PATIENCE: Duration = Duration::from_millis(300);
/// Each progress has to be more than the one before: where the method says nothing new, it is more by
/// as much as nobody notices.
const TICK: f64 = 1e-6;

/// How much a client wants to hear.
pub(super) type Level = LoggingLevel;

pub(super) struct ProgressNotifier {
    peer: Peer<RoleServer>,
    token: Option<ProgressToken>,
    level: Option<Level>,
    deaf: bool,
    count: Count,
}

/// What was told last, in the method's own measure once it has one.
#[derive(Default)]
struct Count {
    last: Option<f64>,
    total: Option<f64>,
}

impl Count {
    fn next(&mut self, done: f64) -> f64 {
        let done = self.last.map_or(done, |last| done.max(last + TICK));
        self.last = Some(done);
        done
    }

    fn is_full(&self) -> bool {
        matches!((self.last, self.total), (Some(last), Some(total)) if last >= total)
    }
}

impl ProgressNotifier {
    pub(super) fn new(
        peer: Peer<RoleServer>,
        token: Option<ProgressToken>,
        level: Option<Level>,
    ) -> Self {
        ProgressNotifier {
            peer,
            token,
            level,
            deaf: false,
            count: Count::default(),
        }
    }

    /// Does the client want to hear of progress?
    pub(super) fn looks_on(&self) -> bool {
        self.token.is_some()
    }

    pub(super) async fn begun(&mut self) {
        self.send(0.0, "begun").await;
    }

    /// Nothing new but that it goes on.
    pub(super) async fn goes_on(&mut self, seconds: u64) {
        self.send(0.0, &format!("running for {seconds} s")).await;
    }

    /// What the method says.
    pub(super) async fn progress(&mut self, progress: Progress) {
        self.count.total = progress.total.or(self.count.total);
        self.send(progress.done, &progress.text).await;
    }

    pub(super) async fn finished(&mut self) {
        if !self.count.is_full() {
            let all = self.count.total.unwrap_or_default();
            self.send(all, "finished").await;
        }
    }

    async fn send(&mut self, done: f64, text: &str) {
        let Some(token) = self.token.clone() else {
            return;
        };
        let mut progress = ProgressNotificationParam::new(token, self.count.next(done));
        if let Some(total) = self.count.total {
            progress = progress.with_total(total);
        }
        if !text.is_empty() {
            progress = progress.with_message(text);
        }
        let peer = self.peer.clone();
        self.tell(peer.notify_progress(progress)).await;
    }

    pub(super) async fn note(&mut self, text: String) {
        self.log(LoggingLevel::Info, text).await;
    }

    pub(super) async fn warn(&mut self, text: String) {
        self.log(LoggingLevel::Warning, text).await;
    }

    async fn log(&mut self, level: LoggingLevel, text: String) {
        if self.level.is_some_and(|least| rank(level) >= rank(least)) {
            let message = LoggingMessageNotificationParam::new(level, json!(text));
            let message = message.with_logger(LOGGER);
            let peer = self.peer.clone();
            self.tell(peer.notify_logging_message(message)).await;
        }
    }

    async fn tell<T>(&mut self, telling: impl Future<Output = Result<(), T>>) {
        if !self.deaf {
            self.deaf = !matches!(tokio::time::timeout(PATIENCE, telling).await, Ok(Ok(())));
        }
    }
}

fn rank(level: LoggingLevel) -> u8 {
    match level {
        LoggingLevel::Debug => 0,
        LoggingLevel::Info => 1,
        LoggingLevel::Notice => 2,
        LoggingLevel::Warning => 3,
        LoggingLevel::Error => 4,
        LoggingLevel::Critical => 5,
        LoggingLevel::Alert => 6,
        LoggingLevel::Emergency => 7,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_more_than_the_one_before() {
        let mut count = Count::default();
        let told: Vec<f64> = [0.0, 0.0, 0.0, 50.0, 20.0, 100.0]
            .map(|done| count.next(done))
            .into();
        assert!(told.is_sorted_by(|one, other| one < other), "{told:?}");
        assert_eq!((told[0], told[3], told[5]), (0.0, 50.0, 100.0));
        assert!(!count.is_full());
        count.total = Some(100.0);
        assert!(count.is_full());
    }
}
