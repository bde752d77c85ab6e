//! [`Chats`]: what is kept of the stream of updates. How far it was read, and which groups have become
//! supergroups: Telegram gives those a new id, and here the chat goes on under its old one. Message ids
//! begin anew there, so that they are told apart by the new id (`57@-100200`).

use std::collections::BTreeMap;

use callgate_contract::{SessionKey, SessionType};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Chats {
    /// The first update that is not on disk; `None` before the first.
    pub(super) offset: Option<i64>,
    /// Old ids by new ones.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    migrated: BTreeMap<i64, i64>,
}

/// Where a message goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) chat: i64,
    pub(super) topic: Option<i64>,
}

impl Chats {
    /// True if that is news.
    pub(super) fn migrate(&mut self, old: i64, new: i64) -> bool {
        let first = self.migrated.get(&old).copied().unwrap_or(old);
        first != new && self.migrated.insert(new, first) != Some(first)
    }

    /// The id that its session has.
    fn first_id(&self, chat: i64) -> i64 {
        self.migrated.get(&chat).copied().unwrap_or(chat)
    }

    /// The id that Telegram knows.
    fn last_id(&self, chat: i64) -> i64 {
        let news = self.migrated.iter().filter(|(_, old)| **old == chat);
        news.map(|(new, _)| *new).next_back().unwrap_or(chat)
    }

    pub(super) fn session(
        &self,
        platform: &str,
        kind: SessionType,
        place: Place,
    ) -> Option<SessionKey> {
        let chat = self.first_id(place.chat);
        let id = match place.topic {
            Some(topic) => format!("{chat}#{topic}"),
            None => chat.to_string(),
        };
        SessionKey::new(platform, kind, &id).ok()
    }

    pub(super) fn place(&self, id: &str) -> Option<Place> {
        let (chat, topic) = match id.split_once('#') {
            Some((chat, topic)) => (chat, Some(topic.parse().ok()?)),
            None => (id, None),
        };
        Some(Place {
            chat: self.last_id(chat.parse().ok()?),
            topic,
        })
    }

    /// What a message of that chat is called.
    pub(super) fn message(&self, chat: i64, id: i64) -> String {
        if self.migrated.contains_key(&chat) {
            format!("{id}@{chat}")
        } else {
            id.to_string()
        }
    }

    /// A session's id, or that of a group that was, as Telegram knows it. Ids are numbers there, and text
    /// to us.
    pub(super) fn translate(&self, parameters: &mut Map<String, Json>) {
        let text = |value: &Json| match value {
            Json::String(text) => text.clone(),
            value => value.to_string(),
        };
        if let Some(chat) = parameters.get_mut("chat_id")
            && let Some(place) = self.place(&text(chat))
        {
            *chat = place.chat.into();
        }
        for name in ["message_id", "user_id"] {
            if let Some(id) = parameters.get_mut(name)
                && let Some(number) = message_number(&text(id))
            {
                *id = number.into();
            }
        }
    }
}

/// As Telegram counts it.
pub(super) fn message_number(id: &str) -> Option<i64> {
    id.split('@').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_group_goes_on_as_a_supergroup() {
        let mut chats = Chats::default();
        assert!(chats.migrate(-55, -100_200));
        assert!(!chats.migrate(-55, -100_200), "told twice, by both chats");
        let place = Place {
            chat: -100_200,
            topic: Some(7),
        };
        let session = chats.session("tg", SessionType::GroupMessage, place);
        let session = session.unwrap();
        assert_eq!(session.to_string(), "tg:GroupMessage:-55#7");
        assert_eq!(chats.place(session.id()), Some(place));
        assert_eq!(chats.message(-100_200, 3), "3@-100200");
        assert_eq!(chats.message(-55, 3), "3");
        assert_eq!(message_number("3@-100200"), Some(3));
        let kept = serde_json::to_string(&chats).unwrap();
        assert_eq!(serde_json::from_str::<Chats>(&kept).unwrap(), chats);

        let mut asked = json!({"chat_id": "-55#7", "message_id": "3@-100200", "user_id": "8"});
        chats.translate(asked.as_object_mut().unwrap());
        assert_eq!(
            asked,
            json!({"chat_id": -100_200, "message_id": 3, "user_id": 8})
        );
        let mut public = json!({"chat_id": "@news"});
        chats.translate(public.as_object_mut().unwrap());
        assert_eq!(public, json!({"chat_id": "@news"}));
    }
}
