//! Callgate over HTTP, and what only a process that stays does: time. It neither opens the data
//! directory nor decides who owns it.

mod api;
mod clock;
mod entrance;
mod http;
mod live;
mod metrics;
mod operations;
mod page;
mod plugin_web;
pub mod remote;
mod visitor;

pub use api::Api;
pub use clock::keep_time;
pub use entrance::{Entrance, EntranceError, Tls};
pub use http::{Site, serve, serve_remote};
pub use live::{Event, Hear, Listening, Live};
pub use metrics::{Counted, Metrics};
pub use operations::{CallAsk, Operations, Refused, RunAsk, SettleAsk};
pub use plugin_web::{PluginWeb, Webhook};
pub use remote::Remote;
pub use visitor::Hosts;
