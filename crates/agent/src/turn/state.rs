//! [`TurnState`]: a turn as a fold over what has happened in it. [`TurnState::step`] takes the next event
//! and says what is to be done; it reads no clock, asks nobody and forgets nothing. Whether an event is
//! happening now or was recorded by an execution that was cut off makes no difference here.

use std::collections::HashMap;

use callgate_contract::{
    CallArguments, JournalId, Mode, ModelMessage, ModelReply, ModelRequest, Part, Shared, Stop,
    ToolCall, ToolChoice, ToolSpec, TurnStop,
};

use super::event::{Action, Event, RunOutcome, ToolResult};
use crate::{FOR_MODEL, excerpt, extract, language::Language, texts};

/// How often a call may be made with the same arguments in one turn before it is refused; the
/// model is warned one call earlier.
pub(super) const SAME_CALL: usize = 4;

/// What bounds a turn, and how it differs from the usual; the same from its beginning to its end.
#[derive(Clone)]
pub(crate) struct TurnRules {
    pub(crate) turn: JournalId,
    pub(crate) mode: Mode,
    pub(crate) rounds: u32,
    pub(crate) error_retries: u32,
    /// What the model is told when no tool can be called any more.
    pub(crate) last_words: Option<String>,
    /// The answer goes back to whoever asked, with calls of these tools, which are the asker's own.
    pub(crate) returned: Option<Shared<ToolSpec>>,
    /// Messages that come in meanwhile may join it.
    pub(crate) joins: bool,
}

pub(crate) struct TurnState {
    pub(crate) rules: TurnRules,
    pub(crate) request: ModelRequest,
    /// What the turn adds to its conversation.
    pub(crate) added: Vec<ModelMessage>,
    /// The words of a reply whose end never came: people may have read them already.
    pub(crate) unfinished: String,
    pub(crate) round: u32,
    pub(crate) errors: u32,
    pub(crate) calls: u64,
    /// Of calls in tool mode.
    pub(crate) sequence: u64,
    /// How often each call was made.
    made: HashMap<String, usize>,
    phase: Phase,
}

/// What is being done, with what is needed when it is.
#[derive(Default)]
enum Phase {
    #[default]
    Preparing,
    Joining,
    Asking,
    Calling {
        calls: Vec<ToolCall>,
        /// Some calls of the reply are left to the asker.
        left: bool,
        text: String,
    },
    Running {
        /// What stood around the code.
        text: String,
    },
    Ended,
}

impl TurnState {
    pub(crate) fn new(rules: TurnRules) -> Self {
        TurnState {
            rules,
            request: ModelRequest::default(),
            added: Vec::new(),
            unfinished: String::new(),
            round: 0,
            errors: 0,
            calls: 0,
            sequence: 0,
            made: HashMap::new(),
            phase: Phase::Preparing,
        }
    }

    /// `cancelled`: somebody has stopped the turn by now.
    pub(crate) fn step(&mut self, event: Event, cancelled: bool) -> Action {
        match event {
            Event::Prepared {
                request,
                said,
                stopped,
            } => {
                self.request = request;
                self.added = Vec::from_iter(said.map(|parts| ModelMessage::User { parts }));
                if stopped {
                    self.added.clear();
                    return self.finish(TurnStop::Silent, "");
                }
                self.next_round()
            }
            Event::Joined(shown) => {
                if let Some(shown) = shown {
                    self.push(ModelMessage::user(shown));
                }
                self.ask()
            }
            Event::Replied(reply) => self.act_on(reply),
            Event::Unanswered {
                stop,
                text,
                asked,
                unfinished,
            } => {
                if !asked {
                    self.round -= 1;
                }
                if !unfinished.trim().is_empty() {
                    self.added.push(ModelMessage::assistant(&unfinished));
                }
                self.unfinished = unfinished;
                self.finish(stop, text)
            }
            Event::Called(results) => self.after_calls(results, cancelled),
            Event::Ran(run) => self.after_run(run, cancelled),
            Event::NotRun(reason) => {
                let text = texts::no_sandbox(self.language(), &reason);
                self.finish(TurnStop::Error, text)
            }
        }
    }

    /// Of whoever is answered.
    pub(crate) fn language(&self) -> Language {
        match self.added.first() {
            Some(ModelMessage::User { parts }) => Language::of_parts(parts),
            _ => Language::default(),
        }
    }

    /// How often this turn has made the same call before.
    pub(super) fn times_made(&self, call: &ToolCall) -> usize {
        let times = self.made.get(&spelled(call)).copied();
        // The call itself is counted already.
        times.unwrap_or_default().saturating_sub(1)
    }

    fn finish(&mut self, stop: TurnStop, text: impl Into<String>) -> Action {
        self.phase = Phase::Ended;
        Action::Finish {
            stop,
            text: text.into(),
        }
    }

    /// Adds a message to the request and to what the conversation will keep.
    fn push(&mut self, message: ModelMessage) {
        self.request.messages.push(message.clone());
        self.added.push(message);
    }

    fn is_last(&self) -> bool {
        self.round > self.rules.rounds
    }

    fn next_round(&mut self) -> Action {
        self.round += 1;
        if self.is_last() {
            let words = match (self.rules.mode, &self.rules.last_words) {
                (Mode::Code, _) => texts::LAST_ROUND_CODE.to_owned(),
                (Mode::Tools, Some(words)) => words.clone(),
                (Mode::Tools, None) => texts::LAST_ROUND_TOOLS.to_owned(),
            };
            self.push(ModelMessage::user(words));
        }
        // The first round has them all.
        if self.round > 1 && self.rules.joins {
            self.phase = Phase::Joining;
            return Action::Join;
        }
        self.ask()
    }

    fn ask(&mut self) -> Action {
        self.phase = Phase::Asking;
        Action::Ask {
            last: self.is_last(),
        }
    }

    /// Somebody may have stopped the turn meanwhile.
    fn go_on(&mut self, cancelled: bool) -> Action {
        if cancelled {
            self.finish(TurnStop::Cancelled, "")
        } else {
            self.next_round()
        }
    }

    fn act_on(&mut self, reply: ModelReply) -> Action {
        self.push(ModelMessage::from(reply.clone()));
        match self.rules.mode {
            Mode::Code => self.act_on_code(&reply.text),
            Mode::Tools if self.is_last() => self.finish(TurnStop::Limit, reply.text),
            Mode::Tools if reply.tool_calls.is_empty() => {
                self.finish(TurnStop::Answered, reply.text)
            }
            Mode::Tools => self.act_on_calls(reply),
        }
    }

    fn act_on_code(&mut self, text: &str) -> Action {
        let answer = extract(text);
        match answer.code {
            Some(code) => {
                self.phase = Phase::Running { text: answer.text };
                Action::Run { code }
            }
            None if self.is_last() => self.finish(TurnStop::Limit, answer.text),
            None => self.finish(TurnStop::Answered, answer.text),
        }
    }

    fn act_on_calls(&mut self, reply: ModelReply) -> Action {
        let (calls, left) = self.divided(reply.tool_calls);
        let first = self.sequence + 1;
        self.sequence += calls.len() as u64;
        self.calls += calls.len() as u64;
        for call in &calls {
            *self.made.entry(spelled(call)).or_default() += 1;
        }
        self.phase = Phase::Calling {
            calls: calls.clone(),
            left: !left.is_empty(),
            text: reply.text.clone(),
        };
        Action::Call {
            first,
            calls,
            left,
            text: reply.text,
        }
    }

    /// The calls that are ours to make, and those that are left to the asker. Where there are any, all
    /// get names that tell the turn: what comes back under them finds what was said meanwhile.
    fn divided(&mut self, calls: Vec<ToolCall>) -> (Vec<ToolCall>, Vec<ToolCall>) {
        let own = self.rules.returned.clone().unwrap_or_default();
        let is_own = |call: &ToolCall| own.iter().any(|tool| tool.name == call.name);
        if !calls.iter().any(is_own) {
            return (calls, Vec::new());
        }
        let turn = self.rules.turn;
        let name = |(place, call): (usize, ToolCall)| ToolCall {
            id: format!("call_{}_{place}", turn.0.simple()),
            ..call
        };
        let named: Vec<ToolCall> = calls.into_iter().enumerate().map(name).collect();
        for message in [self.request.messages.last_mut(), self.added.last_mut()] {
            if let Some(ModelMessage::Assistant { tool_calls, .. }) = message {
                tool_calls.clone_from(&named);
            }
        }
        let (left, ours) = named.into_iter().partition(is_own);
        (ours, left)
    }

    fn after_calls(&mut self, results: Vec<ToolResult>, cancelled: bool) -> Action {
        let Phase::Calling { calls, left, text } = std::mem::take(&mut self.phase) else {
            return self.go_on(cancelled);
        };
        // A call was demanded and made: from here on the model chooses.
        let choice = &mut self.request.options.tool_choice;
        if matches!(choice, Some(ToolChoice::Required | ToolChoice::Tool(_))) {
            *choice = None;
        }
        if results.iter().any(|result| result.suspend) && !cancelled {
            return Action::Suspend;
        }
        if left {
            for (call, result) in calls.into_iter().zip(results) {
                let mut parts = vec![Part::text(result.text)];
                parts.extend(result.media);
                self.push(ModelMessage::Tool {
                    tool_call_id: call.id,
                    parts,
                });
            }
            return self.finish(TurnStop::Answered, text);
        }
        let ends = results.iter().any(|result| result.ends_turn);
        let mut media = Vec::new();
        for (call, result) in calls.iter().zip(results) {
            self.push(ModelMessage::tool(&call.id, result.text));
            media.extend(result.media);
        }
        if !media.is_empty() {
            self.push(ModelMessage::User { parts: media });
        }
        if ends {
            self.finish(TurnStop::Answered, "")
        } else {
            self.go_on(cancelled)
        }
    }

    fn after_run(&mut self, run: RunOutcome, cancelled: bool) -> Action {
        let text = match std::mem::take(&mut self.phase) {
            Phase::Running { text } => text,
            _ => String::new(),
        };
        self.calls += run.calls;
        match run.stop {
            // What stood around the code is said only where nothing else was.
            Stop::Finished if run.spoken => return self.finish(TurnStop::Answered, ""),
            Stop::Finished => return self.finish(TurnStop::Answered, text),
            // Whoever waits for a returned answer cannot wait for the operator as well.
            Stop::Approval if self.rules.returned.is_none() => return Action::Suspend,
            Stop::Cancelled => {
                if !run.spoken {
                    self.unfinished = text;
                }
                return self.finish(TurnStop::Cancelled, "");
            }
            Stop::Agent | Stop::Multimodal | Stop::Inspect => {
                self.observe(&run.printed, run.observed);
            }
            stop => {
                self.errors += 1;
                if self.errors > self.rules.error_retries {
                    let text = texts::code_failed(self.language(), &run.error);
                    return self.finish(TurnStop::Error, text);
                }
                let text = texts::failed_run(stop, &excerpt(&run.error, FOR_MODEL));
                self.observe(&run.printed, vec![Part::text(text)]);
            }
        }
        if self.is_last() {
            // The last answer was run, not dropped; what it asked for next is over the limit.
            let text = texts::limit(self.language());
            return self.finish(TurnStop::Limit, text);
        }
        self.go_on(cancelled)
    }

    /// The run's outcome as the next round's input: what it printed, then `parts`.
    fn observe(&mut self, printed: &str, parts: Vec<Part>) {
        let mut observed = Vec::new();
        if !printed.trim().is_empty() {
            let printed = excerpt(printed, FOR_MODEL);
            observed.push(Part::text(texts::printed(&printed)));
        }
        observed.extend(parts);
        if observed.is_empty() {
            observed.push(Part::text(texts::NO_OUTPUT));
        }
        self.push(ModelMessage::User { parts: observed });
    }
}

/// A call as it is compared with others.
fn spelled(call: &ToolCall) -> String {
    let arguments = match &call.arguments {
        CallArguments::Object(arguments) => serde_json::to_string(arguments),
        CallArguments::Malformed(text) => serde_json::to_string(text),
    };
    format!("{} {}", call.name, arguments.unwrap_or_default())
}
