//! [`Logs`]: the newest lines of the log, kept for the operator to read and told as they come. What
//! is worth a line is decided where it is written.

use std::{
    collections::VecDeque,
    sync::{Arc, OnceLock},
};

use jiff::Timestamp;
use parking_lot::Mutex;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

use crate::{Live, News};

/// Lines that are kept.
const KEPT: usize = 5_000;

#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    Error,
    Warn,
    Info,
    Debug,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct LogLine {
    /// Ascending.
    pub number: u64,
    #[schemars(with = "String")]
    pub at: Timestamp,
    pub level: Level,
    /// Where in the product it was written.
    pub target: String,
    pub message: String,
    pub turn: Option<String>,
    pub plugin: Option<String>,
    pub session: Option<String>,
    /// What else was said along with it.
    pub fields: Map<String, Json>,
}

/// Clones share everything.
#[derive(Clone, Default)]
pub struct Logs(Arc<LogsInner>);

impl std::fmt::Debug for Logs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Logs")
    }
}

#[derive(Default)]
struct LogsInner {
    /// A mutex held for a push or a look: any thread may write a line.
    kept: Mutex<KeptLines>,
    live: OnceLock<Arc<Live>>,
}

#[derive(Default)]
struct KeptLines {
    lines: VecDeque<LogLine>,
    count: u64,
}

impl Logs {
    /// Lines from now on are told there; once, a second one is ignored.
    pub fn attach(&self, live: Arc<Live>) {
        let _ = self.0.live.set(live);
    }

    /// Numbers the line and keeps it.
    pub fn write(&self, mut line: LogLine) {
        {
            let mut kept = self.0.kept.lock();
            kept.count += 1;
            line.number = kept.count;
            kept.lines.push_back(line.clone());
            if kept.lines.len() > KEPT {
                kept.lines.pop_front();
            }
        }
        if let Some(live) = self.0.live.get() {
            live.announce(&News::Log(line));
        }
    }

    /// The newest first, before the line `before`, as many as `limit`.
    pub fn read(
        &self,
        before: Option<u64>,
        limit: usize,
        fits: impl Fn(&LogLine) -> bool,
    ) -> Vec<LogLine> {
        let kept = self.0.kept.lock();
        let older = |line: &&LogLine| before.is_none_or(|before| line.number < before);
        let lines = kept.lines.iter().rev().filter(older);
        lines
            .filter(|line| fits(line))
            .take(limit)
            .cloned()
            .collect()
    }
}
