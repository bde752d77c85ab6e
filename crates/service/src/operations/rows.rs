//! Rows of a session's log, as several operations show them.

use callgate_contract::{JournalId, Part, SessionKey};
use callgate_store::{LogRole, LogRow};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct RowView {
    /// Ascending.
    pub id: i64,
    pub session: SessionKey,
    /// `user`, `assistant` or `system`.
    #[schemars(with = "String")]
    pub role: LogRole,
    pub sender: Option<SenderView>,
    pub parts: Vec<Part>,
    #[schemars(with = "String")]
    pub at: Timestamp,
    /// The turn that took it.
    pub turn: Option<String>,
    /// The beginning of an answer that was stopped, or broke off.
    pub unfinished: bool,
    /// Whose words it is that nobody in the chat has said: `method:ORIGIN/NAME`, `plugin:ID`,
    /// `timer`, `planned` or `announcement`.
    pub provenance: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SenderView {
    pub id: String,
    pub name: String,
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
            turn: row.turn.map(journal_id),
            unfinished: row.unfinished,
            provenance: row.provenance.map(|one| one.to_string()),
        }
    }
}

/// As it stands in addresses.
pub(super) fn journal_id(journal: JournalId) -> String {
    journal.0.to_string()
}
