//! What others depend on, frozen: names, the JSON of the command line, packets of Socket.IO, bodies of
//! HTTP. A change of a snapshot here breaks somebody's script, client or plugin.

mod command_line;
mod http;
mod names;
pub mod redact;
pub mod socket_io;

/// All of them lie in one folder, whichever file asks.
pub fn assert_frozen(name: &str, text: &str) {
    insta::assert_snapshot!(name, text);
}
