//! Runs of code against a real gate and store, with a sandbox that only makes calls.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod arriving;
mod asking;
mod capsules;
mod cards;
mod catalogues;
mod completing;
mod conversations;
mod delivering;
mod durability;
mod extract;
mod histories;
mod hosting;
mod instances;
mod judging;
mod kinds;
mod limits;
mod listening;
mod many;
mod people;
mod planned;
mod prompt;
mod recovery;
mod rooms;
mod scene;
mod search;
mod seeds;
mod stage;
mod statements;
mod transcripts;
mod turns;
