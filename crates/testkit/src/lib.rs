//! For tests only: a store on every engine, and a witness of effects that outlives a crash.
//! Store tests run under plain `cargo test`, one process per test binary: its tests share one
//! PostgreSQL, started by the first of them. A runner that starts a process per test works too,
//! and pays a server start for each.

#![allow(
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a test that cannot go on fails by panicking, and speaks to the test's output"
)]

mod engines;
mod postgres;
mod rounds;
mod witness;

pub use engines::{Home, on_each_engine};
pub use rounds::whole_requests;
pub use witness::Witness;
