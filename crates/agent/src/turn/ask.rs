//! Asking the model, once per round. A recorded reply is used and never asked for again; a live one
//! is recorded before anything is done with it.

use callgate_contract::{
    Mode, ModelError, ModelEvent, ModelReply, ModelRequest, NamedModel, Points, Shared, ToolSpec,
    TurnStop, Usage,
};
use callgate_store::KeptRequest;
use tracing::{Instrument, field::Empty};

use super::{ModelFailure, PendingStart, Turn, budget::is_cut_short, event::Event};
use crate::{
    TurnError,
    asked::{Asked, whole},
    host, parts,
    spending::Need,
    texts,
};

/// Why a round has no reply.
pub(crate) enum NoReply {
    Cancelled,
    /// There was no room for the request, or for the rest of its answer; in words for the user.
    Budget(String),
    Model(ModelError),
}

/// A request as the model gets it, and which model that is.
pub(crate) struct Prepared {
    pub(crate) model: NamedModel,
    pub(crate) request: ModelRequest,
    /// Listeners made it another one than the turn's own, so that the next does not begin with it.
    altered: bool,
}

impl Turn {
    /// The round's reply, or why there is none. The last round has no tools.
    pub(super) async fn ask(&mut self, last: bool) -> Result<Event, TurnError> {
        let tools = match self.facts.mode {
            Mode::Tools if last => Shared::default(),
            Mode::Tools => self.round_tools(),
            Mode::Code => {
                // What ran is on record, with the methods it had.
                if self.recorded_run(self.state.round).is_none() {
                    self.collect().await;
                }
                Shared::default()
            }
        };
        Ok(match self.ask_model(tools).await? {
            Ok(reply) => {
                if let Some(asker) = &mut self.options.returned {
                    asker.finish = reply.finish.clone();
                }
                Event::Replied(reply)
            }
            Err(none) => self.without_reply(none),
        })
    }

    fn without_reply(&mut self, none: NoReply) -> Event {
        if let (Some(asker), NoReply::Model(error)) = (&mut self.options.returned, &none) {
            asker.failure = Some(error.clone());
        }
        if let NoReply::Model(error) = &none {
            let model = self.model.id.clone();
            tracing::warn!(model, %error, "a model gave no answer");
            self.progress.failure = Some(ModelFailure {
                model,
                error: error.kind().to_owned(),
                message: error.to_string(),
            });
        }
        let language = self.state.language();
        let (stop, text) = match none {
            NoReply::Cancelled => (TurnStop::Cancelled, String::new()),
            NoReply::Budget(reason) => (TurnStop::Budget, reason),
            NoReply::Model(error) => (TurnStop::Error, texts::model_failed(language, &error)),
        };
        Event::Unanswered {
            stop,
            text,
            asked: !std::mem::take(&mut self.progress.refused),
            unfinished: std::mem::take(&mut self.state.unfinished),
        }
    }

    /// On record, or asked for now.
    pub(crate) async fn ask_model(
        &mut self,
        tools: Shared<ToolSpec>,
    ) -> Result<Result<ModelReply, NoReply>, TurnError> {
        match self.recorded_reply() {
            Some(reply) => Ok(Ok(reply)),
            None => self.ask_now(tools).await,
        }
    }

    /// Does the round that is about to be asked have a reply on record?
    pub(crate) fn has_recorded_reply(&self) -> bool {
        self.is_recorded(self.state.round)
    }

    pub(crate) fn is_recorded(&self, round: u32) -> bool {
        let next = self.earlier.rounds.front();
        next.is_some_and(|next| next.number == round && next.answer.is_some())
    }

    fn recorded_reply(&mut self) -> Option<ModelReply> {
        let next = self.earlier.rounds.front()?;
        if next.number != self.state.round {
            return None;
        }
        let answer = self.earlier.rounds.pop_front()?.answer?;
        serde_json::from_value(answer.reply).ok()
    }

    async fn ask_now(
        &mut self,
        tools: Shared<ToolSpec>,
    ) -> Result<Result<ModelReply, NoReply>, TurnError> {
        let Prepared {
            model,
            mut request,
            altered,
        } = self.prepared(tools).await?;
        let limit = match self.admit(&model, || Need::of(&request)).await? {
            Ok(limit) => limit,
            Err(reason) => {
                self.progress.refused = true;
                return Ok(Err(if self.cancel.is_cancelled() {
                    NoReply::Cancelled
                } else {
                    NoReply::Budget(reason)
                }));
            }
        };
        let kept = if self.agent.settings().keep_requests {
            self.kept(&model, &request, altered)
        } else {
            None
        };
        let turns = self.agent.store().turns();
        match self.unbegun.take() {
            Some(PendingStart { lease, start, rows }) => {
                turns
                    .begin_asking(lease.as_ref(), &start, &rows, kept)
                    .await?;
            }
            None => {
                turns.asked(self.facts.turn, self.state.round, kept).await?;
            }
        }
        self.tell_round();
        let span = tracing::info_span!(
            "model",
            model = model.id,
            input_tokens = Empty,
            output_tokens = Empty,
        );
        request.output_limit = limit.as_ref().map(|limit| limit.tokens);
        let heard = self.listen(&model, &request);
        let mut reply = match heard.instrument(span.clone()).await {
            Ok(reply) => reply,
            Err(none) => return Ok(Err(none)),
        };
        for listener in self.agent.listeners(Points::AFTER_MODEL) {
            listener.after_model(&self.facts, &mut reply).await;
        }
        if let Some(usage) = reply.usage {
            span.record("input_tokens", usage.input);
            span.record("output_tokens", usage.output);
            self.progress.usage = if self.progress.usage == Usage::default() {
                usage
            } else {
                self.progress.usage.plus(usage)
            };
        }
        let json = serde_json::to_value(&reply).unwrap_or_default();
        let charge = self.charge(reply.model.as_deref().unwrap_or(&model.id), reply.usage);
        let (turns, turn) = (self.agent.store().turns(), self.facts.turn);
        if self.is_seen() {
            turns
                .replied(turn, self.state.round, &json, &charge)
                .await?;
        } else {
            // What follows is a write: of a call, of a run or of the end.
            turns.reply_soon(turn, self.state.round, &json, &charge);
        }
        let cut = limit.filter(|limit| is_cut_short(&request, limit, &reply));
        Ok(match cut {
            Some(limit) => Err(NoReply::Budget(limit.reached)),
            None => Ok(reply),
        })
    }

    pub(crate) async fn prepared(&self, tools: Shared<ToolSpec>) -> Result<Prepared, TurnError> {
        let mut request = self.state.request.clone();
        request.tools = tools.clone();
        self.contribute(&mut request);
        for listener in self.agent.listeners(Points::BEFORE_MODEL) {
            listener.before_model(&self.facts, &mut request).await;
        }
        // Whoever only looked has made no copy.
        let altered = !request.messages.is_same(&self.state.request.messages)
            || !request.tools.is_same(&tools)
            || request.options != self.state.request.options;
        if !request.messages.is_same(&self.state.request.messages) {
            self.note_plugins();
        }
        let model = self.model_for(&request);
        let accepts = model.model.accepts();
        if parts::needs_fitting(&request, accepts) {
            let folders = if parts::has_files(&request) {
                Some(self.agent.folders(&self.facts.session).await?)
            } else {
                None
            };
            parts::fit(&mut request, accepts, folders.as_ref());
        }
        Ok(Prepared {
            model,
            request,
            altered,
        })
    }

    /// The request as the journal keeps it.
    fn kept(
        &mut self,
        model: &NamedModel,
        request: &ModelRequest,
        altered: bool,
    ) -> Option<KeptRequest> {
        let asked = Asked::of(&model.id, request, altered);
        let before = self.context.asked.replace(asked);
        let own = &self.state.request.messages;
        let added = before.and_then(|before| before.added(own, &model.id, request, altered));
        // Listeners may change every round anew; without them nothing repeats what was added.
        let repeats = altered || added.is_none();
        let text = added.or_else(|| whole(request, own, self.context.past.as_ref()))?;
        Some(KeptRequest {
            text,
            shared_in: self.facts.conversation.filter(|_| repeats),
        })
    }

    /// The turn's model, or the vision model where the request holds what that one alone can take.
    fn model_for(&self, request: &ModelRequest) -> NamedModel {
        let vision = self.agent.models().vision();
        match vision {
            Some(vision) if parts::exceeds(request, self.model.model.accepts()) => vision.clone(),
            _ => self.model.clone(),
        }
    }

    async fn listen(
        &mut self,
        model: &NamedModel,
        request: &ModelRequest,
    ) -> Result<ModelReply, NoReply> {
        let mut reply = ModelReply::default();
        let mut begun = false;
        // What a budget has left is counted for one answer.
        let limited = request.output_limit.is_some();
        let answer = async {
            let mut stream = model.model.stream(request.clone()).await?;
            begun = true;
            while let Some(event) = stream.next().await {
                let event = event?;
                if event == ModelEvent::Restarted && (limited || self.is_heard()) {
                    return Err(ModelError::CutStream);
                }
                self.tell_event(&event).await;
                reply.absorb(event);
            }
            Ok(())
        };
        let none = tokio::select! {
            answer = answer => match answer {
                Ok(()) => return Ok(reply),
                Err(error) => NoReply::Model(error),
            },
            () = self.cancel.cancelled() => NoReply::Cancelled,
        };
        if begun {
            self.charge_unfinished(model, request, &reply).await;
        }
        self.state.unfinished = reply.text;
        Err(none)
    }

    async fn tell_event(&self, event: &ModelEvent) {
        if let Some(companion) = self.options.companion.as_ref().filter(|c| c.hears_pieces)
            && let Some(piece) = host::piece(event)
        {
            let _ = companion.tell(piece).await;
        }
        match event {
            ModelEvent::TextDelta { text } => self.tell_words(text),
            ModelEvent::ReasoningDelta { text } => self.tell_thought(text),
            ModelEvent::Restarted => self.tell_restart(),
            _ => {}
        }
    }
}
