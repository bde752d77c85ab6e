//! What an update says: in which chat, by whom, and of what kind. Its parts are read in [`super::parts`].

use callgate_contract::SessionType;
use serde_json::Value as Json;

use super::chats::Place;
use crate::Account;

/// What we ask Telegram to tell. The rest happens in no chat, or is not for bots like ours.
pub(super) const KINDS: [&str; 9] = [
    "message",
    "edited_message",
    "channel_post",
    "edited_channel_post",
    "callback_query",
    "message_reaction",
    "my_chat_member",
    "chat_member",
    "chat_join_request",
];

/// What somebody said, rather than what happened: a message without any of these is the service's.
const CONTENT: [&str; 21] = [
    "text",
    "photo",
    "video",
    "animation",
    "audio",
    "document",
    "voice",
    "video_note",
    "sticker",
    "contact",
    "location",
    "venue",
    "poll",
    "dice",
    "game",
    "story",
    "paid_media",
    "invoice",
    "checklist",
    "giveaway",
    "caption",
];

/// An update that happened in some chat.
pub(super) struct ChatUpdate<'a> {
    pub(super) what: UpdateKind,
    /// The message, or whatever else the update is about.
    pub(super) body: &'a Json,
    pub(super) chat: &'a Json,
    pub(super) place: Place,
    pub(super) sender: Account,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum UpdateKind {
    Message,
    Edit,
    Notice,
}

pub(super) fn update_id(raw: &Json) -> Option<i64> {
    raw.get("update_id")?.as_i64()
}

/// A group becomes a supergroup: its old id and its new one.
pub(super) fn migration(raw: &Json) -> Option<(i64, i64)> {
    let message = raw.get("message")?;
    let chat = message.get("chat")?.get("id")?.as_i64()?;
    let id = |name: &str| message.get(name).and_then(Json::as_i64);
    let to = id("migrate_to_chat_id").map(|new| (chat, new));
    to.or_else(|| id("migrate_from_chat_id").map(|old| (old, chat)))
}

/// Pictures that were sent together have it in common.
pub(super) fn album(raw: &Json) -> Option<(i64, &str)> {
    let message = raw.get("message").or(raw.get("channel_post"))?;
    let chat = message.get("chat")?.get("id")?.as_i64()?;
    Some((chat, message.get("media_group_id")?.as_str()?))
}

impl<'a> ChatUpdate<'a> {
    /// `None` for what happens in no chat.
    pub(super) fn read(raw: &'a Json) -> Option<Self> {
        let kind = KINDS.into_iter().find(|kind| raw.get(kind).is_some())?;
        let body = raw.get(kind)?;
        let says = CONTENT.iter().any(|name| body.get(name).is_some());
        let what = match kind {
            "message" | "channel_post" if says => UpdateKind::Message,
            "edited_message" | "edited_channel_post" if says => UpdateKind::Edit,
            _ => UpdateKind::Notice,
        };
        // A button's message is where it was pressed.
        let message = body.get("message").filter(|it| it.is_object());
        let message = message.unwrap_or(body);
        let chat = message.get("chat")?;
        let is_topic = message.get("is_topic_message") == Some(&Json::Bool(true));
        let topic = message.get("message_thread_id").and_then(Json::as_i64);
        Some(ChatUpdate {
            what,
            body,
            place: Place {
                chat: chat.get("id")?.as_i64()?,
                // Outside of topics it is the message that a row of replies began with.
                topic: topic.filter(|_| is_topic),
            },
            sender: sender(body, chat),
            chat,
        })
    }

    pub(super) fn kind(&self) -> SessionType {
        match self.chat.get("type").and_then(Json::as_str) {
            Some("private") => SessionType::FriendMessage,
            _ => SessionType::GroupMessage,
        }
    }

    pub(super) fn is_private(&self) -> bool {
        self.kind() == SessionType::FriendMessage
    }

    pub(super) fn message_id(&self) -> Option<i64> {
        self.body.get("message_id")?.as_i64()
    }

    /// Milliseconds since 1970.
    pub(super) fn sent_at(&self) -> Option<i64> {
        self.body.get("date")?.as_i64()?.checked_mul(1_000)
    }

    pub(super) fn chat_name(&self) -> Option<String> {
        let title = text(self.chat, "title")?;
        // The message that a topic began with, which every other one in it answers.
        let root = self.body.get("reply_to_message");
        let topic = root.and_then(|it| it.get("forum_topic_created"));
        Some(match topic.and_then(|it| text(it, "name")) {
            Some(topic) => format!("{title} / {topic}"),
            None => title,
        })
    }
}

pub(super) fn text(value: &Json, name: &str) -> Option<String> {
    let text = value.get(name)?.as_str()?;
    (!text.is_empty()).then(|| text.to_owned())
}

/// A person or, for posts in a channel's or a group's own name, that chat: all who post so share one
/// account, which is nobody's.
fn sender(body: &Json, chat: &Json) -> Account {
    let somebody = ["sender_chat", "from", "user", "actor_chat"].into_iter();
    let somebody = somebody.filter_map(|name| body.get(name)).next();
    let somebody = somebody.unwrap_or(chat);
    let id = somebody.get("id").and_then(Json::as_i64);
    Account {
        id: id.map(|id| id.to_string()).unwrap_or_default(),
        name: name(somebody),
    }
}

/// Of a person or a chat.
pub(super) fn name(somebody: &Json) -> String {
    let first = text(somebody, "first_name").or(text(somebody, "title"));
    let full: Vec<String> = first
        .into_iter()
        .chain(text(somebody, "last_name"))
        .collect();
    if full.is_empty() {
        text(somebody, "username").unwrap_or_default()
    } else {
        full.join(" ")
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_update_says_where_and_by_whom() {
        let group = json!({"id": -100, "type": "supergroup", "title": "Town", "is_forum": true});
        let ann = json!({"id": 1, "first_name": "Ann", "last_name": "B", "is_bot": false});
        for (raw, place, sender, what) in [
            (
                json!({"update_id": 1, "message": {"message_id": 5, "from": ann, "text": "hi",
                    "chat": {"id": 1, "type": "private", "first_name": "Ann"}}}),
                (1, None),
                ("1", "Ann B"),
                UpdateKind::Message,
            ),
            (
                json!({"update_id": 1, "message": {"message_id": 5, "from": ann, "text": "hi",
                    "chat": group, "message_thread_id": 7, "is_topic_message": true}}),
                (-100, Some(7)),
                ("1", "Ann B"),
                UpdateKind::Message,
            ),
            // A row of replies outside of topics.
            (
                json!({"update_id": 1, "message": {"message_id": 5, "from": ann, "text": "hi",
                    "chat": group, "message_thread_id": 7}}),
                (-100, None),
                ("1", "Ann B"),
                UpdateKind::Message,
            ),
            // An administrator who does not show themselves.
            (
                json!({"update_id": 1, "edited_message": {"message_id": 5, "text": "hi",
                    "from": {"id": 1087968824, "first_name": "Group"}, "sender_chat": group,
                    "chat": group}}),
                (-100, None),
                ("-100", "Town"),
                UpdateKind::Edit,
            ),
            (
                json!({"update_id": 1, "message": {"message_id": 5, "from": ann, "chat": group,
                    "new_chat_members": [ann]}}),
                (-100, None),
                ("1", "Ann B"),
                UpdateKind::Notice,
            ),
            (
                json!({"update_id": 1, "callback_query": {"id": "9", "from": ann, "data": "x",
                    "message": {"message_id": 5, "chat": group, "text": "choose"}}}),
                (-100, None),
                ("1", "Ann B"),
                UpdateKind::Notice,
            ),
        ] {
            let read = ChatUpdate::read(&raw).unwrap();
            assert_eq!((read.place.chat, read.place.topic), place, "{raw}");
            assert_eq!((&*read.sender.id, &*read.sender.name), sender, "{raw}");
            assert_eq!(read.what, what, "{raw}");
        }
        let nowhere = json!({"update_id": 1, "inline_query": {"id": "1", "from": ann}});
        assert!(ChatUpdate::read(&nowhere).is_none());
    }
}
