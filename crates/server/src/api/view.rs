//! Shapes that several routes share.

use callgate_contract::{JournalId, Kind, Part, SessionKey, Stop};
use callgate_store::{LogRole, LogRow};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value as Json;

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct RowView {
    /// Ascending.
    id: i64,
    session: SessionKey,
    /// `user`, `assistant` or `system`.
    #[schemars(with = "String")]
    role: LogRole,
    sender: Option<SenderView>,
    parts: Vec<Part>,
    #[schemars(with = "String")]
    at: Timestamp,
    /// The turn that took it.
    turn: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct SenderView {
    id: String,
    name: String,
}

impl From<LogRow> for RowView {
    fn from(row: LogRow) -> Self {
        RowView {
            id: row.id,
            session: row.session,
            role: row.role,
            sender: row.sender.map(|sender| SenderView {
                id: sender.id,
                name: sender.name,
            }),
            parts: row.parts,
            at: row.at,
            turn: row.turn.map(id),
        }
    }
}

pub(super) fn id(journal: JournalId) -> String {
    journal.0.to_string()
}

/// What came of code in the sandbox.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct RunView {
    run: String,
    stop: Stop,
    stdout: String,
    error: Option<String>,
    /// The line of the code that `error` points at.
    line: Option<u32>,
    /// What a model would read next.
    observation: Json,
    calls: Vec<CallView>,
    wall_ms: f64,
}

/// One call through the gate.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct CallView {
    pub(super) method: String,
    pub(super) kind: Option<Kind>,
    pub(super) arguments: Json,
    pub(super) value: Option<Json>,
    pub(super) error: Option<String>,
    /// For the operator: a traceback, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) detail: Option<String>,
    pub(super) micros: u64,
}
