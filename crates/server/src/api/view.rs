//! Shapes that several routes share.

use callgate_contract::{JournalId, Kind, Part, SessionKey};
use callgate_store::{ApprovalState, LogRole, LogRow};
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
    /// The beginning of an answer that was stopped, or broke off.
    unfinished: bool,
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
            unfinished: row.unfinished,
        }
    }
}

pub(super) fn id(journal: JournalId) -> String {
    journal.0.to_string()
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
    /// Whose word let it pass; of calls in a turn's journal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) allowed_by: Option<AllowedBy>,
}

/// What let a call pass, or kept it from passing.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(super) struct AllowedBy {
    pub(super) by: Permit,
    /// Its number, where somebody was asked.
    pub(super) approval: Option<i64>,
    /// `pending`, `allowed` or `denied`, where somebody was asked.
    #[schemars(with = "Option<String>")]
    pub(super) state: Option<ApprovalState>,
    /// Who answered.
    pub(super) who: Option<String>,
    #[schemars(with = "Option<String>")]
    pub(super) at: Option<Timestamp>,
    /// The persona that holds the method.
    pub(super) persona: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum Permit {
    /// The operator was asked.
    Approval,
    /// The operator's word for all calls of the method in this session.
    Rule,
    /// The turn's persona holds it.
    Persona,
}
