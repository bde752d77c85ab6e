//! The sandbox as a whole, with real children: what it lets code do, and what it holds against code
//! that wants more. Bait lies on loopback and in temporary folders only; attacks run in the jail only.
#![allow(clippy::unwrap_used, clippy::expect_used)]
#![allow(
    clippy::disallowed_methods,
    reason = "tests start bait processes, plain Python and copies of themselves"
)]

mod attacks;
mod behaviour;
mod harness;
mod ordinary_user;
mod processes;
mod scripts;
