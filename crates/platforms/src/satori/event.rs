//! What an event says: in which chat, by whom, and of what kind. Its content is read in [`super::incoming`].

use callgate_contract::{SessionKey, SessionType};
use serde_json::Value as Json;

use super::logins::{Login, Logins};
use crate::Account;

/// A channel of one person.
const DIRECT: i64 = 1;

/// An event that happened in some chat.
pub(super) struct ChatEvent {
    pub(super) session: SessionKey,
    pub(super) sender: Account,
    /// What the network calls them.
    pub(super) user: String,
    pub(super) kind: ChatEventKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ChatEventKind {
    Message,
    Edit,
    Recall,
    Notice,
}

/// A field as text, where it says anything.
pub(super) fn field(value: &Json, name: &str) -> Option<String> {
    let text = match value.get(name)? {
        Json::String(text) => text.clone(),
        Json::Number(number) => number.to_string(),
        _ => return None,
    };
    Some(text).filter(|text| !text.is_empty())
}

pub(super) fn number(value: &Json, name: &str) -> Option<i64> {
    let value = value.get(name)?;
    value.as_i64().or_else(|| value.as_str()?.parse().ok())
}

/// What it is counted by; servers before version 1.2 call it id.
pub(super) fn sequence(event: &Json) -> Option<i64> {
    number(event, "sn").or(number(event, "id"))
}

impl ChatEvent {
    /// `None` for what happens in no chat.
    pub(super) fn read(platform: &str, logins: &Logins, login: &Login, raw: &Json) -> Option<Self> {
        let kind = match raw.get("type")?.as_str()? {
            "message-created" | "message" => ChatEventKind::Message,
            "message-updated" => ChatEventKind::Edit,
            "message-deleted" => ChatEventKind::Recall,
            _ => ChatEventKind::Notice,
        };
        let message = raw.get("message").unwrap_or(&Json::Null);
        let of = |name: &str| raw.get(name).or(message.get(name));
        let member = of("member").unwrap_or(&Json::Null);
        let user = of("user").or(member.get("user")).unwrap_or(&Json::Null);
        let id = field(user, "id").unwrap_or_default();
        let channel = of("channel").unwrap_or(&Json::Null);
        let guild = of("guild").and_then(|guild| field(guild, "id"));
        let (session_type, chat) = match (field(channel, "id"), guild) {
            (Some(chat), _) if number(channel, "type") == Some(DIRECT) => {
                (SessionType::FriendMessage, chat)
            }
            (Some(chat), _) => (SessionType::GroupMessage, chat),
            (None, Some(guild)) => (SessionType::GroupMessage, guild),
            (None, None) => (
                SessionType::FriendMessage,
                Some(id.clone()).filter(|id| !id.is_empty())?,
            ),
        };
        let chat = logins.id(&login.network, &chat);
        Some(ChatEvent {
            session: SessionKey::new(platform, session_type, &chat).ok()?,
            sender: Account {
                id: if id.is_empty() {
                    String::new()
                } else {
                    logins.id(&login.network, &id)
                },
                name: name(member, user),
            },
            user: id,
            kind,
        })
    }

    pub(super) fn is_private(&self) -> bool {
        self.session.kind() == SessionType::FriendMessage
    }
}

/// As the chat shows them.
pub(super) fn name(member: &Json, user: &Json) -> String {
    let name = field(member, "nick").or(field(member, "name"));
    let name = name.or(field(user, "nick")).or(field(user, "name"));
    name.unwrap_or_default()
}

/// Milliseconds since 1970.
pub(super) fn sent_at(raw: &Json) -> Option<i64> {
    let message = raw.get("message").unwrap_or(&Json::Null);
    number(message, "created_at").or(number(raw, "timestamp"))
}

/// A channel of a guild is named after both.
pub(super) fn chat_name(raw: &Json) -> Option<String> {
    let of = |name: &str| raw.get(name).and_then(|it| field(it, "name"));
    match (of("guild"), of("channel")) {
        (Some(guild), Some(channel)) if guild != channel => Some(format!("{guild} #{channel}")),
        (guild, channel) => guild.or(channel),
    }
}

pub(super) fn message_id(raw: &Json) -> Option<String> {
    raw.get("message").and_then(|message| field(message, "id"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(raw: &Json) -> Option<(String, String, String, ChatEventKind)> {
        let logins = Logins::new(None);
        logins.set(&[json!({"platform": "net", "user": {"id": "9"}})]);
        let login = logins.named(None)?;
        let event = ChatEvent::read("sat", &logins, &login, raw)?;
        let Account { id, name } = event.sender;
        Some((event.session.to_string(), id, name, event.kind))
    }

    #[test]
    fn a_chat_is_a_channel_a_guild_or_a_person() {
        for (raw, session, id, name, kind) in [
            (
                json!({"type": "message-created", "channel": {"id": "7", "type": 0},
                       "user": {"id": "1", "name": "ann", "nick": "Ann"}, "member": {"nick": "A."}}),
                "sat:GroupMessage:net:7",
                "net:1",
                "A.",
                ChatEventKind::Message,
            ),
            (
                json!({"type": "message-updated", "channel": {"id": "private:1", "type": 1},
                       "message": {"id": "5", "user": {"id": 1, "name": "ann"}}}),
                "sat:FriendMessage:net:private:1",
                "net:1",
                "ann",
                ChatEventKind::Edit,
            ),
            (
                json!({"type": "guild-member-added", "guild": {"id": "g"},
                       "member": {"user": {"id": "1", "nick": "Ann"}}}),
                "sat:GroupMessage:net:g",
                "net:1",
                "Ann",
                ChatEventKind::Notice,
            ),
            (
                json!({"type": "friend-request", "user": {"id": "1"}}),
                "sat:FriendMessage:net:1",
                "net:1",
                "",
                ChatEventKind::Notice,
            ),
        ] {
            let expected = (session.to_owned(), id.to_owned(), name.to_owned(), kind);
            assert_eq!(read(&raw), Some(expected), "{raw}");
        }
        assert!(read(&json!({"type": "internal"})).is_none());
    }

    #[test]
    fn a_channel_is_named_with_its_guild() {
        for (raw, expected) in [
            (
                json!({"guild": {"name": "G"}, "channel": {"name": "c"}}),
                Some("G #c"),
            ),
            (
                json!({"guild": {"name": "G"}, "channel": {"name": "G"}}),
                Some("G"),
            ),
            (json!({"channel": {"name": "c"}}), Some("c")),
            (json!({"guild": {"id": "1"}}), None),
        ] {
            assert_eq!(chat_name(&raw).as_deref(), expected, "{raw}");
        }
    }
}
