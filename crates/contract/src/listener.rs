//! [`Listener`]: what plugins hear of a turn and may change. The agent knows listeners, not plugins.

use serde_json::{Map, Value as Json};

use crate::{
    BoxFuture, ConversationId, JournalId, Mode, ModelReply, ModelRequest, Part, SessionKey,
};

/// The turn a listener hears of.
#[derive(Clone, Debug)]
pub struct TurnFacts {
    pub turn: JournalId,
    pub session: SessionKey,
    pub conversation: Option<ConversationId>,
    pub user: String,
    pub mode: Mode,
    pub model: String,
    pub depth: u8,
}

fn nothing<'a>() -> BoxFuture<'a, ()> {
    Box::pin(async {})
}

/// Implement this for a source of hooks, overriding only what is mounted: a hook nobody mounted
/// costs nothing. A hook that fails logs it and changes nothing; it cannot fail the turn.
pub trait Listener: Send + Sync {
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

    /// The turn is over and recorded.
    fn after_turn<'a>(&'a self, _turn: &'a TurnFacts) -> BoxFuture<'a, ()> {
        nothing()
    }
}
