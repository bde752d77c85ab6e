//! What happens between a message and its answer: arrival, the turn in both modes, runs of code,
//! sub-agents, compaction, and going on after a crash or an approval.
//! Names no sandbox, no provider, no plugin and no transport: those are traits of `contract`.

mod agent;
mod arrival;
mod asked;
pub mod capsule;
pub mod cards;
mod code;
mod commands;
mod compact;
mod completion;
mod confirm;
mod costs;
mod delegate;
mod drain;
mod ending;
mod error;
mod excerpt;
mod extract;
mod follow;
mod history;
mod host;
mod language;
mod limits;
mod nested;
mod parts;
pub mod prompt;
mod recall;
mod record;
mod recovery;
mod rendered;
mod report;
pub mod search;
mod session;
mod settings;
#[cfg(test)]
mod simulation;
mod spending;
mod texts;
pub mod tokens;
mod turn;
mod watch;
mod when;

pub use agent::{Agent, Wiring};
pub use arrival::{Accepted, Arrived, Override};
pub use asked::rounds;
pub use code::{Coder, Resumed, Task};
pub use commands::{COMMANDS, DescribedCommand, described_commands};
pub use completion::{Completed, Completion, Exchange, Keep, Stored};
pub use costs::{CostReport, money, since};
pub use error::{RunError, TurnError};
pub use excerpt::{FOR_MODEL, excerpt};
pub use extract::{Answer, extract, sure_words};
pub use host::NoVectors;
pub use recovery::Recovered;
pub use report::{CallReport, Observation, RunReport};
pub use session::Sessions;
pub use settings::{Administrator, AgentSettings, Allowance, Budgets, NoPlatform};
pub use spending::amount;
pub use turn::{ModelFailure, Parent, Preview, Told, TurnAsk, TurnReport, VectorsAsk};
pub use watch::{TurnEvent, Watch};
pub use when::{AnswerWhen, HourRange, InvalidHours, InvalidPattern, Pace, Patterns, Quiet};
