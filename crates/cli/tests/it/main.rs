//! The real binary, as people and scripts use it: what it prints, how it exits, what it leaves.

#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot go on fails by panicking"
)]

mod approvals;
mod calls;
mod crashes;
mod packages;
mod runs;
mod scene;
mod texts;
mod tour;
