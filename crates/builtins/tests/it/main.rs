//! The built-in methods as callers meet them: through the gate, on a store of their own.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod catalogue;
mod documents;
mod fetching;
mod files;
mod images;
mod messages;
mod notes;
mod scene;
mod site;
mod time;
mod timers;
mod web_pages;
