//! Workers as the product meets them: real processes, real plugins, the real gate.

#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot go on fails by panicking"
)]

mod calls;
mod deaths;
mod functions;
mod hearing;
mod hosting;
mod mcp;
mod needs;
mod pictures;
mod scene;
mod switches;
mod timers;
mod tools;
mod walls;
