//! The real binary, as people and scripts use it: what it prints, how it exits, what it leaves.

#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot go on fails by panicking"
)]

mod approvals;
mod calls;
mod chatting;
mod crashes;
mod model;
mod packages;
mod personas;
mod runs;
mod scene;
mod sending;
mod serving;
mod sessions;
mod texts;
mod tour;
