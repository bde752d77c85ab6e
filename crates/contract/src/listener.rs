//! [`Listener`]: what plugins hear of messages and turns and may change. The agent knows listeners,
//! not plugins.

mod arrival;
mod points;

use serde_json::{Map, Value as Json};

pub use self::{
    arrival::{ArrivalFacts, PlatformFacts, Verdict},
    points::Points,
};
use crate::{
    BoxFuture, ConversationId, JournalId, Mode, ModelReply, ModelRequest, Part, Principal,
    SessionKey,
};

/// The turn a listener hears of.
#[derive(Clone, Debug)]
pub struct TurnFacts {
    pub turn: JournalId,
    pub session: SessionKey,
    pub conversation: Option<ConversationId>,
    pub user: String,
    /// Whose turn it is.
    pub principal: Principal,
    pub mode: Mode,
    pub model: String,
    pub depth: u8,
}

/// What a listener adds to one round of code mode.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contribution {
    /// Whose text, and the text: shown after everything that stays the same between turns.
    pub prompt: Vec<(String, String)>,
    /// Methods, as `origin/name`, that this round is not offered and may not call.
    pub hidden: Vec<String>,
}

fn nothing<'a>() -> BoxFuture<'a, ()> {
    Box::pin(async {})
}

/// Implement this for a source of hooks, overriding only what is mounted. A hook that fails logs it
/// and changes nothing; it cannot fail the turn.
pub trait Listener: Send + Sync {
    /// What it wants to hear, asked before each point: a hook nobody mounted costs nothing. There is
    /// no default, since hearing has a price: a message that somebody is to hear waits for its verdict
    /// and is not offered again after a crash.
    fn points(&self) -> Points;

    /// A stored message, outside the session's lock, before anybody decides whether to answer. It
    /// may take as long as a handler waits for the next message.
    fn arrived<'a>(&'a self, _message: &'a ArrivalFacts) -> BoxFuture<'a, Verdict> {
        Box::pin(async { Verdict::Pass })
    }

    /// Is a message that begins like one of our commands a command of its own? Then it has it.
    fn has_command(&self, _session: &SessionKey, _text: &str) -> bool {
        false
    }

    /// Before each round of code mode.
    fn collect<'a>(&'a self, _turn: &'a TurnFacts) -> BoxFuture<'a, Contribution> {
        Box::pin(async { Contribution::default() })
    }

    /// A system row that somebody pushed into a session's log, before it is answered.
    fn system_row<'a>(
        &'a self,
        _session: &'a SessionKey,
        _text: &'a str,
    ) -> BoxFuture<'a, Verdict> {
        Box::pin(async { Verdict::Pass })
    }

    /// The session begins anew: what was said before no longer counts.
    fn reset<'a>(&'a self, _session: &'a SessionKey) -> BoxFuture<'a, ()> {
        nothing()
    }

    /// The request as it will go to the model.
    fn before_model<'a>(
        &'a self,
        _turn: &'a TurnFacts,
        _request: &'a mut ModelRequest,
    ) -> BoxFuture<'a, ()> {
        nothing()
    }

    /// The reply as it will be recorded and acted on.
    fn after_model<'a>(
        &'a self,
        _turn: &'a TurnFacts,
        _reply: &'a mut ModelReply,
    ) -> BoxFuture<'a, ()> {
        nothing()
    }

    /// A tool call before it reaches the gate.
    fn before_call<'a>(
        &'a self,
        _turn: &'a TurnFacts,
        _method: &'a str,
        _arguments: &'a mut Map<String, Json>,
    ) -> BoxFuture<'a, ()> {
        nothing()
    }

    /// The text of a tool call's result, as the model will read it.
    fn after_call<'a>(
        &'a self,
        _turn: &'a TurnFacts,
        _method: &'a str,
        _result: &'a mut String,
    ) -> BoxFuture<'a, ()> {
        nothing()
    }

    /// The answer before it enters the outbox; emptied, nothing is sent.
    fn before_answer<'a>(
        &'a self,
        _turn: &'a TurnFacts,
        _parts: &'a mut Vec<Part>,
    ) -> BoxFuture<'a, ()> {
        nothing()
    }

    /// An answer whose plugin was to send it and ended before it did; `reference` is that plugin's own
    /// name for what it asked. True if the answer has now been sent.
    fn deliver<'a>(
        &'a self,
        _session: &'a SessionKey,
        _reference: &'a Json,
        _parts: &'a [Part],
    ) -> BoxFuture<'a, bool> {
        Box::pin(async { false })
    }

    /// The turn is over and recorded.
    fn after_turn<'a>(&'a self, _turn: &'a TurnFacts) -> BoxFuture<'a, ()> {
        nothing()
    }
}
