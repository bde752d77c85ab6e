//! Compat(newage): what its clients and their people read in acks and notices, letter by letter. What we
//! say besides is said in our own words, where it is decided.

pub(super) const UNAUTHORIZED: &str = "Unauthorized";
pub(super) const NOT_TRUSTED: &str = "Client is not trusted.";
pub(super) const INVALID_KEY: &str = "Invalid key.";
pub(super) const CONNECTION_ALIVE: &str = "Yes,connection is fine.";
pub(super) const NO_EXTENSION: &str = "No connected SillyTavern extensions.";
pub(super) const NO_CLIENT_KEY: &str = "Client key not found.";
pub(super) const BAD_PAGE: &str = "Invalid page number";
pub(super) const BAD_PAGE_SIZE: &str = "Invalid page size (must be between 1 and 100)";
pub(super) const BAD_REQUEST: &str = "Invalid LLM request data.";
pub(super) const NOT_YOUR_ROOM: &str = "Invalid or unauthorized target room.";
pub(super) const MUTED: &str = "You are currently muted and cannot send messages.";
pub(super) const NOT_EDITED: &str = "Failed to edit message. It might not exist.";
pub(super) const NOTHING_TO_EDIT: &str = "Missing required fields for editing message.";
pub(super) const NOTHING_TO_DELETE: &str = "Missing required fields for deleting messages.";
pub(super) const NOT_IN_MANUAL_MODE: &str = "Manual assignment is only allowed in Manual mode";

pub(super) fn not_a_member(room: &str) -> String {
    format!("You are not a member of room {room}.")
}

pub(super) fn joined(client: &str, role: &str) -> String {
    format!("[System] {client} has joined the room as {role}.")
}
