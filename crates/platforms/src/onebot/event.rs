//! What an event says: in which chat, by whom, and of what kind. Its parts are read in [`super::parts`].

use callgate_contract::{SessionKey, SessionType};
use serde_json::Value as Json;

use super::segment::text_of;
use crate::Account;

/// An event that happened in some chat.
pub(super) struct ChatEvent<'a> {
    pub(super) raw: &'a Json,
    pub(super) session: SessionKey,
    pub(super) sender: Account,
    pub(super) what: ChatEventKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ChatEventKind {
    Message,
    Recall,
    Notice,
}

/// A field as text, where it says anything.
pub(super) fn field(value: &Json, name: &str) -> Option<String> {
    let text = value.get(name).and_then(text_of);
    text.filter(|text| !text.is_empty() && text != "0")
}

impl<'a> ChatEvent<'a> {
    /// `None` for what happens in no chat (heartbeats), and for what a bot said itself.
    pub(super) fn read(platform: &str, raw: &'a Json) -> Option<Self> {
        let word = |name: &str| raw.get(name).and_then(Json::as_str).unwrap_or_default();
        let what = match word("post_type") {
            "message" => ChatEventKind::Message,
            "notice" if word("notice_type").ends_with("_recall") => ChatEventKind::Recall,
            "notice" | "request" => ChatEventKind::Notice,
            _ => return None,
        };
        let (group, user) = (field(raw, "group_id"), field(raw, "user_id"));
        let is_private = what == ChatEventKind::Message && word("message_type") == "private";
        let (kind, id) = match group.filter(|_| !is_private) {
            Some(group) => (SessionType::GroupMessage, group),
            None => (SessionType::FriendMessage, user.clone()?),
        };
        Some(ChatEvent {
            raw,
            session: SessionKey::new(platform, kind, &id).ok()?,
            sender: sender(raw, user),
            what,
        })
    }

    pub(super) fn is_private(&self) -> bool {
        self.session.kind() == SessionType::FriendMessage
    }

    /// Milliseconds since 1970.
    pub(super) fn sent_at(&self) -> Option<i64> {
        let seconds = self.raw.get("time")?.as_i64()?;
        // Some programs tell milliseconds.
        Some(if seconds > 100_000_000_000 {
            seconds
        } else {
            seconds.checked_mul(1_000)?
        })
    }

    pub(super) fn message_id(&self) -> Option<String> {
        self.raw.get("message_id").and_then(text_of)
    }
}

fn sender(raw: &Json, user: Option<String>) -> Account {
    let id = user.unwrap_or_default();
    if let Some(anonymous) = raw.get("anonymous").filter(|it| it.is_object()) {
        // All of them share one number; this one is somebody.
        let flag = field(anonymous, "flag").or(field(anonymous, "id"));
        return Account {
            id: flag.map_or(id, |flag| format!("anonymous:{flag}")),
            name: field(anonymous, "name").unwrap_or_default(),
        };
    }
    let sender = raw.get("sender").unwrap_or(&Json::Null);
    let name = field(sender, "card").or(field(sender, "nickname"));
    Account {
        name: name.unwrap_or_default(),
        id,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(raw: &Json) -> Option<(String, Account, ChatEventKind)> {
        let event = ChatEvent::read("qq", raw)?;
        Some((event.session.to_string(), event.sender, event.what))
    }

    #[test]
    fn a_chat_is_a_group_or_a_person() {
        let account = |id: &str, name: &str| Account {
            id: id.to_owned(),
            name: name.to_owned(),
        };
        for (raw, session, sender, kind) in [
            (
                json!({"post_type": "message", "message_type": "group", "group_id": 7, "user_id": 1,
                       "sender": {"nickname": "Ann", "card": ""}}),
                "qq:GroupMessage:7",
                account("1", "Ann"),
                ChatEventKind::Message,
            ),
            // A private chat that began in a group.
            (
                json!({"post_type": "message", "message_type": "private", "sub_type": "group",
                       "group_id": 7, "user_id": "1", "sender": {"card": "A.", "nickname": "Ann"}}),
                "qq:FriendMessage:1",
                account("1", "A."),
                ChatEventKind::Message,
            ),
            (
                json!({"post_type": "message", "message_type": "group", "group_id": 7,
                       "user_id": 80000000, "anonymous": {"id": 5, "name": "Fox", "flag": "f"}}),
                "qq:GroupMessage:7",
                account("anonymous:f", "Fox"),
                ChatEventKind::Message,
            ),
            (
                json!({"post_type": "notice", "notice_type": "group_recall", "group_id": 7,
                       "user_id": 1, "message_id": 3}),
                "qq:GroupMessage:7",
                account("1", ""),
                ChatEventKind::Recall,
            ),
            (
                json!({"post_type": "request", "request_type": "friend", "user_id": 1}),
                "qq:FriendMessage:1",
                account("1", ""),
                ChatEventKind::Notice,
            ),
        ] {
            let expected = Some((session.to_owned(), sender, kind));
            assert_eq!(read(&raw), expected, "{raw}");
        }
    }

    #[test]
    fn what_happens_in_no_chat_is_left_out() {
        for raw in [
            json!({"post_type": "meta_event", "meta_event_type": "heartbeat"}),
            json!({"post_type": "message_sent", "message_type": "group", "group_id": 7, "user_id": 9}),
            json!({"post_type": "notice", "notice_type": "bot_offline"}),
            json!({"post_type": "message", "message_type": "private"}),
            json!([]),
        ] {
            assert!(read(&raw).is_none(), "{raw}");
        }
    }
}
