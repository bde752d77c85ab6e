//! Runs of code against a real gate and store, with a sandbox that only makes calls.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod arriving;
mod durability;
mod extract;
mod kinds;
mod prompt;
mod recovery;
mod scene;
mod search;
mod stage;
mod turns;
