//! `/debug`: how the server is, for the operator. Its log holds who came and went and what failed;
//! arguments and keys never enter it.

use std::{
    collections::VecDeque,
    sync::atomic::{AtomicBool, Ordering},
};

use jiff::Timestamp;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use super::{
    Call, Namespace, Peer, Remote,
    newage::{fine, goodbye},
    newage_texts::{self, UNAUTHORIZED},
};
use crate::Capability;

/// Lines that are kept.
const KEPT: usize = 1_000;
const MAX_PAGE: u64 = 100;
/// Compat(newage): the files that its server had. Here each is a view of one log.
const FILES: [(&str, Option<Level>); 4] = [
    ("combined.log", None),
    ("error.log", Some(Level::Error)),
    ("info.log", Some(Level::Info)),
    ("warn.log", Some(Level::Warn)),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Level {
    Info,
    Warn,
    Error,
}

#[derive(Clone, Serialize)]
struct DebugLine {
    timestamp: Timestamp,
    level: Level,
    message: String,
}

/// The newest lines, behind a mutex that is held for a push or a copy.
pub(super) struct Diary {
    lines: Mutex<VecDeque<DebugLine>>,
    began: Timestamp,
    /// Compat(newage): a switch that clients show; nothing is logged that was not before.
    verbose: AtomicBool,
}

impl Default for Diary {
    fn default() -> Self {
        Diary {
            lines: Mutex::default(),
            began: Timestamp::now(),
            verbose: AtomicBool::new(false),
        }
    }
}

impl Diary {
    pub(super) fn note(&self, level: Level, message: String) {
        let mut lines = self.lines.lock();
        if lines.len() == KEPT {
            lines.pop_front();
        }
        lines.push_back(DebugLine {
            timestamp: Timestamp::now(),
            level,
            message,
        });
    }

    /// Newest first.
    fn read(&self, wanted: impl Fn(Level) -> bool) -> Vec<DebugLine> {
        let lines = self.lines.lock();
        let wanted = lines.iter().rev().filter(|line| wanted(line.level));
        wanted.cloned().collect()
    }
}

pub(super) fn namespace() -> Namespace {
    Namespace::new("/debug")
        .admits(admit)
        .on("SERVER_STATUS", status)
        .on("TOGGLE_DEBUG_MODE", toggle)
        .on("READ_LOG", read_log)
        .on("CLIENT_DISCONNECTED", goodbye)
}

async fn admit(_: Remote, peer: Peer) -> Result<(), String> {
    let may = peer.standing().may(Capability::Operator);
    may.then_some(()).ok_or_else(|| UNAUTHORIZED.to_owned())
}

async fn status(call: Call) -> Json {
    let diary = &call.remote.newage().diary;
    let address = None::<std::net::SocketAddr>;
    fine(json!({ "serverStatus": {
        "serverPort": address.map(|address| address.port()),
        "serverAddress": address.map(|address| address.ip().to_string()),
        // Compat(newage): true there means that nobody is asked who they are.
        "networkSafe": false,
        "debugMode": diary.verbose.load(Ordering::Relaxed),
        "startTime": diary.began,
    }}))
}

async fn toggle(call: Call) -> Json {
    let diary = &call.remote.newage().diary;
    let verbose = !diary.verbose.fetch_xor(true, Ordering::Relaxed);
    let mode = json!({ "debugMode": verbose });
    for peer in call.remote.roster().everyone("/debug") {
        let _ = peer.emit("DEBUG_MODE_CHANGED", std::slice::from_ref(&mode));
    }
    fine(mode)
}

async fn read_log(call: Call) -> Result<Json, String> {
    let name = call.text("filename");
    let file = FILES.iter().find(|(file, _)| Some(*file) == name);
    let (_, only) = file.ok_or("Invalid filename")?;
    let level = call.text("level").unwrap_or("all");
    let level: Option<Level> = match level {
        "all" => None,
        level => serde_json::from_value(json!(level)).map_err(|_| "Invalid level Options")?,
    };
    let number = |field: &str, default| match call.first().get(field) {
        None | Some(Json::Null) => Some(default),
        Some(Json::String(text)) => text.parse().ok(),
        Some(number) => number.as_u64(),
    };
    let page = number("page", 1).filter(|page| *page >= 1);
    let page = page.ok_or(newage_texts::BAD_PAGE)?;
    let size = number("pageSize", 10).filter(|size| (1..=MAX_PAGE).contains(size));
    let size = size.ok_or(newage_texts::BAD_PAGE_SIZE)?;
    let wanted = |line| only.is_none_or(|only| line == only) && level.is_none_or(|one| line == one);
    let lines = call.remote.newage().diary.read(wanted);
    let start = usize::try_from((page - 1).saturating_mul(size)).unwrap_or(usize::MAX);
    let shown: Vec<&DebugLine> = lines.iter().skip(start).take(size as usize).collect();
    Ok(fine(json!({
        "lines": shown,
        "total": lines.len(),
        "page": page,
        "pageSize": size,
        "level": call.text("level").unwrap_or("all"),
    })))
}
