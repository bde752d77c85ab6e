//! What a turn is to do next, and what comes of it: [`Action`] and [`Event`]. Between them stands whoever
//! performs actions; what decides is [`super::state::TurnState`].

use callgate_contract::{ModelReply, ModelRequest, Part, Stop, ToolCall, TurnStop};

/// What is to be done next.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Action {
    /// Take along what came in since the last round.
    Join,
    /// Ask the model; the last round has no tools.
    Ask {
        last: bool,
    },
    /// Make the calls, in this order; `left` are the asker's to make.
    Call {
        first: u64,
        calls: Vec<ToolCall>,
        left: Vec<ToolCall>,
        text: String,
    },
    Run {
        code: String,
    },
    Finish {
        stop: TurnStop,
        text: String,
    },
    /// An approval is missing.
    Suspend,
}

/// What came of an action.
pub(crate) enum Event {
    /// The first request, and what the conversation keeps of what was said; `stopped`: a plugin wants no
    /// answer after all.
    Prepared {
        request: ModelRequest,
        said: Option<Vec<Part>>,
        stopped: bool,
    },
    Joined(Option<String>),
    Replied(ModelReply),
    /// There is no reply. `asked`: the model was asked; `unfinished`: what it had said.
    Unanswered {
        stop: TurnStop,
        text: String,
        asked: bool,
        unfinished: String,
    },
    /// In the order of the calls.
    Called(Vec<ToolResult>),
    Ran(RunOutcome),
    /// There is nowhere to run code, and why.
    NotRun(String),
}

/// What a tool call gave, as the model and the turn see it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ToolResult {
    pub(crate) text: String,
    /// Shown after all results: most models take no images in a result.
    pub(crate) media: Vec<Part>,
    pub(crate) ends_turn: bool,
    pub(crate) suspend: bool,
}

impl ToolResult {
    pub(crate) fn text(text: impl Into<String>) -> Self {
        ToolResult {
            text: text.into(),
            ..ToolResult::default()
        }
    }
}

/// What a run of code came to.
#[derive(Clone, Debug)]
pub(crate) struct RunOutcome {
    pub(crate) stop: Stop,
    pub(crate) calls: u64,
    pub(crate) printed: String,
    /// What the method that ended it gave.
    pub(crate) observed: Vec<Part>,
    pub(crate) error: String,
    /// Somebody was told something in this turn.
    pub(crate) spoken: bool,
}
