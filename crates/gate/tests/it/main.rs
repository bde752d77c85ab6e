//! The gate as its callers see it, on a store of its own.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod approvals;
mod arguments;
mod authoring;
mod failures;
mod journal;
mod kinds;
mod names;
mod plugins;
mod policy;
mod progress;
mod python;
mod scene;
