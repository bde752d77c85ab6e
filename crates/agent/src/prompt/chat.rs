//! The session's log as lines of text, for code mode. Each entry begins with what we know (number,
//! time, sender, attachments) and goes on with what was written.
//!
//! Invariant: only an entry's own first line begins with `[#`, whatever its sender wrote.

use callgate_contract::{Part, Provenance};
use jiff::{Timestamp, tz::TimeZone};

use super::escape::{many_lines, name, quoted};
use crate::{excerpt, tokens};

/// Characters of a sender's id, a nickname, a file's name.
const MAX_NAME: usize = 64;
/// Characters of a path or address.
const MAX_PATH: usize = 300;
/// Characters of a message that is replied to and not shown itself.
/// Of messages that were passed on, and of what only the platform knows.
const MAX_FORWARDED: usize = 2_000;
const MAX_QUOTE: usize = 200;
/// Mentions and attachments named in one entry.
const MAX_REMARKS: usize = 12;

/// Someone in the chat. Both texts are theirs to choose.
#[derive(Clone, Copy, Debug)]
pub struct Person<'a> {
    pub id: &'a str,
    pub nickname: &'a str,
}

#[derive(Clone, Copy, Debug)]
pub enum Speaker<'a> {
    User(Person<'a>),
    /// The model itself.
    You,
    /// What methods reported, and what happened to the chat.
    System,
}

/// One row of the log.
#[derive(Clone, Copy, Debug)]
pub struct ChatRow<'a> {
    pub id: i64,
    pub at: Timestamp,
    pub speaker: Speaker<'a>,
    pub parts: &'a [Part],
    /// The model itself is mentioned or replied to.
    pub to_you: bool,
    /// The row that this one replies to.
    pub reply_to: Option<i64>,
    /// It was stopped, or broke off.
    pub unfinished: bool,
    /// Whose words it is that nobody in the chat has said.
    pub provenance: Option<&'a Provenance>,
}

/// How much of the log is shown, counted from the newest row backwards.
#[derive(Clone, Copy, Debug)]
pub struct ChatBounds {
    pub rows: usize,
    /// Bytes of one row's text; more loses its middle.
    pub row_bytes: usize,
    /// Of all rows together, by estimate.
    pub tokens: usize,
}

impl Default for ChatBounds {
    fn default() -> Self {
        ChatBounds {
            rows: 100,
            row_bytes: 4_000,
            tokens: 12_000,
        }
    }
}

/// Rows, oldest first, as a section of the prompt. The newest is always shown.
pub fn chat(rows: &[ChatRow], zone: &TimeZone, bounds: &ChatBounds) -> String {
    let mut left = bounds.tokens;
    let mut entries: Vec<String> = Vec::new();
    for row in rows.iter().rev().take(bounds.rows.max(1)) {
        let entry = entry(row, zone, bounds.row_bytes);
        let cost = tokens::estimate(&entry) + 1;
        if cost > left && !entries.is_empty() {
            break;
        }
        left = left.saturating_sub(cost);
        entries.push(entry);
    }
    let earlier = rows.len() - entries.len();
    entries.reverse();
    let head = include_str!("chat.md").trim();
    let earlier = match earlier {
        0 => String::new(),
        count => format!("({count} earlier messages are not shown)\n"),
    };
    format!("{head}\n\n{earlier}{}", entries.join("\n"))
}

fn entry(row: &ChatRow, zone: &TimeZone, row_bytes: usize) -> String {
    let time = row.at.to_zoned(zone.clone());
    let time = time.strftime("%Y-%m-%d %H:%M");
    let speaker = match row.speaker {
        Speaker::User(person) => format!("user {}", shown(&person)),
        Speaker::You => "you".to_owned(),
        Speaker::System => "system".to_owned(),
    };
    let remarks = match remarks(row) {
        remarks if remarks.is_empty() => String::new(),
        remarks => format!(" ({})", remarks.join("; ")),
    };
    let text = many_lines(&excerpt(&text(row.parts), row_bytes));
    format!("[#{} {time}] {speaker}{remarks}: {text}", row.id)
}

/// What we know of the row besides its text.
fn remarks(row: &ChatRow) -> Vec<String> {
    let mut remarks: Vec<String> = Vec::new();
    remarks.extend(row.provenance.map(|provenance| match provenance {
        Provenance::Method(name) => format!("result of {name}"),
        Provenance::Plugin(id) => format!("from plugin {id}"),
        Provenance::Timer => "a timer you set".to_owned(),
        Provenance::Planned => "planned by the operator".to_owned(),
        Provenance::Announcement => "to be said as it is".to_owned(),
    }));
    remarks.extend(row.to_you.then(|| "to you".to_owned()));
    remarks.extend(row.reply_to.map(|id| format!("reply to #{id}")));
    remarks.extend(row.unfinished.then(|| "stopped before its end".to_owned()));
    let told = |part| remark(part, row.reply_to.is_some());
    remarks.extend(row.parts.iter().filter_map(told).take(MAX_REMARKS));
    remarks
}

fn remark(part: &Part, reply_is_shown: bool) -> Option<String> {
    match part {
        Part::Text { .. } | Part::Face { .. } => None,
        Part::Mention { id, name } => {
            let person = Person { id, nickname: name };
            Some(format!("mentions {}", shown(&person)))
        }
        Part::Reply { .. } if reply_is_shown => None,
        Part::Reply { to, text } => {
            let text = text.as_ref().unwrap_or(to);
            Some(format!("reply to {}", quoted(text, MAX_QUOTE)))
        }
        Part::Image { url } => Some(format!("image {}", place(url))),
        Part::Audio { url } => Some(format!("audio {}", place(url))),
        Part::Video { url } => Some(format!("video {}", place(url))),
        Part::Forward { .. } | Part::Other { .. } => {
            let words = part.words().unwrap_or_default();
            Some(quoted(&words, MAX_FORWARDED))
        }
        Part::File { name, url } => Some(format!("file {} {}", quoted(name, MAX_NAME), place(url))),
    }
}

/// Where code finds the attachment; the data itself never stands in a line.
fn place(url: &str) -> String {
    if url.starts_with("data:") {
        "not stored".to_owned()
    } else {
        format!("at {}", name(url, MAX_PATH))
    }
}

fn shown(person: &Person) -> String {
    let id = name(person.id, MAX_NAME);
    if person.nickname.trim().is_empty() || person.nickname == person.id {
        id
    } else {
        format!("{id} {}", quoted(person.nickname, MAX_NAME))
    }
}

/// What was written, a mention in its place; all else is a remark.
fn text(parts: &[Part]) -> String {
    let mut text = String::new();
    let mut after_text = false;
    for part in parts {
        let (is_text, words) = match part {
            Part::Text { .. } => (true, part.words()),
            Part::Mention { .. } | Part::Face { .. } => (false, part.words()),
            _ => continue,
        };
        let words = words.unwrap_or_default();
        let open = text.is_empty() || text.ends_with(' ') || words.starts_with(' ');
        if after_text && is_text {
            text.push('\n');
        } else if !open {
            text.push(' ');
        }
        text.push_str(&words);
        after_text = is_text;
    }
    text
}
