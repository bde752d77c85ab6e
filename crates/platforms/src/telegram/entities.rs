//! What a text marks: Telegram tells it beside the text, in places counted in UTF-16 units.

use callgate_contract::Part;
use serde_json::Value as Json;

use super::event::{name, text};

/// The bot as Telegram knows it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Me {
    pub(super) id: i64,
    /// Without the `@`.
    pub(super) username: String,
    pub(super) name: String,
}

impl Me {
    fn is_called(&self, username: &str) -> bool {
        !self.username.is_empty() && self.username.eq_ignore_ascii_case(username)
    }
}

/// What a text says.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Said {
    pub(super) parts: Vec<Part>,
    /// It mentions the bot, or is a command for it by name.
    pub(super) addresses_bot: bool,
}

pub(super) fn read(words: &str, entities: Option<&Json>, me: &Me) -> Said {
    let units: Vec<u16> = words.encode_utf16().collect();
    let mut said = Said::default();
    let mut before = String::new();
    let mut at = 0;
    for entity in entities.and_then(Json::as_array).into_iter().flatten() {
        let number = |name| entity.get(name).and_then(Json::as_u64);
        let (Some(offset), Some(length)) = (number("offset"), number("length")) else {
            continue;
        };
        let Ok(start) = usize::try_from(offset) else {
            continue;
        };
        let end = start.saturating_add(usize::try_from(length).unwrap_or(usize::MAX));
        let (Some(between), Some(marked)) = (units.get(at..start), units.get(start..end)) else {
            continue;
        };
        let marked = String::from_utf16_lossy(marked);
        let Some(found) = find(entity, &marked, me) else {
            continue;
        };
        before.push_str(&String::from_utf16_lossy(between));
        at = end;
        said.addresses_bot |= found.addresses_bot;
        match found.part {
            Part::Text { text } => before.push_str(&text),
            part => {
                push_text(&mut said.parts, std::mem::take(&mut before));
                said.parts.push(part);
            }
        }
    }
    before.push_str(&String::from_utf16_lossy(
        units.get(at..).unwrap_or_default(),
    ));
    push_text(&mut said.parts, before);
    said
}

struct Found {
    part: Part,
    addresses_bot: bool,
}

/// Of those that change what a text says; the others are how it looks.
fn find(entity: &Json, marked: &str, me: &Me) -> Option<Found> {
    let plain = |part| Found {
        part,
        addresses_bot: false,
    };
    Some(match entity.get("type")?.as_str()? {
        "mention" => {
            let username = marked.strip_prefix('@')?;
            let is_bot = me.is_called(username);
            let (id, name) = if is_bot {
                (me.id.to_string(), me.name.clone())
            } else {
                // Whose it is Telegram does not say.
                (marked.to_owned(), username.to_owned())
            };
            Found {
                part: Part::Mention { id, name },
                addresses_bot: is_bot,
            }
        }
        "text_mention" => {
            let user = entity.get("user")?;
            let id = user.get("id")?.as_i64()?;
            Found {
                part: Part::Mention {
                    id: id.to_string(),
                    name: name(user),
                },
                addresses_bot: id == me.id,
            }
        }
        "bot_command" => {
            let (command, username) = marked.split_once('@')?;
            if !me.is_called(username) {
                return None;
            }
            Found {
                part: Part::text(command),
                addresses_bot: true,
            }
        }
        "text_link" => {
            let url = text(entity, "url")?;
            if url == marked {
                return None;
            }
            plain(Part::text(format!("[{marked}]({url})")))
        }
        _ => return None,
    })
}

fn push_text(parts: &mut Vec<Part>, text: String) {
    if !text.is_empty() {
        parts.push(Part::Text { text });
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn me() -> Me {
        Me {
            id: 42,
            username: "Gate_Bot".to_owned(),
            name: "Gate".to_owned(),
        }
    }

    fn mention(id: &str, name: &str) -> Part {
        Part::Mention {
            id: id.to_owned(),
            name: name.to_owned(),
        }
    }

    #[test]
    fn places_are_counted_in_utf_16_units() {
        // Each of these faces is two units.
        let entities = json!([
            {"type": "bold", "offset": 0, "length": 4},
            {"type": "mention", "offset": 5, "length": 9},
            {"type": "text_mention", "offset": 19, "length": 3, "user": {"id": 7, "first_name": "Bó"}},
        ]);
        let said = read("😀😀 @gate_bot 你😀 Bób!", Some(&entities), &me());
        let expected = vec![
            Part::text("😀😀 "),
            mention("42", "Gate"),
            Part::text(" 你😀 "),
            mention("7", "Bó"),
            Part::text("!"),
        ];
        assert_eq!(said.parts, expected);
        assert!(said.addresses_bot);
    }

    #[test]
    fn a_command_is_the_bots_where_it_names_it() {
        let entities = json!([{"type": "bot_command", "offset": 0, "length": 14}]);
        let said = read("/help@gate_bot now", Some(&entities), &me());
        assert_eq!(said.parts, [Part::text("/help now")]);
        assert!(said.addresses_bot);
        let others = read("/help@else_bot now", Some(&entities), &me());
        assert_eq!(others.parts, [Part::text("/help@else_bot now")]);
        assert!(!others.addresses_bot);
    }

    #[test]
    fn what_a_text_hides_is_shown() {
        let entities = json!([{"type": "text_link", "offset": 4, "length": 4, "url": "https://h"}]);
        let said = read("see here, @bob", Some(&entities), &me());
        assert_eq!(said.parts, [Part::text("see [here](https://h), @bob")]);
        let wrong = json!([{"type": "mention", "offset": 4, "length": 900},
            {"type": "mention", "offset": -1, "length": 2}, {"type": "mention"}]);
        assert_eq!(
            read("hello", Some(&wrong), &me()).parts,
            [Part::text("hello")]
        );
        let other = json!([{"type": "mention", "offset": 0, "length": 4}]);
        assert_eq!(
            read("@bob", Some(&other), &me()).parts,
            [mention("@bob", "bob")]
        );
    }
}
