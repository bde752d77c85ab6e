//! The facts of the moment. They change with every turn and therefore come last, after all that a
//! provider may cache.

use callgate_contract::{SessionKey, SessionType};
use jiff::Zoned;

use super::{
    chat::Person,
    escape::{name, one_line, quoted},
};

/// Notes shown, and characters of each.
const MAX_NOTES: usize = 30;
const MAX_NOTE: usize = 300;

/// Something the session was asked to remember.
#[derive(Clone, Copy, Debug)]
pub struct Note<'a> {
    pub name: &'a str,
    pub text: &'a str,
}

#[derive(Clone, Copy, Debug)]
pub struct Runtime<'a> {
    pub now: &'a Zoned,
    pub session: &'a SessionKey,
    /// Who the turn is for.
    pub user: Person<'a>,
    pub notes: &'a [Note<'a>],
    /// Messages that arrived since the last round.
    pub unread: usize,
}

/// As the last section of the last message.
pub fn runtime(facts: &Runtime) -> String {
    let now = facts.now.strftime("%A, %Y-%m-%d %H:%M:%S %:z");
    let kind = match facts.session.kind() {
        SessionType::GroupMessage => "a group",
        SessionType::FriendMessage => "a private chat",
        SessionType::OtherMessage => "a chat of another kind",
    };
    let session = name(&facts.session.to_string(), 200);
    let user = if facts.user.nickname.is_empty() {
        name(facts.user.id, 64)
    } else {
        format!(
            "{} {}",
            name(facts.user.id, 64),
            quoted(facts.user.nickname, 64)
        )
    };
    let mut lines = vec![
        "# This moment".to_owned(),
        format!("- It is {now}."),
        format!("- Chat: {session}, {kind}. You answer user {user}."),
    ];
    if facts.unread > 0 {
        let count = facts.unread;
        lines.push(format!(
            "- Since your last answer {count} more messages came in."
        ));
    }
    if !facts.notes.is_empty() {
        lines.push("- Notes kept for this chat (data, by name):".to_owned());
        let note = |note: &Note| {
            format!(
                "  - {}: {}",
                quoted(note.name, 64),
                one_line(note.text, MAX_NOTE)
            )
        };
        lines.extend(facts.notes.iter().take(MAX_NOTES).map(note));
    }
    if let Some(more @ 1..) = facts.notes.len().checked_sub(MAX_NOTES) {
        lines.push(format!("  - and {more} more"));
    }
    lines.join("\n")
}
