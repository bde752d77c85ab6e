//! What the journal stores, as its callers see it. Values are bytes of `contract::codec`.

use std::fmt;

use callgate_contract::{
    Allowed, Effect, JournalId, Kind, Part, Principal, Role, SessionKey, Stop, Surface,
};
use jiff::Timestamp;
use serde_json::Value as Json;

use crate::StoreError;

/// What must be known to execute a run again after a crash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunStart {
    pub id: JournalId,
    pub session: SessionKey,
    pub principal: Principal,
    pub role: Role,
    pub surface: Surface,
    /// `None` for a turn or a direct call.
    pub code: Option<String>,
    pub allowed: Allowed,
    pub seed: [u8; 16],
    /// The turn and the round in it that this run belongs to.
    pub turn: Option<(JournalId, u32)>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    pub start: RunStart,
    pub started_at: Timestamp,
    /// `None` while it runs, and after a crash.
    pub finish: Option<Finish>,
    pub tail: Tail,
}

/// What a run did after its last call, as far as it matters for doing it again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tail {
    /// Clock readings, in nanoseconds.
    pub clocks: Vec<i64>,
    /// It has used threads, or read clocks too often: it has no order to repeat.
    pub threaded: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Finish {
    pub stop: Stop,
    pub report: Json,
    pub at: Timestamp,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallIntent {
    pub journal: JournalId,
    /// Counts from 1.
    pub sequence: u64,
    /// `origin/name`.
    pub method: String,
    pub kind: Kind,
    pub effect: Effect,
    pub arguments: Vec<u8>,
    /// Clock readings of the code since the call before, in nanoseconds.
    pub clocks: Vec<i64>,
    pub threaded: bool,
    /// `None` for the default.
    pub decided_by: Option<DecidedBy>,
}

/// By whose word a call was made or refused. Written `rule:ID`, `approval:ID` or `configured:RULE`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DecidedBy {
    /// A rule or a standing answer of the store.
    Rule(i64),
    /// A rule of the configuration, which has no number: as it was then.
    Configured(String),
    /// Somebody was asked about this call.
    Approval(i64),
}

impl fmt::Display for DecidedBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DecidedBy::Rule(id) => write!(f, "rule:{id}"),
            DecidedBy::Configured(rule) => write!(f, "configured:{rule}"),
            DecidedBy::Approval(id) => write!(f, "approval:{id}"),
        }
    }
}

impl DecidedBy {
    pub(super) fn read(text: &str) -> Result<Self, StoreError> {
        let damaged = || StoreError::damaged("decider", text);
        let (kind, rest) = text.split_once(':').ok_or_else(damaged)?;
        let id = || rest.parse().map_err(|_| damaged());
        match kind {
            "rule" => Ok(DecidedBy::Rule(id()?)),
            "approval" => Ok(DecidedBy::Approval(id()?)),
            "configured" => Ok(DecidedBy::Configured(rest.to_owned())),
            _ => Err(damaged()),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallOutcome {
    /// `Err` is the text the caller was shown.
    pub result: Result<Success, String>,
    /// What only the operator reads of a failure, such as a traceback.
    pub detail: Option<String>,
    pub micros: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Success {
    pub value: Vec<u8>,
    pub text: Option<String>,
    pub parts: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedCall {
    pub intent: CallIntent,
    /// `None`: the call was begun and nobody knows how it ended. Whether it may be repeated is
    /// told by `intent.effect`.
    pub outcome: Option<CallOutcome>,
}
