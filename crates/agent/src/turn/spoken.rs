//! What rows of the log say, as a request shows it. Whoever wrote a line is named by us, never by what
//! the line says.

use std::collections::HashMap;

use callgate_contract::Part;
use callgate_store::{LogRole, LogRow};
use jiff::tz::TimeZone;

use crate::prompt::{ChatBounds, ChatRow, Person, Speaker, chat};

/// Images of recent messages that go along with the chat.
const IMAGES: usize = 4;

/// What the messages of a turn say, whole. Of several people each is named, and so is what nobody in the chat
/// has said, so that a model can tell them apart.
pub(crate) fn words_of(rows: Vec<LogRow>) -> Vec<Part> {
    let sender = |row: &LogRow| row.sender.as_ref().map(|sender| sender.id.clone());
    let first = rows.first().map(sender);
    let are_own = rows.iter().all(|row| row.provenance.is_none());
    if are_own && rows.iter().map(sender).all(|one| Some(one) == first) {
        return rows.into_iter().flat_map(|row| row.parts).collect();
    }
    let bounds = ChatBounds {
        rows: usize::MAX,
        row_bytes: usize::MAX,
        tokens: usize::MAX,
    };
    let mut parts = vec![Part::text(show_within(&rows, &bounds))];
    let said = rows.into_iter().flat_map(|row| row.parts);
    // Their words stand in the lines above.
    parts.extend(said.filter(|part| part.words().is_none()));
    parts
}

pub(crate) fn show(rows: &[LogRow]) -> String {
    show_within(rows, &ChatBounds::default())
}

fn show_within(rows: &[LogRow], bounds: &ChatBounds) -> String {
    let numbers: HashMap<&str, i64> = rows
        .iter()
        .filter_map(|row| Some((row.message_id.as_deref()?, row.id)))
        .collect();
    let chat_row = |row| chat_row(row, &numbers);
    let shown: Vec<ChatRow> = rows.iter().map(chat_row).collect();
    chat(&shown, &TimeZone::system(), bounds)
}

fn chat_row<'a>(row: &'a LogRow, numbers: &HashMap<&str, i64>) -> ChatRow<'a> {
    let speaker = match (row.role, &row.sender) {
        (LogRole::System, _) => Speaker::System,
        (LogRole::Assistant, _) => Speaker::You,
        (LogRole::User, Some(sender)) => Speaker::User(Person {
            id: &sender.id,
            nickname: &sender.name,
        }),
        (LogRole::User, None) => Speaker::User(Person {
            id: "unknown",
            nickname: "",
        }),
    };
    ChatRow {
        id: row.id,
        at: row.at,
        speaker,
        parts: &row.parts,
        to_you: row.mentioned,
        reply_to: row.parts.iter().find_map(|part| match part {
            Part::Reply { to, .. } => numbers.get(to.as_str()).copied(),
            _ => None,
        }),
        unfinished: row.unfinished,
        provenance: row.provenance.as_ref(),
    }
}

/// The newest images people sent, oldest first.
pub(super) fn images(rows: &[LogRow]) -> Vec<Part> {
    let sent = rows.iter().filter(|row| row.role == LogRole::User);
    let images = sent.flat_map(|row| &row.parts);
    let mut images: Vec<Part> = images
        .filter(|part| matches!(part, Part::Image { .. }))
        .cloned()
        .collect();
    images.split_off(images.len().saturating_sub(IMAGES))
}
