//! Thousands of histories of a turn, each from a seed: models that answer, call, fail and are stopped,
//! calls that need approvals, kills between any two steps. After a kill the record is fed to a new state.
//! Whatever happens, the same record leads to the same actions, no two calls share a number, no effect is
//! made twice, every call has its result, and the turn ends within its bounds. A seed that fails is named and fails again.

use std::collections::{HashMap, HashSet};

use callgate_contract::{
    CallArguments, JournalId, Mode, ModelMessage, ModelReply, ModelRequest, Part, Stop, ToolCall,
    TurnStop,
};

use super::{
    event::{Action, Event, RunOutcome, ToolResult},
    state::{TurnRules, TurnState},
};

const HISTORIES: u64 = 10_000;
const ROUNDS: u32 = 6;
const RETRIES: u32 = 2;

/// SplitMix64: the same numbers for the same seed, everywhere.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % bound
    }

    fn chance(&mut self, one_in: u64) -> bool {
        self.below(one_in) == 0
    }
}

/// The process was killed here.
struct Killed;

/// What outlives a kill, and what a witness outside has seen.
#[derive(Default)]
struct World {
    joined: HashMap<u32, Option<String>>,
    replies: HashMap<u32, ModelReply>,
    intents: HashSet<u64>,
    outcomes: HashMap<u64, ToolResult>,
    runs: HashMap<u32, RunOutcome>,
    effects: HashMap<u64, u32>,
    /// Which call of which round a number is of.
    numbered: HashMap<u64, (u32, usize)>,
    actions: Vec<Action>,
}

struct Life<'a> {
    world: &'a mut World,
    random: &'a mut Random,
    mode: Mode,
    /// How many actions this life has derived.
    derived: usize,
    /// Something waits for the operator's answer.
    waits: bool,
}

impl Life<'_> {
    fn may_die(&mut self) -> Result<(), Killed> {
        if self.random.chance(40) {
            Err(Killed)
        } else {
            Ok(())
        }
    }

    fn run(&mut self) -> Result<Action, Killed> {
        let mut state = TurnState::new(TurnRules {
            turn: JournalId(uuid::Uuid::nil()),
            mode: self.mode,
            rounds: ROUNDS,
            error_retries: RETRIES,
            last_words: None,
            returned: None,
            joins: true,
        });
        let mut event = Event::Prepared {
            request: ModelRequest::default(),
            said: Some(vec![Part::text("hello")]),
            stopped: false,
        };
        loop {
            let action = state.step(event, false);
            self.is_as_before(&action);
            assert_eq!(self.waits, action == Action::Suspend, "{action:?}");
            self.may_die()?;
            let round = state.round;
            event = match action {
                Action::Join => self.join(round)?,
                Action::Ask { last } => self.ask(round, last)?,
                Action::Call { first, calls, .. } => {
                    assert!(round <= ROUNDS, "the last round has no tools");
                    self.call(round, first, &calls)?
                }
                Action::Run { .. } => self.execute(round)?,
                end @ (Action::Finish { .. } | Action::Suspend) => {
                    is_well_formed(&state.request.messages);
                    assert!(round <= ROUNDS + 1, "{round} rounds");
                    assert!(state.errors <= RETRIES + 1);
                    return Ok(end);
                }
            };
            self.may_die()?;
        }
    }

    /// A record leads to the same actions, however often it is read. Where something was not on record
    /// the history may go on otherwise from there.
    fn is_as_before(&mut self, action: &Action) {
        match self.world.actions.get(self.derived) {
            Some(before) => assert_eq!(action, before, "action {} of a replay", self.derived),
            None => self.world.actions.push(action.clone()),
        }
        self.derived += 1;
    }

    /// What follows was lost with the process.
    fn forget_later(&mut self) {
        self.world.actions.truncate(self.derived);
    }

    fn join(&mut self, round: u32) -> Result<Event, Killed> {
        if let Some(known) = self.world.joined.get(&round) {
            return Ok(Event::Joined(known.clone()));
        }
        self.forget_later();
        let joined = self.random.chance(3).then(|| "and?".to_owned());
        self.world.joined.insert(round, joined.clone());
        Ok(Event::Joined(joined))
    }

    fn ask(&mut self, round: u32, last: bool) -> Result<Event, Killed> {
        if let Some(reply) = self.world.replies.get(&round) {
            return Ok(Event::Replied(reply.clone()));
        }
        self.forget_later();
        let reply = match self.random.below(12) {
            0 => {
                return Ok(Event::Unanswered {
                    stop: TurnStop::Error,
                    text: "it failed".into(),
                    asked: true,
                    unfinished: String::new(),
                });
            }
            1..=2 => ModelReply {
                text: "Done.".into(),
                ..ModelReply::default()
            },
            _ if self.mode == Mode::Code => ModelReply {
                text: format!("```python\nact({round})\n```"),
                ..ModelReply::default()
            },
            // Some models call what they were not offered.
            3..=7 if last => ModelReply {
                text: "The end.".into(),
                ..ModelReply::default()
            },
            count => ModelReply {
                tool_calls: (0..1 + count % 3).map(tool_call).collect(),
                ..ModelReply::default()
            },
        };
        self.may_die()?;
        self.world.replies.insert(round, reply.clone());
        Ok(Event::Replied(reply))
    }

    fn call(&mut self, round: u32, first: u64, calls: &[ToolCall]) -> Result<Event, Killed> {
        let mut results = Vec::new();
        for (place, sequence) in (first..).take(calls.len()).enumerate() {
            let number = self.world.numbered.entry(sequence);
            let is = *number.or_insert((round, place));
            assert_eq!(is, (round, place), "two calls have the number {sequence}");
            let known = self.world.outcomes.get(&sequence).cloned();
            results.push(match known {
                Some(result) => result,
                // Nobody knows, and nobody tries again.
                None if self.world.intents.contains(&sequence) => {
                    let unknown = ToolResult::text("its outcome is unknown");
                    self.world.outcomes.insert(sequence, unknown.clone());
                    unknown
                }
                None if self.random.chance(15) => ToolResult {
                    suspend: true,
                    ..ToolResult::default()
                },
                None => self.make(sequence)?,
            });
        }
        if results.iter().any(|result| result.suspend) {
            // When it goes on, the approval is there.
            self.waits = true;
            self.forget_later();
        }
        Ok(Event::Called(results))
    }

    fn make(&mut self, sequence: u64) -> Result<ToolResult, Killed> {
        self.forget_later();
        self.world.intents.insert(sequence);
        self.may_die()?;
        *self.world.effects.entry(sequence).or_default() += 1;
        self.may_die()?;
        let result = ToolResult {
            ends_turn: self.random.chance(20),
            ..ToolResult::text(format!("result {sequence}"))
        };
        self.world.outcomes.insert(sequence, result.clone());
        Ok(result)
    }

    fn execute(&mut self, round: u32) -> Result<Event, Killed> {
        if let Some(run) = self.world.runs.get(&round) {
            return Ok(Event::Ran(run.clone()));
        }
        self.forget_later();
        let stops = [
            Stop::Finished,
            Stop::Agent,
            Stop::Inspect,
            Stop::Error,
            Stop::Timeout,
        ];
        let stop = match self.random.below(20) {
            0 => Stop::Approval,
            number => stops[number as usize % stops.len()],
        };
        let run = RunOutcome {
            stop,
            calls: 1,
            printed: "printed".into(),
            observed: Vec::new(),
            error: stop.to_string(),
            spoken: self.random.chance(2),
        };
        self.may_die()?;
        if stop == Stop::Approval {
            self.waits = true;
        } else {
            self.world.runs.insert(round, run.clone());
        }
        Ok(Event::Ran(run))
    }
}

fn tool_call(number: u64) -> ToolCall {
    ToolCall {
        id: format!("call {number}"),
        name: "act".into(),
        arguments: CallArguments::Object(Default::default()),
        extra: Default::default(),
    }
}

/// Every call has its result right after the reply that made it, unless the turn waits for one.
fn is_well_formed(messages: &[ModelMessage]) {
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

fn history(seed: u64) {
    let mut random = Random(seed);
    let mode = if random.chance(2) {
        Mode::Code
    } else {
        Mode::Tools
    };
    let mut world = World::default();
    for life in 0.. {
        assert!(life < 1_000, "the turn never ends");
        let ended = Life {
            world: &mut world,
            random: &mut random,
            mode,
            derived: 0,
            waits: false,
        }
        .run();
        if let Ok(Action::Finish { .. }) = ended {
            break;
        }
    }
    let twice = world.effects.iter().find(|(_, times)| **times > 1);
    assert_eq!(twice, None, "an effect was made twice");
    let failed = |run: &&RunOutcome| matches!(run.stop, Stop::Error | Stop::Timeout);
    let failed = world.runs.values().filter(failed).count() as u32;
    assert!(failed <= RETRIES + 1, "{failed} runs failed");
}

#[test]
fn every_history_of_a_turn_keeps_the_rules() {
    for seed in 0..HISTORIES {
        let failed = std::panic::catch_unwind(|| history(seed));
        assert!(failed.is_ok(), "seed {seed}");
    }
}
