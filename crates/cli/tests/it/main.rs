//! The real binary, as people and scripts use it: what it prints, how it exits, what it leaves.

#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot go on fails by panicking"
)]

mod access;
mod adding_models;
mod api;
mod approvals;
mod astrbot;
mod calls;
mod chatting;
mod crashes;
mod model;
mod packages;
mod personas;
mod plugin_web;
mod plugins;
mod remote;
mod runs;
mod sandbox_methods;
mod scene;
mod sending;
mod server;
mod serving;
mod sessions;
mod texts;
mod tour;
