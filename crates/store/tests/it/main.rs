//! The store on both engines, its files, and the owner's lock.
#![allow(clippy::unwrap_used, clippy::expect_used)]
#![allow(
    clippy::print_stdout,
    reason = "shown where a test fails, or read by the test itself"
)]

mod common;
mod crash;
mod files;
mod journal;
mod open;
mod owner;
mod rows;
