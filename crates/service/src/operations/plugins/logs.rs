//! What a plugin printed, from the end of its log.

use std::{
    fs::File,
    io::{self, Read, Seek, SeekFrom},
    path::Path,
};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Capability, Operation, Requester, Service, ServiceError};

/// Bytes of a log that are looked at.
const TAIL: u64 = 1 << 20;
const LINES: usize = 200;
const MOST_LINES: usize = 5_000;

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListPluginLogs {
    pub id: String,
    /// How many, at most 5000.
    pub limit: Option<usize>,
}

impl Operation for ListPluginLogs {
    type Response = PluginLogs;
    const NAME: &'static str = "plugins.logs";
    const CAPABILITY: Capability = Capability::Read;

    async fn execute(
        self,
        service: &Service,
        _: &Requester,
    ) -> Result<Self::Response, ServiceError> {
        let view = service.plugin_view(&self.id, None).await?;
        let file = service.plugins().log_of(&view.id);
        let read = tokio::task::spawn_blocking(move || tail(&file)).await;
        let text = match read {
            Ok(Ok(text)) => text,
            // Nothing was printed yet.
            _ => String::new(),
        };
        let limit = self.limit.unwrap_or(LINES).clamp(1, MOST_LINES);
        let mut lines: Vec<PluginLine> = text.lines().map(line).collect();
        lines.drain(..lines.len().saturating_sub(limit));
        Ok(PluginLogs { lines })
    }
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct PluginLogs {
    /// The oldest first.
    pub lines: Vec<PluginLine>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct PluginLine {
    /// In the server's own time.
    pub at: Option<String>,
    pub text: String,
}

/// The end of a log, from the beginning of a line.
fn tail(file: &Path) -> io::Result<String> {
    let mut file = File::open(file)?;
    let start = file.metadata()?.len().saturating_sub(TAIL);
    file.seek(SeekFrom::Start(start))?;
    let mut bytes = Vec::new();
    file.take(TAIL).read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    Ok(match (start, text.split_once('\n')) {
        (1.., Some((_, rest))) => rest.to_owned(),
        _ => text,
    })
}

/// `2026-11-15 10:00:00 text`.
fn line(text: &str) -> PluginLine {
    const TIME: usize = "2026-11-15 10:00:00".len();
    let at = text.get(..TIME).filter(|at| {
        let digits = at.bytes().filter(u8::is_ascii_digit).count();
        digits == 14
    });
    match (at, text.get(TIME + 1..)) {
        (Some(at), Some(rest)) => PluginLine {
            at: Some(at.to_owned()),
            text: rest.to_owned(),
        },
        _ => PluginLine {
            at: None,
            text: text.to_owned(),
        },
    }
}
