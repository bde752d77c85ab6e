//! The real binary, as people and scripts use it: what it prints, how it exits, what it leaves.

#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "a test that cannot go on fails by panicking"
)]

mod accepting;
mod access;
mod adding_models;
mod administration;
mod api;
mod approvals;
mod astrbot;
mod astrbot_scenarios;
mod astrbot_streaming;
mod backups;
mod bounds;
mod budgets;
mod calls;
mod capabilities;
mod capsules;
mod chatting;
mod connection;
mod contract;
mod costing;
mod crashes;
mod draining;
mod environments;
mod failing_models;
mod finding;
mod frozen;
mod groups;
mod hints;
mod hostile_plugin;
mod importing;
mod installers;
mod instances;
mod jobs;
mod keys;
mod limits;
mod manual;
mod mcp;
mod members;
mod model;
mod near_addresses;
mod openai;
mod outages;
mod outbox;
mod packages;
mod personas;
mod platforms;
mod plugin_walls;
mod plugin_web;
mod plugins;
mod policy;
mod progress;
mod provoked;
mod remote;
mod retention;
mod revocation;
mod runs;
mod sandbox_methods;
mod scene;
mod schema;
mod seed_lines;
mod sending;
mod server;
mod serving;
mod sessions;
mod shadowing;
mod space;
mod speaking;
mod stalling;
mod storage;
mod strange_values;
mod surfaces;
mod texts;
mod tour;
#[cfg(feature = "otel")]
mod traces;
mod unknown;
mod updating;
