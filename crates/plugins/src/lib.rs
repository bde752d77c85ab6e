//! Plugins: Python workers on the trusted side, how what they offer becomes methods of the gate and a
//! listener of turns, and what they may ask of the host. Their code is trusted with their users'
//! calls and nothing else: no database, no keys, no other worker's files.

mod blame;
pub mod check;
mod clock;
mod context;
mod control;
mod cron;
mod described;
pub mod environment;
mod failure;
pub mod form;
mod frame;
mod host;
mod identity;
pub mod install;
pub mod kept;
mod link;
mod listener;
mod live;
mod log;
mod manifest;
pub mod mcp;
mod method;
mod plugins;
mod python;
mod record;
mod render;
pub mod scenario;
mod serve;
mod source;
mod spawn;
pub mod survey;
mod switches;
mod wall;
pub mod watch;
mod worker;

pub use clock::next as next_time;
pub use failure::{Failure, WorkerError};
pub use plugins::{Plugin, PluginOptions, Plugins};
pub use python::unpack as library;
pub use source::{LoadedPlugin, Source};
pub use wall::{NearAddresses, try_wall};
pub use worker::{StepStream, Worker};
