//! [`Entry`]: a way in with what it needs. Each is named where it is served; together they are the one
//! table of `docs/keys.md`, from which a test calls every one of them.

use callgate_agent::COMMANDS;

use crate::{Capability, operations::OPERATIONS, remote, request::Request};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Surface {
    /// `METHOD path`.
    Http,
    /// `namespace event`.
    SocketIo,
    /// A method of the Model Context Protocol.
    Mcp,
    /// An operation, or what takes longer than one, on the control socket.
    Control,
    /// Without its slash.
    ChatCommand,
}

#[derive(Clone, Debug)]
pub struct Entry {
    pub surface: Surface,
    pub name: String,
    /// Any one of them is enough.
    pub needs: Vec<Capability>,
}

/// Those that are the service's own.
pub fn entries() -> Vec<Entry> {
    let entry = |surface, name: String, needs| Entry {
        surface,
        name,
        needs: vec![needs],
    };
    let operations = OPERATIONS.iter().map(|it| (it.name, it.capability));
    let control = operations.chain(Request::NEEDS.iter().copied());
    let control = control.map(|(name, needs)| entry(Surface::Control, name.to_owned(), needs));
    let events = remote::event_needs().map(|(name, needs)| entry(Surface::SocketIo, name, needs));
    let commands = COMMANDS
        .iter()
        .map(|name| entry(Surface::ChatCommand, (*name).to_owned(), command(name)));
    control.chain(events).chain(commands).collect()
}

/// What a person needs to give a command in a chat that others share. The agent decides it by the
/// person's role, of which an administrator's holds everything and any other nothing; a private chat is
/// its person's own.
fn command(name: &str) -> Capability {
    match name {
        "help" | "stats" | "stop" | "why" => Capability::Anyone,
        "new" | "reset" | "compact" | "persona" | "model" => Capability::Sessions,
        "approve" | "deny" => Capability::Approve,
        _ => Capability::Operator,
    }
}
