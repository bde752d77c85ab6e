//! A Matrix message as parts. What the server knows besides is asked of it: the words that a reply answers,
//! what people are called, the bytes of media.

use callgate_contract::{Part, SessionKey};
use serde_json::{Map, Value as Json};

use super::{Shared, event};

/// People whose names are looked for in one message.
const MOST_MENTIONS: usize = 30;

/// What a message says.
#[derive(Debug, Default)]
pub(super) struct Content {
    pub(super) parts: Vec<Part>,
    /// It mentions the bot, or answers what it said.
    pub(super) addresses_bot: bool,
}

/// Where a message was said, and by whom.
pub(super) struct Place<'a> {
    pub(super) session: &'a SessionKey,
    pub(super) room: &'a str,
    pub(super) sender_name: &'a str,
}

impl Shared {
    /// `outer` has the relations where `content` is what an edit says instead.
    pub(super) async fn read_content(
        &self,
        place: &Place<'_>,
        kind: &str,
        content: &Json,
        outer: &Json,
    ) -> Content {
        let bot = self.bot();
        let mut read = Content::default();
        if let Some(to) = event::answered(outer) {
            let said = self.seen.get(&self.api, place.room, to).await;
            read.addresses_bot |= said.as_ref().is_some_and(|said| said.sender == bot.id);
            let text = said.map(|said| said.text).filter(|text| !text.is_empty());
            let to = to.to_owned();
            read.parts.push(Part::Reply { to, text });
        }
        let mentioned = event::mentioned(content);
        let body = event::body(content);
        let has_said_whom = content["m.mentions"].is_object();
        read.addresses_bot |= mentioned.contains(&bot.id.as_str())
            || !has_said_whom && is_called(body, &bot.id, &bot.name);
        let msgtype = if kind == "m.sticker" {
            "m.image"
        } else {
            content["msgtype"].as_str().unwrap_or_default()
        };
        match msgtype {
            "m.image" | "m.audio" | "m.video" | "m.file" => {
                read.parts
                    .push(self.read_media(place.session, msgtype, content).await);
                // Where a name is given apart, the words are a caption.
                let name = content["filename"].as_str();
                if name.is_some_and(|name| !body.is_empty() && name != body) {
                    read.parts.push(Part::text(body));
                }
            }
            "m.location" => {
                let data = content.as_object().cloned().unwrap_or_default();
                read.parts.push(other(msgtype, data, body));
            }
            msgtype => {
                let people = self.names_of(place.room, &mentioned).await;
                let everybody = event::mentions_everybody(content);
                if msgtype == "m.emote" {
                    read.parts
                        .push(Part::text(format!("* {} ", place.sender_name)));
                }
                read.parts.extend(spoken(body, &people, everybody));
            }
        }
        read
    }

    async fn names_of(&self, room: &str, accounts: &[&str]) -> Vec<(String, String)> {
        let mut people = Vec::new();
        for account in accounts.iter().take(MOST_MENTIONS) {
            let name = self.rooms.name_of(&self.api, room, account).await;
            people.push(((*account).to_owned(), name));
        }
        people
    }
}

/// Compat(older clients): they say whom they mean only by the name at the beginning, or by the whole address.
fn is_called(body: &str, id: &str, name: &str) -> bool {
    let begins = |word: &str| {
        let after = body.trim_start_matches('@').strip_prefix(word);
        after.is_some_and(|rest| rest.starts_with([':', ',', '，', '：']))
    };
    !id.is_empty() && (body.contains(id) || !name.is_empty() && begins(name))
}

/// What only Matrix knows, with the words by which it is shown elsewhere.
fn other(kind: &str, mut data: Map<String, Json>, body: &str) -> Part {
    data.insert("title".to_owned(), body.into());
    Part::Other {
        kind: kind.trim_start_matches("m.").to_owned(),
        data,
    }
}

/// A text with those it mentions in their places. Who is not found in it is not spoken to by name.
fn spoken(body: &str, people: &[(String, String)], everybody: bool) -> Vec<Part> {
    let mut found: Vec<(usize, usize, Part)> = Vec::new();
    // Longer names first, since one may begin as another does.
    let mut people: Vec<_> = people.iter().collect();
    people.sort_by_key(|(_, name)| std::cmp::Reverse(name.len()));
    for (id, name) in people {
        let at_name = format!("@{name}");
        let needles = [at_name.as_str(), id.as_str(), name.as_str()].into_iter();
        let needles = needles.filter(|needle| !needle.trim_matches('@').is_empty());
        let mut places = needles
            .flat_map(|needle| body.match_indices(needle))
            .map(|(at, needle)| (at, at + needle.len()));
        let is_free = |(from, to): &(usize, usize)| {
            found
                .iter()
                .all(|(taken_from, taken_to, _)| to <= taken_from || taken_to <= from)
        };
        if let Some((from, to)) = places.find(is_free) {
            let (id, name) = (id.clone(), name.clone());
            found.push((from, to, Part::Mention { id, name }));
        }
    }
    if let Some(at) = body.find("@room").filter(|_| everybody) {
        let (id, name) = ("all".to_owned(), "room".to_owned());
        found.push((at, at + "@room".len(), Part::Mention { id, name }));
    }
    found.sort_by_key(|(from, ..)| *from);
    let mut parts = Vec::new();
    let mut done = 0;
    for (from, to, part) in found {
        let Some(before) = body.get(done..from) else {
            // It lies within another name.
            continue;
        };
        if !before.is_empty() {
            parts.push(Part::text(before));
        }
        parts.push(part);
        done = to;
    }
    let rest = body.get(done..).unwrap_or_default();
    if !rest.is_empty() || parts.is_empty() {
        parts.push(Part::text(rest));
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_mentioned_stands_in_their_place() {
        let people = [("@bob:x", "Bob"), ("@bobby:x", "Bobby"), ("@eve:x", "Eve")];
        let people = people.map(|(id, name)| (id.to_owned(), name.to_owned()));
        let shown = |body: &str, everybody| {
            let parts = spoken(body, &people, everybody);
            let shown = parts.iter().map(|part| match part {
                Part::Mention { id, .. } => format!("<{id}>"),
                part => part.words().unwrap_or_default().into_owned(),
            });
            shown.collect::<Vec<_>>()
        };
        assert_eq!(shown("Bob: tea?", false), ["<@bob:x>", ": tea?"]);
        assert_eq!(
            shown("hi @Bobby and Eve", false),
            ["hi ", "<@bobby:x>", " and ", "<@eve:x>"]
        );
        assert_eq!(shown("@room 茶？", true), ["<all>", " 茶？"]);
        assert_eq!(shown("@room 茶？", false), ["@room 茶？"]);
        assert_eq!(shown("", false), [""]);
    }

    #[test]
    fn a_name_at_the_beginning_calls_us() {
        for (body, expected) in [
            ("Gate: hello", true),
            ("@Gate, hello", true),
            ("小门：你好", false),
            ("Gateway: hello", false),
            ("the Gate: hello", false),
            ("ask @gate:x", true),
        ] {
            assert_eq!(is_called(body, "@gate:x", "Gate"), expected, "{body}");
        }
    }
}
