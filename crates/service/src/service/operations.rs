//! What operators ask of the service beyond turns, runs and calls.

mod plugins;
