//! What an event of a room is, by its JSON alone: which of them are for us, what they relate to, and the words
//! of a message without what clients put before them for those that cannot show replies.

use serde_json::Value as Json;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RoomEvent<'a> {
    Message,
    /// A message says something else from now on.
    Edit {
        of: &'a str,
    },
    Redaction {
        of: &'a str,
    },
    /// Nobody here can read it.
    Encrypted,
    /// Anything else that people do: reactions, joining, naming the room.
    Notice,
}

impl<'a> RoomEvent<'a> {
    /// `None` for what says nothing any more.
    pub(super) fn read(raw: &'a Json) -> Option<Self> {
        let content = &raw["content"];
        let is_empty = content.as_object().is_none_or(|content| content.is_empty());
        Some(match raw["type"].as_str()? {
            "m.room.message" | "m.sticker" if is_empty => return None,
            "m.room.message" => match replaced(content) {
                Some(of) => RoomEvent::Edit { of },
                None => RoomEvent::Message,
            },
            "m.sticker" => RoomEvent::Message,
            "m.room.redaction" => RoomEvent::Redaction {
                of: content["redacts"].as_str().or(raw["redacts"].as_str())?,
            },
            "m.room.encrypted" => RoomEvent::Encrypted,
            "m.reaction" if is_empty => return None,
            _ => RoomEvent::Notice,
        })
    }
}

fn replaced(content: &Json) -> Option<&str> {
    let relation = &content["m.relates_to"];
    let is_edit = relation["rel_type"] == "m.replace" && content["m.new_content"].is_object();
    relation["event_id"].as_str().filter(|_| is_edit)
}

/// The message that it answers, as far as a person chose it.
pub(super) fn answered(content: &Json) -> Option<&str> {
    let relation = &content["m.relates_to"];
    // Messages of a thread name the one before them for clients that know no threads.
    let is_fallback = relation["is_falling_back"] == true;
    let to = relation["m.in_reply_to"]["event_id"].as_str();
    to.filter(|_| !is_fallback)
}

pub(super) fn thread(content: &Json) -> Option<&str> {
    let relation = &content["m.relates_to"];
    let is_thread = relation["rel_type"] == "m.thread";
    relation["event_id"].as_str().filter(|_| is_thread)
}

/// Our own membership begins: invited, or joined without an invitation.
pub(super) fn invites(raw: &Json, bot: &str) -> bool {
    is_own_membership(raw, bot) && raw["content"]["membership"] == "invite"
}

pub(super) fn joins(raw: &Json, bot: &str) -> bool {
    let was = &raw["unsigned"]["prev_content"]["membership"];
    is_own_membership(raw, bot) && raw["content"]["membership"] == "join" && was != "join"
}

fn is_own_membership(raw: &Json, bot: &str) -> bool {
    raw["type"] == "m.room.member" && raw["state_key"] == bot
}

/// The words of a message, without the lines that repeat what it answers.
pub(super) fn body(content: &Json) -> &str {
    let body = content["body"].as_str().unwrap_or_default();
    let is_reply = content["m.relates_to"]["m.in_reply_to"].is_object();
    if !is_reply || !body.starts_with("> ") {
        return body;
    }
    let mut rest = body;
    while let Some((line, after)) = rest.split_once('\n') {
        if !line.starts_with('>') {
            break;
        }
        rest = after;
    }
    rest.strip_prefix('\n').unwrap_or(rest)
}

/// Whom the message is meant for: those it says so of; for older clients, those it links to.
pub(super) fn mentioned(content: &Json) -> Vec<&str> {
    if let Some(mentions) = content["m.mentions"].as_object() {
        let accounts = mentions.get("user_ids").and_then(Json::as_array);
        let accounts = accounts.into_iter().flatten();
        return accounts.filter_map(Json::as_str).collect();
    }
    let html = content["formatted_body"].as_str().unwrap_or_default();
    let html = html
        .split_once("</mx-reply>")
        .map_or(html, |(_, html)| html);
    let links = html.split("https://matrix.to/#/").skip(1);
    let accounts = links.filter_map(|link| link.split(['"', '\'', '?']).next());
    let mut accounts: Vec<&str> = accounts.filter(|it| it.starts_with('@')).collect();
    accounts.dedup();
    accounts
}

pub(super) fn mentions_everybody(content: &Json) -> bool {
    content["m.mentions"]["room"] == true
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn events_are_told_apart() {
        let edit = json!({"type": "m.room.message", "content": {"body": "* b", "m.new_content": {"body": "b"},
            "m.relates_to": {"rel_type": "m.replace", "event_id": "$1"}}});
        let old = json!({"type": "m.room.redaction", "redacts": "$1", "content": {}});
        let new = json!({"type": "m.room.redaction", "content": {"redacts": "$1"}});
        for (raw, expected) in [
            (
                json!({"type": "m.room.message", "content": {"body": "a"}}),
                Some(RoomEvent::Message),
            ),
            (json!({"type": "m.room.message", "content": {}}), None),
            (edit, Some(RoomEvent::Edit { of: "$1" })),
            (old, Some(RoomEvent::Redaction { of: "$1" })),
            (new, Some(RoomEvent::Redaction { of: "$1" })),
            (
                json!({"type": "m.room.encrypted", "content": {}}),
                Some(RoomEvent::Encrypted),
            ),
            (
                json!({"type": "m.reaction", "content": {"m.relates_to": {}}}),
                Some(RoomEvent::Notice),
            ),
            (json!({"type": "m.reaction", "content": {}}), None),
            (
                json!({"type": "m.room.topic", "content": {}}),
                Some(RoomEvent::Notice),
            ),
            (json!([]), None),
        ] {
            assert_eq!(RoomEvent::read(&raw), expected, "{raw}");
        }
    }

    #[test]
    fn what_repeats_the_answered_message_goes() {
        let reply = |body: &str| {
            let relation = json!({"m.in_reply_to": {"event_id": "$1"}});
            json!({"body": body, "m.relates_to": relation})
        };
        for (text, expected) in [
            ("> <@ann:x> tea?\n> now\n\nyes\n> really", "yes\n> really"),
            ("yes", "yes"),
            ("> all of it", "> all of it"),
            (">quoted\nyes", ">quoted\nyes"),
        ] {
            assert_eq!(body(&reply(text)), expected);
            assert_eq!(body(&json!({"body": text})), text);
        }
        assert_eq!(answered(&reply("a")), Some("$1"));
        let thread = json!({"m.relates_to": {"rel_type": "m.thread", "event_id": "$0", "is_falling_back": true,
            "m.in_reply_to": {"event_id": "$1"}}});
        assert_eq!(
            (answered(&thread), super::thread(&thread)),
            (None, Some("$0"))
        );
    }

    #[test]
    fn mentions_are_what_clients_say_or_link() {
        let said = json!({"m.mentions": {"user_ids": ["@a:x"]}, "formatted_body": "https://matrix.to/#/@b:x\""});
        assert_eq!(mentioned(&said), ["@a:x"]);
        let linked = json!({"formatted_body": "<mx-reply><a href=\"https://matrix.to/#/@c:x\">c</a></mx-reply>\
            <a href=\"https://matrix.to/#/@b:x\">b</a> <a href='https://matrix.to/#/!r:x/$1'>e</a>"});
        assert_eq!(mentioned(&linked), ["@b:x"]);
        assert!(mentioned(&json!({"body": "@b:x"})).is_empty());
    }

    #[test]
    fn a_new_name_of_ours_is_no_arrival() {
        let member = |membership: &str, was: Json| {
            json!({"type": "m.room.member", "state_key": "@me:x", "content": {"membership": membership},
                   "unsigned": {"prev_content": was}})
        };
        let was = |membership: &str| json!({"membership": membership});
        assert!(joins(&member("join", was("invite")), "@me:x"));
        assert!(joins(&member("join", Json::Null), "@me:x"));
        assert!(!joins(&member("join", was("join")), "@me:x"));
        assert!(!joins(&member("join", Json::Null), "@ann:x"));
        assert!(invites(&member("invite", Json::Null), "@me:x"));
    }
}
