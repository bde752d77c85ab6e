//! What a capsule holds, as it is written: one JSON object for each line, the kind of line in `type`.
//! Bytes are base64, times RFC 3339, ids as everywhere.

use std::collections::BTreeMap;

use base64::{Engine, engine::general_purpose::STANDARD};
use callgate_contract::{
    Binding, ConversationId, Effect, Exposure, JournalId, Kind, Mode, Part, Provenance, Role,
    SessionKey, Stop, Surface, TurnStop, Usage,
};
use callgate_store::{LogRole, NewPersona, Sender};
use jiff::Timestamp;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};
use serde_json::Value as Json;

pub const VERSION: u32 = 1;

/// Bytes of session files that a capsule holds at most, all together.
pub const MAX_FILES: u64 = 16 << 20;

/// A capsule in memory.
#[derive(Clone, Debug)]
pub struct Capsule {
    pub header: Header,
    pub personas: Vec<NewPersona>,
    pub methods: Vec<MethodRecord>,
    pub conversations: Vec<ConversationRecord>,
    pub log: Vec<LogRecord>,
    /// Sub-agents' among them.
    pub turns: Vec<TurnRecord>,
    /// Of code that no turn has written.
    pub runs: Vec<RunRecord>,
    pub files: Vec<FileRecord>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Line {
    Capsule(Header),
    Persona(NewPersona),
    Method(MethodRecord),
    Conversation(ConversationRecord),
    Log(LogRecord),
    Turn(TurnRecord),
    Run(RunRecord),
    File(FileRecord),
    /// So that a file cut off is not taken for a short one.
    End {
        /// Before this one.
        lines: u64,
    },
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Header {
    pub version: u32,
    /// Of the callgate that wrote it.
    pub callgate: String,
    /// What code found besides the standard library, as `name version`.
    pub packages: Vec<String>,
    pub session: SessionKey,
    pub exported_at: Timestamp,
    /// The only one in it; `None`: all of the session.
    pub turn: Option<JournalId>,
    pub settings: Limits,
}

/// The operator's settings that decide how a turn goes on.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Limits {
    pub rounds: u32,
    pub error_retries: u32,
    pub observation: usize,
}

/// A method as callers saw it; its code is not in the capsule.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct MethodRecord {
    pub name: String,
    pub origin: String,
    pub aliases: Vec<String>,
    pub title: String,
    pub description: String,
    pub doc: String,
    pub parameters: Json,
    pub returns: String,
    pub kind: Kind,
    pub effect: Effect,
    pub exposure: Exposure,
    pub binding: Binding,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ConversationRecord {
    pub id: ConversationId,
    pub title: Option<String>,
    pub persona: Option<String>,
    pub created_at: Timestamp,
    /// In OpenAI's options.
    pub messages: Vec<Json>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LogRecord {
    pub id: i64,
    pub role: LogRole,
    pub sender: Option<Sender>,
    pub parts: Vec<Part>,
    pub at: Timestamp,
    pub message_id: Option<String>,
    pub hidden: bool,
    pub mentioned: bool,
    pub turn: Option<JournalId>,
    #[serde(default)]
    pub unfinished: bool,
    pub provenance: Option<Provenance>,
    pub journal: Option<JournalId>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TurnRecord {
    pub id: JournalId,
    pub conversation: Option<ConversationId>,
    pub user: String,
    pub role: Role,
    pub mode: Mode,
    pub model: String,
    pub persona: Option<String>,
    /// `None` allows every method.
    pub methods: Option<Vec<String>>,
    pub parent: Option<JournalId>,
    pub depth: u8,
    pub plan: Json,
    pub started_at: Timestamp,
    pub finish: Option<Finished<TurnStop>>,
    pub rounds: Vec<RoundRecord>,
    /// Of tool mode.
    pub calls: Vec<CallRecord>,
    /// Of code mode.
    pub runs: Vec<RunRecord>,
    /// What it added to its conversation.
    pub messages: Vec<Json>,
    /// What plugins made of something on its way, by place.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub altered: BTreeMap<String, Json>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Finished<S> {
    pub stop: S,
    pub report: Json,
    pub at: Timestamp,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RoundRecord {
    pub number: u32,
    pub request: Option<Json>,
    pub asked_at: Timestamp,
    pub attempts: u32,
    pub answer: Option<AnswerRecord>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct AnswerRecord {
    pub reply: Json,
    pub usage: Option<Usage>,
    pub at: Timestamp,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RunRecord {
    pub id: JournalId,
    pub user: String,
    pub role: Role,
    pub surface: Surface,
    pub code: String,
    pub methods: Option<Vec<String>>,
    pub seed: Bytes,
    /// Of the turn it belongs to.
    pub round: Option<u32>,
    pub started_at: Timestamp,
    pub finish: Option<Finished<Stop>>,
    /// Read after the last call.
    pub clocks: Vec<i64>,
    pub threaded: bool,
    pub calls: Vec<CallRecord>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CallRecord {
    pub sequence: u64,
    /// `origin/name`.
    pub method: String,
    pub kind: Kind,
    pub effect: Effect,
    /// In the codec of values.
    pub arguments: Bytes,
    pub clocks: Vec<i64>,
    pub threaded: bool,
    pub outcome: Option<OutcomeRecord>,
}

/// Of what only the operator reads of a failure, nothing.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct OutcomeRecord {
    pub micros: u64,
    pub error: Option<String>,
    /// In the codec of values.
    pub value: Option<Bytes>,
    pub text: Option<String>,
    pub parts: Vec<Part>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct FileRecord {
    pub folder: FolderName,
    pub name: String,
    pub size: u64,
    pub modified: Timestamp,
    /// `None`: it was beyond what a capsule may hold.
    pub content: Option<Bytes>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FolderName {
    Shared,
    Uploads,
}

impl FileRecord {
    /// As code names it.
    pub fn path(&self) -> String {
        let folder = match self.folder {
            FolderName::Shared => "shared",
            FolderName::Uploads => "uploads",
        };
        format!("/app/{folder}/{}", self.name)
    }
}

/// Written as base64.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bytes(pub Vec<u8>);

impl Serialize for Bytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&STANDARD.encode(&self.0))
    }
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        STANDARD.decode(text).map(Bytes).map_err(D::Error::custom)
    }
}
