//! What happens between a message and its answer. So far: one run of code, its calls through the
//! gate, its effect on the conversation, and its repetition after a crash or an approval.
//! Names no sandbox, no model and no transport: those are traits of `contract`.

mod code;
mod error;
mod excerpt;
mod follow;
mod report;

pub use code::{Coder, Task};
pub use error::RunError;
pub use excerpt::{FOR_MODEL, excerpt};
pub use report::{CallReport, Observation, RunReport};
