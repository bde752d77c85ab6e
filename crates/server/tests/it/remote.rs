//! Remote clients on the wire: a small client of the tests speaks the protocol as text, so that it
//! can also say what no library would.

mod administration;
mod calls;
mod client;
mod files;
mod hostile;
mod ids;
mod offers;
mod order;
mod pairing;
mod repeats;
mod rooms;
mod saving;
mod scene;
mod scopes;
mod statics;
