//! [`Completion`]: one answer to a history that the asker brings along, for surfaces that speak of
//! models and not of chats. It is a turn like any other, on record and paid for; its answer goes
//! back to the asker, and no conversation keeps it.

use callgate_contract::{
    Allowed, Cancel, FinishReason, JournalId, Mode, ModelError, ModelMessage, ModelRequest, Part,
    Role, SessionKey, ToolCall, TurnStop, Usage,
};
use callgate_store::{Persona, StoreError};
use serde::{Deserialize, Serialize};

use crate::{
    Agent, Parent, TurnAsk, TurnError, Watch,
    turn::{Returned, Shape, Turn},
};

/// What is asked.
pub struct Completion {
    /// The turn's id, so that its pieces can be named before it has begun.
    pub id: JournalId,
    pub session: SessionKey,
    pub user: String,
    pub role: Role,
    /// Whose words come before the asker's; `None` adds none.
    pub persona: Option<Persona>,
    pub model: String,
    /// Of the gate's methods, those that the asker holds; the persona may hold fewer.
    pub methods: Allowed,
    /// The asker's messages, options, and the tools it runs itself: a call of one ends the turn.
    pub request: ModelRequest,
    /// On whose behalf, where it is a plugin that asks: it pays.
    pub parent: Option<Parent>,
    /// What a later request goes on from.
    pub keep: Option<Keep>,
    pub watch: Watch,
    pub cancel: Cancel,
}

/// What of the asker's side is kept with the answer.
#[derive(Clone, Debug, Default)]
pub struct Keep {
    /// The answer that this request went on from.
    pub previous: Option<JournalId>,
    pub input: Vec<ModelMessage>,
}

/// What came of it.
#[derive(Debug)]
pub struct Completed {
    pub turn: JournalId,
    pub stop: TurnStop,
    /// What the turn itself has to say; of an answer, its last words.
    pub text: String,
    /// Why the model gave no answer.
    pub failure: Option<ModelError>,
    /// Left for the asker to run.
    pub calls: Vec<ToolCall>,
    /// Images and sounds that the model made.
    pub media: Vec<Part>,
    /// Of the last reply.
    pub finish: FinishReason,
    /// Of all rounds; `None` where the provider never said.
    pub usage: Option<Usage>,
    pub rounds: u32,
    /// The id of the model that answered.
    pub model: String,
}

/// A past answer, as a later request goes on from it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Exchange {
    #[serde(default)]
    pub previous: Option<JournalId>,
    #[serde(default)]
    pub input: Vec<ModelMessage>,
    /// All that the turn added: words, calls and results.
    pub added: Vec<ModelMessage>,
    /// The asker may name it and go on from it.
    pub stored: bool,
}

impl Agent {
    /// Answers. A turn that was begun comes to its recorded end, whatever becomes of the asker.
    pub async fn complete(&self, asked: Completion) -> Result<Completed, TurnError> {
        let raw = asked.methods == Allowed::Only(Vec::new());
        let ask = TurnAsk {
            session: asked.session,
            user: asked.user,
            role: asked.role,
            parts: Vec::new(),
            rows: Vec::new(),
            conversation: None,
            history: None,
            persona: asked.persona,
            mode: Mode::Tools,
            model: asked.model,
            parent: asked.parent,
            shape: Shape {
                history: Some(asked.request.messages),
                bare: true,
                // Nothing held is nothing to look for.
                tools: raw.then(Vec::new),
                returned: Some(Returned {
                    id: asked.id,
                    methods: asked.methods,
                    tools: asked.request.tools,
                    options: asked.request.options,
                    keep: asked.keep,
                    ..Returned::default()
                }),
                ..Shape::default()
            },
            watch: asked.watch,
            cancel: asked.cancel,
        };
        let (report, turn) = self.loop_of(ask).await?;
        Ok(completed(turn, report.stop, report.text))
    }

    /// What the turn `id` of this session left behind; `None` where there is no such turn, or
    /// nothing of it is kept.
    pub async fn exchange(
        &self,
        session: &SessionKey,
        id: JournalId,
    ) -> Result<Option<Exchange>, TurnError> {
        let turn = match self.store().turns().get(id).await {
            Ok(turn) => turn,
            Err(StoreError::UnknownTurn(_)) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let report = turn.finish.map(|finish| finish.report);
        let kept = report.filter(|_| turn.start.session == *session);
        let kept = kept.and_then(|mut report| report.get_mut("exchange").map(|it| it.take()));
        Ok(kept.and_then(|kept| serde_json::from_value(kept).ok()))
    }
}

fn completed(turn: Turn, stop: Option<TurnStop>, text: String) -> Completed {
    let returned = turn.shape.returned.unwrap_or_default();
    let media = match turn.request.messages.last() {
        Some(ModelMessage::Assistant { media, .. }) => media.clone(),
        _ => Vec::new(),
    };
    Completed {
        turn: turn.facts.turn,
        stop: stop.unwrap_or(TurnStop::Error),
        text,
        failure: returned.failure,
        calls: returned.calls,
        media,
        finish: returned.finish,
        usage: (turn.usage != Usage::default()).then_some(turn.usage),
        rounds: turn.round,
        model: turn.facts.model,
    }
}
