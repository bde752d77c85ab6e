//! [`Told`]: what a client hears of its call while it waits: progress if it sent a token for it, log
//! messages if it said how much it wants of them.
#![allow(
    deprecated,
    reason = "clients of the versions that have logging ask for it"
)]

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

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

/// How much a client wants to hear.
pub(super) type Level = LoggingLevel;

pub(super) struct Told {
    peer: Peer<RoleServer>,
    token: Option<ProgressToken>,
    level: Option<Level>,
    deaf: AtomicBool,
}

impl Told {
    pub(super) fn new(
        peer: Peer<RoleServer>,
        token: Option<ProgressToken>,
        level: Option<Level>,
    ) -> Self {
        Told {
            peer,
            token,
            level,
            deaf: AtomicBool::new(false),
        }
    }

    async fn tell<T>(&self, telling: impl Future<Output = Result<(), T>>) {
        if !self.deaf.load(Ordering::Relaxed)
            && !matches!(tokio::time::timeout(PATIENCE, telling).await, Ok(Ok(())))
        {
            self.deaf.store(true, Ordering::Relaxed);
        }
    }

    /// In seconds, since nobody knows how long it will take.
    pub(super) async fn progress(&self, seconds: f64, what: &str) {
        if let Some(token) = self.token.clone() {
            let progress = ProgressNotificationParam::new(token, seconds).with_message(what);
            self.tell(self.peer.notify_progress(progress)).await;
        }
    }

    pub(super) async fn note(&self, text: String) {
        self.log(LoggingLevel::Info, text).await;
    }

    pub(super) async fn warn(&self, text: String) {
        self.log(LoggingLevel::Warning, text).await;
    }

    async fn log(&self, level: LoggingLevel, text: String) {
        if self.level.is_some_and(|least| rank(level) >= rank(least)) {
            let message = LoggingMessageNotificationParam::new(level, json!(text));
            let message = message.with_logger(LOGGER);
            self.tell(self.peer.notify_logging_message(message)).await;
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
