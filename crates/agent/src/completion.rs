//! [`Completion`]: one answer to a history that the asker brings along, for surfaces that speak of
//! models and not of chats. It is a turn like any other, on record and paid for; its answer goes
//! back to the asker, and no conversation keeps it. After a crash it is ended, not resumed: nobody waits
//! for it any more. Calls left to the asker carry the turn's id, so that what we called beside them, and
//! what a provider signed, is put back when the asker comes again.

use callgate_contract::{
    Allowed, Cancel, FinishReason, JournalId, Mode, ModelError, ModelMessage, ModelRequest, Part,
    Principal, Role, SessionKey, ToolCall, ToolChoice, TurnStop, Usage,
};
use callgate_store::{CountedMessages, Persona, StoreError, Surroundings, Turn};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::{
    Agent, Override, Parent, TurnAsk, TurnError, Watch,
    language::Language,
    limits::Asking,
    turn::{Returned, SessionContext, Speakers, Told, TurnOptions},
};

/// What is asked.
pub struct Completion {
    /// The turn's id, so that its pieces can be named before it has begun.
    pub id: JournalId,
    pub session: SessionKey,
    pub principal: Principal,
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
    /// The asker hears the words as they come, and cannot take them back: an answer that is cut off
    /// is not begun anew.
    pub streamed: bool,
    pub watch: Watch,
    pub cancel: Cancel,
}

/// What of the asker's side is kept with the answer.
#[derive(Clone, Debug, Default)]
pub struct Keep {
    /// The answer that this request went on from.
    pub previous: Option<JournalId>,
    pub input: Vec<ModelMessage>,
    /// Whatever else the asker wants to find again with the answer.
    pub about: Json,
}

/// What came of it.
#[derive(Clone, Debug, Serialize, Deserialize)]
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

impl Completed {
    /// No model was asked.
    fn refused(asked: &Completion, text: String) -> Self {
        Completed {
            turn: asked.id,
            stop: TurnStop::Budget,
            text,
            failure: None,
            calls: Vec::new(),
            media: Vec::new(),
            finish: FinishReason::Stop,
            usage: None,
            rounds: 0,
            model: asked.model.clone(),
        }
    }
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
    /// Only then may the asker name it and go on from it.
    #[serde(default)]
    pub answer: Option<Stored>,
}

/// An answer as it was given.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Stored {
    pub about: Json,
    pub told: Vec<Told>,
    pub completed: Completed,
}

impl Agent {
    /// Answers. A turn that was begun comes to its recorded end, whatever becomes of the asker.
    pub async fn complete(&self, asked: Completion) -> Result<Completed, TurnError> {
        if asked.parent.is_none() {
            let who = Asking {
                session: &asked.session,
                role: asked.role,
                principal: &asked.principal,
                at: Timestamp::now(),
            };
            let requests = CountedMessages::TurnsOf(&asked.session);
            let refusal = self.refusal(who, requests, Language::default()).await?;
            if let Some(refusal) = refusal {
                return Ok(Completed::refused(&asked, refusal.text));
            }
        }
        let raw = asked.methods == Allowed::Only(Vec::new());
        let mode = self.mode_of(&asked).await?;
        let ask = TurnAsk {
            session: asked.session,
            principal: asked.principal,
            role: asked.role,
            speakers: Speakers::default(),
            parts: Vec::new(),
            rows: Vec::new(),
            conversation: None,
            history: None,
            persona: asked.persona,
            mode,
            model: asked.model,
            parent: asked.parent,
            options: TurnOptions {
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
                    streamed: asked.streamed,
                    ..Returned::default()
                }),
                ..TurnOptions::default()
            },
            watch: asked.watch,
            cancel: asked.cancel,
            // What the asker brings along is all there is.
            known: SessionContext {
                surroundings: Surroundings {
                    tainted: false,
                    ..Surroundings::default()
                },
                ..SessionContext::default()
            },
        };
        let (report, turn) = self.loop_of(ask).await?;
        Ok(turn.completed(&report))
    }

    /// The session's mode, or the persona's. Without a persona nobody tells the model how to write
    /// code; whoever runs tools of its own, or wants an answer of a given form, wants no code.
    async fn mode_of(&self, asked: &Completion) -> Result<Mode, TurnError> {
        let request = &asked.request;
        let is_call = |message: &ModelMessage| match message {
            ModelMessage::Assistant { tool_calls, .. } => !tool_calls.is_empty(),
            ModelMessage::Tool { .. } => true,
            ModelMessage::System { .. } | ModelMessage::User { .. } => false,
        };
        let demand = request.options.tool_choice.as_ref();
        let form = request.options.response_format.as_ref();
        let wants_tools = !request.tools.is_empty()
            || matches!(demand, Some(ToolChoice::Required | ToolChoice::Tool(_)))
            || form.is_some_and(|form| form["type"] != "text")
            || request.messages.iter().any(is_call);
        let Some(persona) = asked.persona.as_ref().filter(|_| !wants_tools) else {
            return Ok(Mode::Tools);
        };
        let chosen = self.chosen(&asked.session, Some(persona), Override::default());
        Ok(chosen.await?.0)
    }

    /// What the turn `id` of this session left behind, and when it began; `None` where there is no
    /// such turn, or nothing of it is kept.
    pub async fn exchange(
        &self,
        session: &SessionKey,
        id: JournalId,
    ) -> Result<Option<(Timestamp, Exchange)>, TurnError> {
        let Some(turn) = self.turn_in(session, id).await? else {
            return Ok(None);
        };
        let report = turn.finish.map(|finish| finish.report);
        let kept = report.and_then(|mut report| report.get_mut("exchange").map(|it| it.take()));
        let kept = kept.and_then(|kept| serde_json::from_value(kept).ok());
        Ok(kept.map(|kept| (turn.started_at, kept)))
    }

    /// Erases every text of a stored answer; false where there is none.
    pub async fn forget(&self, session: &SessionKey, id: JournalId) -> Result<bool, TurnError> {
        let kept = self.exchange(session, id).await?;
        let stored = kept.is_some_and(|(_, kept)| kept.answer.is_some());
        if stored {
            self.store().turns().erase(id).await?;
        }
        Ok(stored)
    }

    async fn turn_in(
        &self,
        session: &SessionKey,
        id: JournalId,
    ) -> Result<Option<Turn>, TurnError> {
        match self.store().turns().get(id).await {
            Ok(turn) => Ok((turn.start.session == *session).then_some(turn)),
            Err(StoreError::UnknownTurn(_)) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}
