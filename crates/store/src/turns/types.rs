//! What is stored of a turn, as its callers see it. Requests, replies, plans and reports are JSON
//! in the agent's own shape.

use std::time::Duration;

use callgate_contract::{
    Allowed, Change, ConversationId, JournalId, Mode, Principal, Role, SessionKey, TurnStop, Usage,
};
use jiff::Timestamp;
use serde_json::Value as Json;

use crate::NewMessage;

/// What must be known to go on with a turn after a crash.
#[derive(Clone, Debug, PartialEq)]
pub struct TurnStart {
    pub id: JournalId,
    pub session: SessionKey,
    /// `None` for a turn that keeps no history.
    pub conversation: Option<ConversationId>,
    pub principal: Principal,
    pub role: Role,
    pub mode: Mode,
    pub model: String,
    pub persona: Option<String>,
    pub allowed: Allowed,
    /// The turn whose agent this one is.
    pub parent: Option<JournalId>,
    pub depth: u8,
    /// Nobody has asked for it.
    pub unprompted: bool,
    /// Whatever else the agent needs; `Null` where nothing.
    pub plan: Json,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Turn {
    pub start: TurnStart,
    pub started_at: Timestamp,
    /// `None` while it runs, and after a crash.
    pub finish: Option<TurnFinish>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct TurnFinish {
    pub stop: TurnStop,
    /// `Null` once erased.
    pub report: Json,
    pub at: Timestamp,
}

/// How a turn ends.
#[derive(Clone, Debug)]
pub struct TurnEnd<'a> {
    pub stop: TurnStop,
    pub report: &'a Json,
    /// For its conversation, in order.
    pub messages: &'a [NewMessage],
    /// The answer among them.
    pub changes: &'a [Change],
    /// It has made calls, which may have asked for approvals.
    pub calls: bool,
    /// Words of strangers were in it: they may be in what it said.
    pub tainted: bool,
    /// Time the turn worked, without the time it waited for approvals or a restart.
    pub elapsed: Duration,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Round {
    /// Counts from 1.
    pub number: u32,
    /// `None` where requests are not kept, and once erased.
    pub request: Option<Json>,
    /// At the last attempt.
    pub asked_at: Timestamp,
    /// More than 1 after a crash that hid an answer.
    pub attempts: u32,
    /// `None`: the model was asked and nobody knows what it said.
    pub answer: Option<Answer>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// `Null` once erased.
    pub reply: Json,
    pub usage: Option<Usage>,
    /// In millionths of the operator's currency.
    pub money: Option<u64>,
    pub at: Timestamp,
}
