//! Halves of characters. JSON may write a character beyond the first 65,536 as two escapes, and
//! servers that cut an answer by UTF-16 units put one into each of two messages. No string of ours
//! can hold a half, so each is marked while it waits for the other; one that stays alone becomes
//! U+FFFD and never spoils an answer.

use callgate_contract::{ModelError, ModelEvent};
use serde_json::{Error, Value as Json};

/// Where halves are kept: private characters that no script or font is known to use.
const MARKS: u32 = 0x10_F000;
const FIRST_HALF: u32 = 0xD800;
const SECOND_HALF: u32 = 0xDC00;
const PAST: u32 = 0xE000;

/// What a server sent, and whether there are marks in it.
pub(crate) struct ParsedJson {
    pub(crate) value: Json,
    pub(crate) marked: bool,
}

/// A piece of an answer: a half in it may belong to one of the next piece.
pub(crate) fn parse(text: &str) -> Result<ParsedJson, Error> {
    let marked = |error| match mark(text) {
        Some(text) => Ok((serde_json::from_str(&text)?, true)),
        None => Err(error),
    };
    let parsed = serde_json::from_str(text).map(|value| (value, false));
    parsed
        .or_else(marked)
        .map(|(value, marked)| ParsedJson { value, marked })
}

/// A whole text, after which nothing comes.
pub(crate) fn parse_whole(text: &str) -> Result<Json, Error> {
    let mut parsed = parse(text)?;
    if parsed.marked {
        mend(&mut parsed.value);
    }
    Ok(parsed.value)
}

/// The JSON `text` with marks in the place of lone halves; `None` if it has none.
fn mark(text: &str) -> Option<String> {
    let mut marked = String::with_capacity(text.len());
    let mut rest = text;
    let mut found = false;
    while let Some((before, escape)) = rest.split_once('\\') {
        marked.push_str(before);
        let unit = code_unit(escape);
        let pair = |(unit, after): (u32, &str)| {
            let second = code_unit(after.strip_prefix('\\')?)?.0;
            ((FIRST_HALF..SECOND_HALF).contains(&unit) && (SECOND_HALF..PAST).contains(&second))
                .then_some(())
        };
        // How much after the backslash belongs to this escape.
        let length = match unit {
            Some((unit, after)) if (FIRST_HALF..PAST).contains(&unit) => {
                match pair((unit, after)) {
                    Some(()) => "uXXXX\\uXXXX".len(),
                    None => {
                        found = true;
                        marked.extend(char::from_u32(MARKS + unit - FIRST_HALF));
                        rest = after;
                        continue;
                    }
                }
            }
            // Also a backslash, which escapes nothing behind it.
            _ => escape.chars().next().map_or(0, char::len_utf8),
        };
        let (escape, after) = escape.split_at_checked(length)?;
        marked.push('\\');
        marked.push_str(escape);
        rest = after;
    }
    marked.push_str(rest);
    found.then_some(marked)
}

/// The unit that the escape stands for, and what comes after it.
fn code_unit(escape: &str) -> Option<(u32, &str)> {
    let (digits, after) = escape.strip_prefix('u')?.split_at_checked(4)?;
    let hexadecimal = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    let unit = hexadecimal.then(|| u32::from_str_radix(digits, 16).ok());
    Some((unit.flatten()?, after))
}

/// The half that a mark stands for.
fn half(c: char) -> Option<u32> {
    let offset = u32::from(c).checked_sub(MARKS)?;
    (offset < PAST - FIRST_HALF).then_some(FIRST_HALF + offset)
}

fn is_first_half(c: char) -> bool {
    half(c).is_some_and(|half| half < SECOND_HALF)
}

/// Does the character complete the one before? Then the two are one.
pub(crate) fn is_second_half(c: char) -> bool {
    half(c).is_some_and(|half| half >= SECOND_HALF)
}

/// Marks as characters: halves that have found each other, and U+FFFD for the others.
fn mended(text: &str) -> String {
    let mut mended = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let Some(first) = half(c) else {
            mended.push(c);
            continue;
        };
        let second = chars
            .next_if(|next| is_first_half(c) && is_second_half(*next))
            .and_then(half);
        let whole = second.and_then(|second| {
            char::from_u32(0x1_0000 + ((first - FIRST_HALF) << 10) + (second - SECOND_HALF))
        });
        mended.push(whole.unwrap_or(char::REPLACEMENT_CHARACTER));
    }
    mended
}

fn mend(value: &mut Json) {
    match value {
        Json::String(text) => *text = mended(text),
        Json::Array(items) => items.iter_mut().for_each(mend),
        Json::Object(fields) => {
            let with_marks = std::mem::take(fields);
            for (name, mut value) in with_marks {
                mend(&mut value);
                fields.insert(mended(&name), value);
            }
        }
        Json::Null | Json::Bool(_) | Json::Number(_) => {}
    }
}

/// Puts an answer's halves together across its pieces. Text and thoughts may take turns.
#[derive(Debug, Default)]
pub(crate) struct Halves {
    text: Option<char>,
    thought: Option<char>,
}

impl Halves {
    pub(crate) fn joined(&mut self, events: Vec<ModelEvent>) -> Vec<ModelEvent> {
        let mut joined = Vec::with_capacity(events.len());
        for event in events {
            match event {
                ModelEvent::TextDelta { text } => {
                    let text = piece(&mut self.text, &text);
                    joined.extend(text.map(|text| ModelEvent::TextDelta { text }));
                }
                ModelEvent::ReasoningDelta { text } => {
                    let text = piece(&mut self.thought, &text);
                    joined.extend(text.map(|text| ModelEvent::ReasoningDelta { text }));
                }
                event => {
                    joined.extend(self.rest());
                    joined.push(whole(event));
                }
            }
        }
        joined
    }

    /// Halves whose others never came.
    fn rest(&mut self) -> impl Iterator<Item = ModelEvent> + use<> {
        let lone = || char::REPLACEMENT_CHARACTER.to_string();
        let text = self.text.take();
        let text = text.map(|_| ModelEvent::TextDelta { text: lone() });
        let thought = self.thought.take();
        let thought = thought.map(|_| ModelEvent::ReasoningDelta { text: lone() });
        thought.into_iter().chain(text)
    }
}

/// The piece after what was `held` of the one before; a half at its end is held in turn.
fn piece(held: &mut Option<char>, text: &str) -> Option<String> {
    let mut text: String = held.take().into_iter().chain(text.chars()).collect();
    if text.ends_with(is_first_half) {
        *held = text.pop();
    }
    (!text.is_empty()).then(|| mended(&text))
}

/// An event that nothing is added to.
fn whole(event: ModelEvent) -> ModelEvent {
    let mended = serde_json::to_value(&event).and_then(|mut value| {
        mend(&mut value);
        serde_json::from_value(value)
    });
    mended.unwrap_or(event)
}

/// What a server says of its failure.
pub(crate) fn mend_error(mut error: ModelError) -> ModelError {
    if let Some(message) = error.message_mut() {
        *message = mended(message);
    }
    error
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whole_text_keeps_every_character_that_is_one() {
        for (text, expect) in [
            (r#""\ud83d\ude00""#, "😀"),
            (r#""a\uD83D""#, "a\u{fffd}"),
            (r#""\uDE00b""#, "\u{fffd}b"),
            (r#""\ude00\ud83d""#, "\u{fffd}\u{fffd}"),
            (r#""\ud83d\ud83d\ude00""#, "\u{fffd}😀"),
            (r#""\ud83d\n\ude00""#, "\u{fffd}\n\u{fffd}"),
            (r#""\\ud83d \" \ud83d\\""#, "\\ud83d \" \u{fffd}\\"),
            (r#""\u00e9\ud83dé""#, "é\u{fffd}é"),
        ] {
            assert_eq!(parse_whole(text).unwrap(), expect, "{text}");
        }
        let key = parse_whole(r#"{"\ud83d": ["\ude00"]}"#).unwrap();
        assert_eq!(key.to_string(), "{\"\u{fffd}\":[\"\u{fffd}\"]}");
        for broken in [
            r#""\ud83"#,
            r#""\ud83d"#,
            r#""\"#,
            r#""\uZZZZ\ud83d""#,
            "é\\",
        ] {
            assert!(parse_whole(broken).is_err(), "{broken}");
        }
    }
}
