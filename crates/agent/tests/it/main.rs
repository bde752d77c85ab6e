//! Runs of code against a real gate and store, with a sandbox that only makes calls.

mod durability;
mod kinds;
mod scene;
