//! Callgate over HTTP, and what only a process that stays does: time. It neither opens the data
//! directory nor decides who owns it.

mod api;
mod clock;
mod entrance;
mod health;
mod http;
mod jobs;
mod live;
mod logs;
mod mcp;
mod metrics;
mod openai;
pub mod operations;
mod page;
mod plugin_web;
pub mod remote;
mod revocation;
mod scope;
mod unknown;
mod visitor;

pub use api::{Api, ApprovalView};
pub use clock::keep_time;
pub use entrance::{Entrance, EntranceError, Tls};
pub use http::{Site, serve, serve_remote};
pub use jobs::{Job, JobError, JobState, Say};
pub use live::{Event, Hear, JobNews, Listening, Live, News, RunNews};
pub use logs::{Level, LogLine, Logs};
pub use mcp::Mcp;
pub use metrics::{Counted, Metrics, Now};
pub use openai::{Fetch, OpenAi};
pub use operations::{CallAsk, Operation, Operations, Refused, RunAsk, SettleAsk, Why};
pub use plugin_web::{Passing, PluginWeb, Unpassed, Visit, Webhook};
pub use remote::Remote;
pub use scope::{CHAT, MODELS, SCOPES, unknown_scope};
pub use visitor::Hosts;
