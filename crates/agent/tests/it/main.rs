//! Runs of code against a real gate and store, with a sandbox that only makes calls.

mod arriving;
mod durability;
mod extract;
mod kinds;
mod scene;
mod search;
mod stage;
mod turns;
