//! A turn in the simulation: its record, which outlives a kill, and an execution of it, which does not.
//! An execution does one small thing at a time, so that anything may happen between two of them.

use std::collections::{HashMap, HashSet};

use callgate_contract::{
    CallArguments, JournalId, Mode, ModelMessage, ModelReply, ModelRequest, Part, Stop, ToolCall,
    TurnStop,
};

use super::random::Random;
use crate::turn::{
    event::{Action, Event, RunOutcome, ToolResult},
    state::{TurnRules, TurnState},
};

const ROUNDS: u32 = 6;
const RETRIES: u32 = 2;

/// What a write came to.
pub(super) enum Written {
    Done,
    /// The store failed before it was written.
    Lost,
    /// It is on record, and whoever wrote it does not know.
    Unheard,
    /// The turn is another's by now.
    Fenced,
}

/// Why an execution goes no further.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Halt {
    Failed,
    Fenced,
}

pub(super) enum Progress {
    Going,
    /// It can take messages along that came meanwhile.
    Joins,
    Suspended,
    Finished,
}

/// What outlives a kill, and what a witness outside has seen.
#[derive(Default)]
pub(super) struct TurnRecord {
    by_code: bool,
    joined: HashMap<u32, Option<String>>,
    replies: HashMap<u32, ModelReply>,
    intents: HashSet<u64>,
    outcomes: HashMap<u64, ToolResult>,
    runs: HashMap<u32, RunOutcome>,
    approved: HashSet<u64>,
    /// The call that waits for the operator.
    asks: Option<u64>,
    /// It has waited for the operator and was not resumed since.
    is_suspended: bool,
    effects: HashMap<u64, u32>,
    /// Which call of which round a number is of.
    numbered: HashMap<u64, (u32, usize)>,
    actions: Vec<Action>,
}

impl TurnRecord {
    pub(super) fn new(by_code: bool) -> Self {
        TurnRecord {
            by_code,
            ..TurnRecord::default()
        }
    }

    pub(super) fn is_waiting(&self) -> bool {
        self.asks.is_some()
    }

    pub(super) fn is_suspended(&self) -> bool {
        self.is_suspended
    }

    fn ask_operator(&mut self, number: u64) {
        self.asks = Some(number);
        self.is_suspended = true;
    }

    /// The operator allows what it waits for.
    pub(super) fn approve(&mut self) {
        self.approved.extend(self.asks.take());
    }

    pub(super) fn check(&self) {
        let twice = self.effects.iter().find(|(_, times)| **times > 1);
        assert_eq!(twice, None, "an effect was made twice");
        let failed = |run: &&RunOutcome| matches!(run.stop, Stop::Error | Stop::Timeout);
        let failed = self.runs.values().filter(failed).count() as u32;
        assert!(failed <= RETRIES + 1, "{failed} runs failed");
    }
}

pub(super) struct Execution {
    state: TurnState,
    action: Action,
    /// How many actions were derived.
    derived: usize,
    /// Results so far of the calls under way.
    results: Vec<ToolResult>,
    /// A call whose effect was made and whose outcome is not written yet.
    made: Option<ToolResult>,
}

impl Execution {
    pub(super) fn begin(record: &mut TurnRecord) -> Self {
        record.is_suspended = false;
        let mut state = TurnState::new(TurnRules {
            turn: JournalId(uuid::Uuid::nil()),
            mode: if record.by_code {
                Mode::Code
            } else {
                Mode::Tools
            },
            rounds: ROUNDS,
            error_retries: RETRIES,
            last_words: None,
            returned: None,
            joins: true,
        });
        let prepared = Event::Prepared {
            request: ModelRequest::default(),
            said: Some(vec![Part::text("hello")]),
            stopped: false,
        };
        let action = state.step(prepared, false);
        let mut execution = Execution {
            state,
            action,
            derived: 0,
            results: Vec::new(),
            made: None,
        };
        execution.is_as_before(record);
        execution
    }

    pub(super) fn is_joining(&self) -> bool {
        self.action == Action::Join
    }

    /// Does the next small thing. `write` is asked what becomes of each write, before it counts.
    pub(super) fn advance(
        &mut self,
        record: &mut TurnRecord,
        random: &mut Random,
        write: &mut dyn FnMut(&mut Random) -> Written,
    ) -> Result<Progress, Halt> {
        let round = self.state.round;
        let event = match &self.action {
            Action::Join => Some(self.join(record, random, write)?),
            Action::Ask { last } => Some(self.ask(*last, record, random, write)?),
            Action::Call { first, calls, .. } => {
                assert!(round <= ROUNDS, "the last round has no tools");
                let (first, calls) = (*first, calls.clone());
                self.call(first, &calls, record, random, write)?
            }
            Action::Run { .. } => Some(self.run(record, random, write)?),
            Action::Finish { .. } => {
                self.is_well_formed();
                written(write(random), || ())?;
                return Ok(Progress::Finished);
            }
            Action::Suspend => return Ok(Progress::Suspended),
        };
        let Some(event) = event else {
            return Ok(Progress::Going);
        };
        self.action = self.state.step(event, false);
        self.derived += 1;
        self.is_as_before(record);
        Ok(if self.is_joining() {
            Progress::Joins
        } else {
            Progress::Going
        })
    }

    /// A record leads to the same actions, however often it is read. Where something was not on record
    /// the history may go on otherwise from there.
    fn is_as_before(&mut self, record: &mut TurnRecord) {
        match record.actions.get(self.derived) {
            Some(before) => {
                assert_eq!(self.action, *before, "action {} of a replay", self.derived);
            }
            None => record.actions.push(self.action.clone()),
        }
    }

    /// What follows was never on record.
    fn forget_later(&self, record: &mut TurnRecord) {
        record.actions.truncate(self.derived + 1);
    }

    fn join(
        &mut self,
        record: &mut TurnRecord,
        random: &mut Random,
        write: &mut dyn FnMut(&mut Random) -> Written,
    ) -> Result<Event, Halt> {
        let round = self.state.round;
        if let Some(known) = record.joined.get(&round) {
            return Ok(Event::Joined(known.clone()));
        }
        let joined = random.chance(3).then(|| "and?".to_owned());
        written(write(random), || {
            self.forget_later(record);
            record.joined.insert(round, joined.clone());
        })?;
        Ok(Event::Joined(joined))
    }

    fn ask(
        &mut self,
        last: bool,
        record: &mut TurnRecord,
        random: &mut Random,
        write: &mut dyn FnMut(&mut Random) -> Written,
    ) -> Result<Event, Halt> {
        let round = self.state.round;
        if let Some(reply) = record.replies.get(&round) {
            return Ok(Event::Replied(reply.clone()));
        }
        let reply = match random.below(12) {
            0 => {
                written(write(random), || self.forget_later(record))?;
                return Ok(Event::Unanswered {
                    stop: TurnStop::Error,
                    text: "it failed".into(),
                    asked: true,
                    unfinished: String::new(),
                });
            }
            1..=4 => said("Done."),
            _ if record.by_code => said(&format!("```python\nact({round})\n```")),
            // Some models call what they were not offered.
            5..=7 if last => said("The end."),
            count => ModelReply {
                tool_calls: (0..1 + count % 3).map(tool_call).collect(),
                ..ModelReply::default()
            },
        };
        written(write(random), || {
            self.forget_later(record);
            let before = record.replies.insert(round, reply.clone());
            assert!(before.is_none(), "a recorded reply was asked for again");
        })?;
        Ok(Event::Replied(reply))
    }

    /// One call, or one half of it; the event when all have their results.
    fn call(
        &mut self,
        first: u64,
        calls: &[ToolCall],
        record: &mut TurnRecord,
        random: &mut Random,
        write: &mut dyn FnMut(&mut Random) -> Written,
    ) -> Result<Option<Event>, Halt> {
        let place = self.results.len();
        if place == calls.len() {
            return Ok(Some(Event::Called(std::mem::take(&mut self.results))));
        }
        let sequence = first + place as u64;
        let of = (self.state.round, place);
        let is = *record.numbered.entry(sequence).or_insert(of);
        assert_eq!(is, of, "two calls have the number {sequence}");
        if let Some(made) = self.made.take() {
            written(write(random), || {
                record.outcomes.insert(sequence, made.clone());
            })?;
            self.results.push(made);
        } else if let Some(known) = record.outcomes.get(&sequence) {
            self.results.push(known.clone());
        } else if record.intents.contains(&sequence) {
            // Nobody knows, and nobody tries again.
            let unknown = ToolResult::text("its outcome is unknown");
            written(write(random), || {
                self.forget_later(record);
                record.outcomes.insert(sequence, unknown.clone());
            })?;
            self.results.push(unknown);
        } else if !record.approved.contains(&sequence) && random.chance(15) {
            written(write(random), || {
                self.forget_later(record);
                record.ask_operator(sequence);
            })?;
            self.results.push(ToolResult {
                suspend: true,
                ..ToolResult::default()
            });
            let rest = calls.len() - self.results.len();
            let unmade = (0..rest).map(|_| ToolResult::default());
            self.results.extend(unmade);
        } else {
            written(write(random), || {
                self.forget_later(record);
                record.intents.insert(sequence);
            })?;
            *record.effects.entry(sequence).or_default() += 1;
            self.made = Some(ToolResult {
                ends_turn: random.chance(20),
                ..ToolResult::text(format!("result {sequence}"))
            });
        }
        Ok(None)
    }

    fn run(
        &mut self,
        record: &mut TurnRecord,
        random: &mut Random,
        write: &mut dyn FnMut(&mut Random) -> Written,
    ) -> Result<Event, Halt> {
        let round = self.state.round;
        if let Some(run) = record.runs.get(&round) {
            return Ok(Event::Ran(run.clone()));
        }
        let stops = [
            Stop::Finished,
            Stop::Agent,
            Stop::Inspect,
            Stop::Error,
            Stop::Timeout,
        ];
        let number = u64::from(round);
        let stop = match random.below(20) {
            0 if !record.approved.contains(&number) => Stop::Approval,
            other => stops[other % stops.len()],
        };
        let run = RunOutcome {
            stop,
            calls: 1,
            printed: "printed".into(),
            observed: Vec::new(),
            error: stop.to_string(),
            spoken: random.chance(2),
        };
        written(write(random), || {
            self.forget_later(record);
            if stop == Stop::Approval {
                record.ask_operator(number);
            } else {
                record.runs.insert(round, run.clone());
            }
        })?;
        Ok(Event::Ran(run))
    }

    /// Every call has its result right after the reply that made it, and bounds hold.
    fn is_well_formed(&self) {
        let (state, messages) = (&self.state, &self.state.request.messages);
        assert!(state.round <= ROUNDS + 1, "{} rounds", state.round);
        assert!(state.errors <= RETRIES + 1);
        let mut open: Vec<&str> = Vec::new();
        for message in messages {
            match message {
                ModelMessage::Tool { tool_call_id, .. } => {
                    assert_eq!(open.first(), Some(&tool_call_id.as_str()), "{messages:?}");
                    open.remove(0);
                }
                _ => assert!(open.is_empty(), "calls without results: {messages:?}"),
            }
            if let ModelMessage::Assistant { tool_calls, .. } = message {
                open = tool_calls.iter().map(|call| call.id.as_str()).collect();
            }
        }
    }
}

pub(super) fn written(fate: Written, apply: impl FnOnce()) -> Result<(), Halt> {
    match fate {
        Written::Done => {
            apply();
            Ok(())
        }
        Written::Unheard => {
            apply();
            Err(Halt::Failed)
        }
        Written::Lost => Err(Halt::Failed),
        Written::Fenced => Err(Halt::Fenced),
    }
}

fn said(text: &str) -> ModelReply {
    ModelReply {
        text: text.into(),
        ..ModelReply::default()
    }
}

fn tool_call(number: usize) -> ToolCall {
    ToolCall {
        id: format!("call {number}"),
        name: "act".into(),
        arguments: CallArguments::Object(Default::default()),
        extra: Default::default(),
    }
}
