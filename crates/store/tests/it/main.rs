//! The store on both engines, its files, and the owner's lock.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;
mod crash;
mod files;
mod journal;
mod open;
mod owner;
mod rows;
