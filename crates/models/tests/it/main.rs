//! The wires by fixtures, the transport against a real server on this machine, and the models that
//! need no server. No provider is ever contacted and no variable of the environment is read.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod aimock;
mod answers;
mod catalogue;
mod demo;
mod embedding;
mod failures;
mod fallbacks;
mod fixtures;
mod hostile;
mod refusals;
mod requests;
mod script;
mod secrets;
mod server;
mod streams;
mod wires;
