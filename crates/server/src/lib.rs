//! Callgate over HTTP, and what only a process that stays does: time. It neither opens the data
//! directory nor decides who owns it.

mod clock;
mod http;
mod metrics;
mod visitor;

pub use clock::keep_time;
pub use http::{Site, serve};
pub use metrics::{Counted, Metrics};
pub use visitor::Hosts;
