//! The store on both engines, its files, and the owner's lock.
#![allow(clippy::unwrap_used, clippy::expect_used)]
#![allow(
    clippy::print_stdout,
    reason = "shown where a test fails, or read by the test itself"
)]

mod common;
mod conversations;
mod costs;
mod crash;
mod delivery;
mod erase;
mod files;
mod journal;
mod leases;
mod limits;
mod log;
mod open;
mod owner;
mod personas;
mod plugins;
mod remote;
mod retention;
mod rooms;
mod rows;
mod settings;
mod sharing;
mod spent;
mod statistics;
mod timers;
mod transactions;
mod turns;
mod upgrades;
