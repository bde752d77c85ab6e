//! [`Rooms`]: what rooms are called, who is in them, which are private and which are encrypted. Read from the
//! server when a room is first met, and kept up with its events.

use std::collections::{HashMap, HashSet};

use callgate_contract::SessionType;
use parking_lot::Mutex;
use serde_json::{Map, Value as Json};

use super::api::{Api, ApiError, Ask};

/// Names of members that are remembered, before all are asked for again.
const MOST_NAMES: usize = 50_000;

#[derive(Default)]
pub(super) struct Rooms {
    /// A mutex, held for a look or a change.
    known: Mutex<HashMap<String, Room>>,
    /// What members are called, by room and account. A mutex, as above.
    names: Mutex<HashMap<(String, String), String>>,
    /// Rooms that are marked as private chats (`m.direct`). A mutex, as above.
    direct: Mutex<HashSet<String>>,
    /// `m.direct` is read, changed and written as a whole: by one at a time.
    marking: tokio::sync::Mutex<()>,
}

/// What is known of a room.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Room {
    /// As it was given one.
    pub(super) name: Option<String>,
    pub(super) is_encrypted: bool,
    /// With one person alone.
    pub(super) is_private: bool,
}

impl Room {
    pub(super) fn kind(&self) -> SessionType {
        if self.is_private {
            SessionType::FriendMessage
        } else {
            SessionType::GroupMessage
        }
    }
}

impl Rooms {
    pub(super) async fn get(&self, api: &Api, id: &str) -> Result<Room, ApiError> {
        if let Some(room) = self.known.lock().get(id) {
            return Ok(room.clone());
        }
        let (name, alias, encryption) = tokio::try_join!(
            state(api, id, "m.room.name"),
            state(api, id, "m.room.canonical_alias"),
            state(api, id, "m.room.encryption"),
        )?;
        let word = |content: &Json, field: &str| {
            let text = content[field].as_str().map(str::trim);
            text.filter(|text| !text.is_empty()).map(str::to_owned)
        };
        let name = word(&name, "name").or(word(&alias, "alias"));
        let is_marked = self.direct.lock().contains(id);
        // A private chat has a person and us, and is marked as one or has no name.
        let is_private = if is_marked || name.is_none() {
            self.read_members(api, id).await? <= 2
        } else {
            false
        };
        let room = Room {
            name,
            is_encrypted: encryption["algorithm"].is_string(),
            is_private,
        };
        self.known.lock().insert(id.to_owned(), room.clone());
        Ok(room)
    }

    /// How many have joined; their names are remembered.
    async fn read_members(&self, api: &Api, id: &str) -> Result<usize, ApiError> {
        let members = api.ask(Ask::get(&["rooms", id, "joined_members"])).await?;
        let joined = members["joined"].as_object();
        for (account, member) in joined.into_iter().flatten() {
            self.call_member(id, account, member["display_name"].as_str());
        }
        Ok(joined.map_or(0, Map::len))
    }

    /// An event of a room's state: what it changes is read again when it is next needed.
    pub(super) fn apply(&self, id: &str, event: &Json) {
        let Some(key) = event["state_key"].as_str() else {
            return;
        };
        match event["type"].as_str().unwrap_or_default() {
            "m.room.member" => {
                if event["content"]["membership"] == "join" {
                    self.call_member(id, key, event["content"]["displayname"].as_str());
                }
                let mut known = self.known.lock();
                // Whether others are there matters only where a chat may be private.
                if self.direct.lock().contains(id)
                    || known
                        .get(id)
                        .is_some_and(|room| room.is_private || room.name.is_none())
                {
                    known.remove(id);
                }
            }
            "m.room.name" | "m.room.canonical_alias" | "m.room.encryption" => self.forget(id),
            _ => {}
        }
    }

    pub(super) fn forget(&self, id: &str) {
        self.known.lock().remove(id);
    }

    fn call_member(&self, room: &str, account: &str, name: Option<&str>) {
        let mut names = self.names.lock();
        if names.len() >= MOST_NAMES {
            names.clear();
        }
        let name = name.map(str::trim).filter(|name| !name.is_empty());
        let name = name.unwrap_or(local_part(account)).to_owned();
        names.insert((room.to_owned(), account.to_owned()), name);
    }

    pub(super) async fn name_of(&self, api: &Api, room: &str, account: &str) -> String {
        let key = (room.to_owned(), account.to_owned());
        if let Some(name) = self.names.lock().get(&key) {
            return name.clone();
        }
        let path = ["rooms", room, "state", "m.room.member", account];
        let Ok(member) = api.ask(Ask::get(&path)).await else {
            return local_part(account).to_owned();
        };
        self.call_member(room, account, member["displayname"].as_str());
        let names = self.names.lock();
        names.get(&key).cloned().unwrap_or_default()
    }

    /// What the server has on record about private chats, besides what is known already.
    pub(super) fn learn_direct(&self, content: &Json) {
        let rooms = content.as_object().into_iter().flat_map(Map::values);
        let rooms = rooms.filter_map(Json::as_array).flatten();
        let rooms = rooms.filter_map(Json::as_str).map(str::to_owned);
        let new: Vec<String> = {
            let mut direct = self.direct.lock();
            rooms.filter(|room| direct.insert(room.clone())).collect()
        };
        new.iter().for_each(|room| self.forget(room));
    }

    pub(super) async fn read_direct(&self, api: &Api, bot: &str) -> Result<Json, ApiError> {
        let path = ["user", bot, "account_data", "m.direct"];
        let content = match api.ask(Ask::get(&path)).await {
            Err(error) if error.is_absent() => Json::Object(Map::new()),
            content => content?,
        };
        self.learn_direct(&content);
        Ok(content)
    }

    /// On the server, so that it is known after any restart.
    pub(super) async fn mark_direct(
        &self,
        api: &Api,
        bot: &str,
        room: &str,
        person: &str,
    ) -> Result<(), ApiError> {
        let _one_at_a_time = self.marking.lock().await;
        let mut content = self.read_direct(api, bot).await?;
        if self.direct.lock().contains(room) {
            return Ok(());
        }
        if let Some(people) = content.as_object_mut() {
            let rooms = people
                .entry(person)
                .or_insert_with(|| Json::Array(Vec::new()));
            if let Some(rooms) = rooms.as_array_mut() {
                rooms.push(room.into());
            }
        }
        let path = ["user", bot, "account_data", "m.direct"];
        api.ask(Ask::put(&path, &content)).await?;
        self.learn_direct(&content);
        Ok(())
    }
}

/// The content of a room's state, or null.
async fn state(api: &Api, room: &str, kind: &str) -> Result<Json, ApiError> {
    match api.ask(Ask::get(&["rooms", room, "state", kind])).await {
        Err(error) if error.is_absent() => Ok(Json::Null),
        content => content,
    }
}

/// `ann` of `@ann:example.org`.
fn local_part(account: &str) -> &str {
    let name = account.split_once(':').map_or(account, |(name, _)| name);
    name.trim_start_matches('@')
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_event_of_the_state_makes_a_room_be_read_again() {
        let rooms = Rooms::default();
        let know = |room: Room| rooms.known.lock().insert("!r".to_owned(), room);
        let apply = |kind: &str, content: Json| {
            let event = json!({"type": kind, "state_key": "@ann:x", "content": content});
            rooms.apply("!r", &event);
            rooms.known.lock().contains_key("!r")
        };
        let named = || Room {
            name: Some("Tea".to_owned()),
            ..Room::default()
        };
        know(named());
        assert!(apply("m.room.topic", json!({})));
        // Who else comes into a named room changes nothing about it.
        assert!(apply(
            "m.room.member",
            json!({"membership": "join", "displayname": "Ann"})
        ));
        assert!(!apply(
            "m.room.encryption",
            json!({"algorithm": "m.megolm"})
        ));
        know(Room {
            is_private: true,
            ..named()
        });
        assert!(!apply("m.room.member", json!({"membership": "join"})));
        let names = rooms.names.lock();
        assert_eq!(names[&("!r".to_owned(), "@ann:x".to_owned())], "ann");
    }

    #[test]
    fn what_is_marked_as_private_is_read_again() {
        let rooms = Rooms::default();
        rooms.known.lock().insert("!r".to_owned(), Room::default());
        rooms.learn_direct(&json!({"@ann:x": ["!r", "!s"], "@bob:x": null}));
        assert!(rooms.known.lock().is_empty());
        assert_eq!(rooms.direct.lock().len(), 2);
    }
}
