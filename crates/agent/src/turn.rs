//! One turn: from the messages it answers to its recorded answer. Every model reply and every call
//! is journaled before it counts, so a turn cut off at any point goes on from its record.

mod address;
pub(crate) mod altered;
mod ask;
mod begin;
mod budget;
mod code;
mod collect;
mod context;
mod declared;
pub(crate) mod event;
mod finish;
mod options;
pub(crate) mod plan;
mod preview;
mod returned;
mod spoken;
pub(crate) mod state;
mod taint;
mod tools;
mod vectors;
mod voice;

pub use preview::Preview;
pub(crate) use {
    ask::NoReply,
    event::ToolResult,
    options::{Companion, Tool, TurnOptions},
    plan::TurnPlan,
    returned::Returned,
    spoken::{show, words_of},
    taint::own_words,
};
pub use {vectors::VectorsAsk, voice::Told};

use std::{
    collections::{BTreeMap, VecDeque},
    sync::Arc,
    time::Instant,
};

use callgate_contract::{
    Caller, Cancel, Contribution, ConversationId, Grant, JournalId, Method, Mode, NamedModel, Part,
    Principal, Role, SessionKey, TurnFacts, TurnStop, Usage,
};
use callgate_store::{Lease, LogRow, Persona, Round, Run, Surroundings, TurnStart};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use tracing::{Instrument, Span};

use self::{declared::Declared, event::Action, state::TurnState};
use crate::{
    Agent, TurnError,
    asked::{Asked, Past},
    recall::History,
    record::Record,
    session::ClaimGuard,
    watch::Watch,
};

/// What a turn is asked to do.
pub struct TurnAsk {
    pub session: SessionKey,
    pub principal: Principal,
    pub role: Role,
    /// What to answer.
    pub parts: Vec<Part>,
    pub(crate) speakers: Speakers,
    /// The log rows it answers; none for an agent called as a method.
    pub rows: Vec<i64>,
    /// `None` keeps no history.
    pub conversation: Option<ConversationId>,
    /// What that conversation holds, where it has been read.
    pub(crate) history: Option<History>,
    pub persona: Option<Persona>,
    pub mode: Mode,
    pub model: String,
    /// The turn whose agent this one is, and what is left of its rights.
    pub parent: Option<Parent>,
    pub(crate) options: TurnOptions,
    pub watch: Watch,
    pub cancel: Cancel,
    pub(crate) known: SessionContext,
}

/// Whose words they are that a turn answers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Speakers {
    /// Who else has spoken in them.
    pub(crate) others: Vec<Principal>,
    /// What the one it acts for has said; `None` if that is all of it.
    pub(crate) own: Option<Vec<String>>,
}

/// What is known of the session when a turn begins, so that nobody need look.
#[derive(Default)]
pub(crate) struct SessionContext {
    /// What the user is called there.
    pub(crate) nickname: Option<String>,
    pub(crate) surroundings: Surroundings,
}

/// A turn that is not on record yet: it is with its first round.
struct PendingStart {
    lease: Option<Lease>,
    start: TurnStart,
    rows: Vec<i64>,
}

/// The caller on whose behalf a sub-agent works: its grant and depth are inherited.
#[derive(Clone, Debug)]
pub struct Parent {
    pub turn: JournalId,
    pub depth: u8,
    pub grant: Arc<Grant>,
}

/// What came of a turn.
#[derive(Clone, Debug, Serialize, Deserialize, schemars::JsonSchema)]
pub struct TurnReport {
    pub turn: JournalId,
    pub rounds: u32,
    /// `None`: it waits for an approval and goes on when that is answered.
    pub stop: Option<TurnStop>,
    pub calls: u64,
    /// The answer in words; empty where methods said everything.
    pub text: String,
    /// Why its model gave no answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<ModelFailure>,
}

/// Why a model gave no answer, for whoever looks after it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ModelFailure {
    pub model: String,
    /// `auth`, `credits`, `rate_limited`, `context_length`, `bad_request`, `server`, `cut_stream`,
    /// `timeout`, `unreachable`, `malformed` or `exhausted`.
    pub error: String,
    /// The provider's own words, where it has any.
    pub message: String,
}

/// Performs what [`TurnState`] decides: now, or from the record of an execution that was cut off.
pub(crate) struct Turn {
    pub(crate) agent: Agent,
    pub(crate) state: TurnState,
    pub(crate) facts: TurnFacts,
    pub(crate) caller: Caller,
    pub(crate) persona: Option<Persona>,
    pub(crate) model: NamedModel,
    pub(crate) watch: Watch,
    pub(crate) cancel: Cancel,
    earlier: EarlierExecution,
    /// Answers calls of tool mode; code has a record for each run.
    pub(crate) record: Record,
    pub(crate) options: TurnOptions,
    context: RequestContext,
    pub(crate) progress: TurnProgress,
    /// `None` where nothing of it is on record, or all of it.
    claim: Option<ClaimGuard>,
    unbegun: Option<PendingStart>,
}

/// What an execution that was cut off has left.
#[derive(Default)]
struct EarlierExecution {
    rounds: VecDeque<Round>,
    runs: Vec<Run>,
    /// Messages that had joined it, oldest first.
    joined: Vec<LogRow>,
    /// What listeners had changed in it, by place.
    altered: BTreeMap<String, Json>,
    /// Its answer was a plugin's to send.
    handed_over: bool,
}

/// What requests are made of.
#[derive(Default)]
struct RequestContext {
    session: SessionContext,
    history: Option<History>,
    /// Where the history in the request lies, if it is a conversation's.
    past: Option<Past>,
    /// The last round that was kept, if what follows can be kept by what it adds.
    asked: Option<Asked>,
    declared: Declared,
    /// What this round may call.
    methods: Vec<Arc<dyn Method>>,
    /// What listeners said for this round.
    contribution: Contribution,
}

/// How far this execution has come.
pub(crate) struct TurnProgress {
    /// Of all rounds asked now.
    pub(crate) usage: Usage,
    /// The session's arrivals when somebody last looked for messages that join.
    looked_at: Option<u64>,
    /// There was no room to ask the model.
    refused: bool,
    /// The model gave no answer.
    failure: Option<ModelFailure>,
    /// The newest log row when the turn began: what is newer was said in this turn, also by an
    /// execution that was cut off.
    log_mark: i64,
    began: Instant,
}

impl Turn {
    async fn run(&mut self, parts: Vec<Part>) -> Result<TurnReport, TurnError> {
        let mut event = self.begin_request(parts).await?;
        let (mut round, mut of_round) = (0, Span::none());
        loop {
            let action = self.state.step(event, self.cancel.is_cancelled());
            if round != self.state.round {
                round = self.state.round;
                of_round = tracing::debug_span!("round", round);
            }
            let span = of_round.clone();
            event = match action {
                Action::Join => self.join_new_messages().await?,
                Action::Ask { last } => self.ask(last).instrument(span).await?,
                Action::Call {
                    first,
                    calls,
                    left,
                    text,
                } => {
                    self.tell_text(&text).await;
                    if let Some(asker) = &mut self.options.returned {
                        asker.calls = left;
                    }
                    self.call_all(first, calls).instrument(span).await?
                }
                Action::Run { code } => self.run_code(code).instrument(span).await?,
                Action::Finish { stop, text } => return self.finish(stop, text).await,
                Action::Suspend => {
                    // It may wait for long, and nothing more of it is written until it goes on.
                    self.agent.store().journal().flush().await?;
                    self.agent.store().leases().let_go(self.facts.turn).await?;
                    self.end_claim();
                    return Ok(self.report(None, String::new()));
                }
            };
        }
    }

    /// Of the highest level, so that whatever is logged of the turn carries its id.
    fn span(&self) -> Span {
        tracing::error_span!(
            "turn",
            turn = %self.facts.turn.0,
            session = %self.facts.session,
            model = self.facts.model,
            depth = self.facts.depth,
        )
    }

    /// Nobody need take it up again.
    fn end_claim(&mut self) {
        if let Some(claim) = self.claim.take() {
            claim.end();
        }
    }
}
