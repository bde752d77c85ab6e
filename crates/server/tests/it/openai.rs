//! OpenAI's API over the agent, as a program asks it.

mod access;
mod chat;
mod code;
mod front_ends;
mod plugins;
mod responses;
mod scene;
mod tools;
