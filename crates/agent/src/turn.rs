//! One turn: from the messages it answers to its recorded answer. Every model reply and every call
//! is journaled before it counts, so a turn cut off at any point goes on from its record.

mod address;
mod ask;
mod budget;
mod code;
mod collect;
mod context;
mod preview;
mod returned;
mod shape;
mod tools;

pub use preview::Preview;
pub(crate) use {
    ask::NoReply,
    returned::Returned,
    shape::{Companion, Shape, Tool},
    tools::ToolResult,
};

use std::{
    collections::{HashMap, VecDeque},
    sync::Arc,
    time::Instant,
};

use callgate_contract::{
    Allowed, Budget, Caller, Cancel, Change, Contribution, ConversationId, Grant, JournalId,
    Message, Mode, ModelMessage, ModelRequest, NamedModel, Part, Points, Role, SessionKey, Surface,
    TurnFacts, TurnStop, Usage,
};
use callgate_store::{LogRow, NewMessage, Persona, Round, Run, TurnEnd, TurnStart};
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};
use tracing::{Instrument, Span};

use self::tools::Declared;
use crate::{
    Agent, TurnError,
    asked::{Asked, Past, with_history},
    delegate::both,
    history::to_json,
    recall::History,
    record::Record,
    watch::{TurnEvent, Watch},
};

/// What a turn is asked to do.
pub struct TurnAsk {
    pub session: SessionKey,
    pub user: String,
    pub role: Role,
    /// What to answer.
    pub parts: Vec<Part>,
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
    pub(crate) shape: Shape,
    pub watch: Watch,
    pub cancel: Cancel,
}

/// The caller on whose behalf a sub-agent works: its grant and depth are inherited.
#[derive(Clone, Debug)]
pub struct Parent {
    pub turn: JournalId,
    pub depth: u8,
    pub grant: Arc<Grant>,
}

/// What came of a turn.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TurnReport {
    pub turn: JournalId,
    pub rounds: u32,
    /// `None`: it waits for an approval and goes on when that is answered.
    pub stop: Option<TurnStop>,
    pub calls: u64,
    /// The answer in words; empty where methods said everything.
    pub text: String,
}

/// What follows a round.
pub(crate) enum Next {
    Again,
    End {
        stop: TurnStop,
        text: String,
    },
    /// An approval is missing.
    Suspend,
}

impl Next {
    pub(crate) fn end(stop: TurnStop, text: impl Into<String>) -> Next {
        Next::End {
            stop,
            text: text.into(),
        }
    }
}

pub(crate) struct Turn {
    pub(crate) agent: Agent,
    pub(crate) facts: TurnFacts,
    pub(crate) caller: Caller,
    pub(crate) persona: Option<Persona>,
    pub(crate) model: NamedModel,
    pub(crate) watch: Watch,
    pub(crate) cancel: Cancel,
    /// Of an execution that was cut off.
    recorded_rounds: VecDeque<Round>,
    recorded_runs: Vec<Run>,
    /// Messages that had joined that execution, oldest first.
    joined: Vec<LogRow>,
    /// Answers calls of tool mode; code has a record for each run.
    pub(crate) record: Record,
    pub(crate) sequence: u64,
    pub(crate) request: ModelRequest,
    history: Option<History>,
    /// Where the history in the request lies, if it is a conversation's.
    past: Option<Past>,
    pub(crate) shape: Shape,
    /// Of an execution cut off whose answer was a plugin's to send.
    was_handed_over: bool,
    /// Of all rounds asked now.
    pub(crate) usage: Usage,
    /// The last round that was kept, if what follows can be kept by what it adds.
    asked: Option<Asked>,
    declared: Declared,
    /// How often each call was made in this turn.
    made: HashMap<String, usize>,
    /// The session's arrivals when somebody last looked for messages that join.
    looked_at: Option<u64>,
    /// What listeners said for this round.
    contribution: Contribution,
    /// What this turn adds to its conversation.
    added: Vec<ModelMessage>,
    pub(crate) round: u32,
    pub(crate) errors: u32,
    pub(crate) calls: u64,
    /// The newest log row when the turn began: what is newer was said in this turn, also by an
    /// execution that was cut off.
    pub(crate) log_mark: i64,
    began: Instant,
}

/// Messages one turn may send.
const MESSAGES: u64 = 100;
/// Newer log rows among which a turn that goes on looks for those that had joined it.
const JOINED: u32 = 1_000;

impl Agent {
    /// Begins and runs a turn.
    pub async fn turn(&self, ask: TurnAsk) -> Result<TurnReport, TurnError> {
        self.loop_of(ask).await.map(|(report, _)| report)
    }

    /// The same, with what is left of it.
    pub(crate) async fn loop_of(&self, ask: TurnAsk) -> Result<(TurnReport, Turn), TurnError> {
        let _going = self.sessions().under_way.enter();
        let parts = ask.parts.clone();
        let mut turn = self.begin(ask).await?;
        let span = turn.span();
        let report = turn.run(parts).instrument(span).await?;
        Ok((report, turn))
    }

    /// A turn that is on record and has not asked anything yet.
    pub(crate) async fn begin(&self, ask: TurnAsk) -> Result<Turn, TurnError> {
        let returned = ask.shape.returned.as_ref();
        let id = returned.map_or_else(JournalId::fresh, |asker| asker.id);
        let newest = self.store().log().list(&ask.session, 1).await?;
        let mark = newest.last().map_or(0, |row| row.id);
        let companion = ask.shape.companion.as_ref();
        let hands_over = companion.is_some_and(|companion| companion.delivers);
        let start = TurnStart {
            id,
            session: ask.session,
            conversation: ask.conversation,
            user: ask.user,
            role: ask.role,
            mode: ask.mode,
            model: self.models().choose(Some(&ask.model)).id.clone(),
            persona: ask.persona.as_ref().map(|persona| persona.name.clone()),
            allowed: match returned {
                Some(asker) => both(&asker.methods, persona_methods(ask.persona.as_ref())),
                None => allowed(ask.persona.as_ref()),
            },
            parent: ask.parent.as_ref().map(|parent| parent.turn),
            depth: ask.parent.as_ref().map_or(0, |parent| parent.depth + 1),
            plan: json!({
                "parts": ask.parts,
                "mark": mark,
                "handed_over": hands_over,
                "rounds": ask.shape.rounds,
                "returned": returned.is_some(),
            }),
        };
        self.store().turns().begin(&start, &ask.rows).await?;
        let grant = match (ask.parent, &ask.shape.budget) {
            (Some(parent), _) => Some(parent.grant),
            (None, Some(budget)) => Some(Arc::new(Grant {
                methods: start.allowed.clone(),
                budget: budget.clone(),
                expires: None,
            })),
            (None, None) => None,
        };
        let mut turn = Turn::new(
            self.clone(),
            start,
            ask.persona,
            grant,
            ask.watch,
            ask.cancel,
        );
        let brought = ask.shape.history.clone().map(History::from);
        turn.history = brought.or(ask.history);
        turn.shape = ask.shape;
        Ok(turn)
    }

    /// Goes on with a turn that was cut off or has waited for an approval.
    pub async fn resume(&self, id: JournalId, watch: Watch) -> Result<TurnReport, TurnError> {
        let session = self.store().turns().get(id).await?.start.session;
        let answering = self.sessions().of(&session);
        // It may be waiting for its approval still, and go on by itself.
        let _one_at_a_time = answering.lock.lock().await;
        let _going = self.sessions().under_way.enter();
        let found = self.store().turns().get(id).await?;
        if let Some(finish) = found.finish {
            return Err(TurnError::Ended {
                turn: id,
                stop: finish.stop,
            });
        }
        let start = found.start;
        let parts = serde_json::from_value(start.plan["parts"].clone()).unwrap_or_default();
        let persona = match start.persona.as_deref() {
            Some(name) if name == Persona::built_in().name => Some(Persona::built_in()),
            Some(name) => self.store().personas().get(name).await.ok(),
            None => None,
        };
        let turns = self.store().turns();
        let rounds = with_history(self.store(), id).await?;
        let runs = turns.runs(id).await?;
        let calls = self.store().journal().recorded(id).await?;
        let mark = mark_of(&start.plan);
        let mut newer = self.store().log().since(&session, mark, JOINED).await?;
        newer.retain(|row| row.turn == Some(id));
        let handed_over = start.plan["handed_over"] == true;
        let limit = start.plan["rounds"].as_u64();
        let cancel = Cancel::default();
        let _running = answering.runs(&cancel, &start.user);
        let mut turn = Turn::new(self.clone(), start, persona, None, watch, cancel);
        turn.was_handed_over = handed_over;
        turn.shape.rounds = limit.and_then(|rounds| u32::try_from(rounds).ok());
        turn.recorded_rounds = rounds.into();
        turn.recorded_runs = runs;
        turn.joined = newer;
        turn.record = Record::new(self.gate().clone(), turn.caller.clone(), calls);
        let span = turn.span();
        turn.run(parts).instrument(span).await
    }
}

/// The newest log row when the turn began.
fn mark_of(plan: &Json) -> i64 {
    plan["mark"].as_i64().unwrap_or_default()
}

/// A persona that names methods holds those; none named holds none.
fn allowed(persona: Option<&Persona>) -> Allowed {
    both(&Allowed::All, persona_methods(persona))
}

fn persona_methods(persona: Option<&Persona>) -> Option<&[String]> {
    persona.and_then(|persona| persona.methods.as_deref())
}

impl Turn {
    fn new(
        agent: Agent,
        start: TurnStart,
        persona: Option<Persona>,
        inherited: Option<Arc<Grant>>,
        watch: Watch,
        cancel: Cancel,
    ) -> Self {
        let model = agent.models().choose(Some(&start.model)).clone();
        // A sub-agent may use what its persona holds, paid from the budget of the turn above.
        let methods = start.allowed.clone();
        let grant = match inherited {
            Some(grant) => grant,
            None => Arc::new(Grant {
                methods,
                budget: Budget::new(agent.coder().limits.calls, MESSAGES),
                expires: None,
            }),
        };
        let grant = budget::in_hands_of(&start, &grant, &cancel);
        let facts = TurnFacts {
            turn: start.id,
            session: start.session.clone(),
            conversation: start.conversation,
            user: start.user.clone(),
            mode: start.mode,
            model: model.id.clone(),
            depth: start.depth,
        };
        let surface = match start.mode {
            Mode::Code => Surface::Code,
            Mode::Tools => Surface::ToolCall,
        };
        let caller = Caller {
            session: start.session,
            user: start.user,
            role: start.role,
            surface,
            journal: start.id,
            depth: start.depth,
            grant,
        };
        Turn {
            record: Record::new(agent.gate().clone(), caller.clone(), Vec::new()),
            agent,
            facts,
            caller,
            persona,
            model,
            watch,
            cancel,
            recorded_rounds: VecDeque::new(),
            recorded_runs: Vec::new(),
            joined: Vec::new(),
            sequence: 0,
            request: ModelRequest::default(),
            history: None,
            past: None,
            shape: Shape::default(),
            was_handed_over: false,
            usage: Usage::default(),
            asked: None,
            declared: Declared::default(),
            made: HashMap::new(),
            looked_at: None,
            contribution: Contribution::default(),
            added: Vec::new(),
            round: 0,
            errors: 0,
            calls: 0,
            log_mark: mark_of(&start.plan),
            began: Instant::now(),
        }
    }

    async fn run(&mut self, parts: Vec<Part>) -> Result<TurnReport, TurnError> {
        self.begin_request(parts).await?;
        if self.shape.stopped {
            self.added.clear();
            return self.finish(TurnStop::Silent, String::new()).await;
        }
        loop {
            let over = match self.is_recorded(self.round + 1) {
                // What was asked and answered before is paid for.
                true => None,
                false => self.over_budget().await?,
            };
            let next = match over {
                Some(reason) => Next::end(TurnStop::Budget, reason),
                None => {
                    let span = tracing::debug_span!("round", round = self.round + 1);
                    self.one_round().instrument(span).await?
                }
            };
            match next {
                Next::Again if self.cancel.is_cancelled() => {
                    return self.finish(TurnStop::Cancelled, String::new()).await;
                }
                Next::Again => {}
                Next::End { stop, text } => return self.finish(stop, text).await,
                Next::Suspend => {
                    return Ok(self.report(None, String::new()));
                }
            }
        }
    }

    async fn one_round(&mut self) -> Result<Next, TurnError> {
        match self.facts.mode {
            Mode::Code => self.code_round().await,
            Mode::Tools => self.tool_round().await,
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

    /// Adds a message to the request and to what the conversation will keep.
    pub(crate) fn push(&mut self, message: ModelMessage) {
        self.request.messages.push(message.clone());
        self.added.push(message);
    }

    /// Has the user been told anything since the turn began?
    pub(crate) async fn has_spoken(&self) -> Result<bool, TurnError> {
        let store = self.agent.store();
        let rows = store
            .log()
            .since(&self.facts.session, self.log_mark, 200)
            .await?;
        let said = |row: &callgate_store::LogRow| row.role == callgate_store::LogRole::Assistant;
        Ok(rows.iter().any(said))
    }

    pub(crate) async fn finish(
        &mut self,
        stop: TurnStop,
        text: String,
    ) -> Result<TurnReport, TurnError> {
        let mut answer = match text.trim() {
            "" => Vec::new(),
            text => vec![Part::text(text)],
        };
        // An agent's answer goes to the turn that called it, not to the chat.
        let speaks = self.facts.depth == 0 && !self.is_returned();
        if speaks && !answer.is_empty() {
            for listener in self.agent.listeners(Points::BEFORE_ANSWER) {
                listener.before_answer(&self.facts, &mut answer).await;
            }
        }
        let stop = match stop {
            TurnStop::Answered
                if answer.is_empty() && !self.is_returned() && !self.has_spoken().await? =>
            {
                TurnStop::Silent
            }
            stop => stop,
        };
        let text = crate::history::text_of(&answer);
        let report = self.report(Some(stop), text);
        let speaks = speaks && !answer.is_empty();
        let changes = match speaks && !self.is_delivered(&answer).await? {
            true => vec![Change::Send {
                message: Message {
                    session: self.facts.session.clone(),
                    parts: answer,
                },
            }],
            false => Vec::new(),
        };
        let exchange = self.exchange();
        let added = std::mem::take(&mut self.added);
        let messages: Vec<NewMessage> = added.iter().map(|m| to_json(m).into()).collect();
        let mut json = serde_json::to_value(&report).unwrap_or_default();
        if let Some(exchange) = exchange {
            json["exchange"] = exchange;
        }
        let end = TurnEnd {
            stop,
            report: &json,
            messages: &messages,
            changes: &changes,
            elapsed: self.began.elapsed(),
        };
        self.agent
            .store()
            .turns()
            .finish(self.facts.turn, end)
            .await?;
        if !self.is_returned() {
            self.agent.deliver(&self.facts.session).await;
        }
        for listener in self.agent.listeners(Points::AFTER_TURN) {
            listener.after_turn(&self.facts).await;
        }
        self.watch.tell(TurnEvent::Finished {
            report: report.clone(),
        });
        Ok(report)
    }

    /// Somebody else sends the answer, or has done so before a crash.
    async fn is_delivered(&self, answer: &[Part]) -> Result<bool, TurnError> {
        Ok(self.hand_over(answer).await || self.was_handed_over && self.has_spoken().await?)
    }

    fn report(&self, stop: Option<TurnStop>, text: String) -> TurnReport {
        TurnReport {
            turn: self.facts.turn,
            rounds: self.round,
            stop,
            calls: self.calls,
            text,
        }
    }

    pub(crate) fn is_last_round(&self) -> bool {
        let limit = self.shape.rounds.unwrap_or(self.agent.settings().rounds);
        self.round >= limit
    }
}
