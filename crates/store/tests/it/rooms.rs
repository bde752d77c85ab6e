//! Rooms of remote clients, over restarts.

use callgate_store::{MAX_ROOM_NAME, NewRoomMessage, Room, RoomMode, RoomRole, StoreError};
use callgate_testkit::on_each_engine;
use jiff::Timestamp;
use serde_json::{Map, Value as Json, json};
use uuid::Uuid;

fn fields(value: Json) -> Map<String, Json> {
    value.as_object().unwrap().clone()
}

fn said(identity: &str, text: &str) -> NewRoomMessage {
    NewRoomMessage {
        identity: identity.to_owned(),
        is_response: false,
        waiting: false,
        body: fields(json!({ "data": text })),
    }
}

fn roles(room: &Room) -> Vec<(&str, RoomRole)> {
    let members = room.members.iter();
    members
        .map(|member| (member.identity.as_str(), member.role))
        .collect()
}

/// However fast they come.
#[tokio::test]
async fn members_are_listed_as_they_joined() {
    on_each_engine(async |home| {
        let store = home.open().await;
        let rooms = store.rooms();
        let names = ["zoe", "yan", "xi", "wu", "vic", "uma", "tom", "sue"];
        rooms.create("tea", names[0]).await.unwrap();
        for name in &names[1..] {
            rooms.join("tea", name, RoomRole::Guest).await.unwrap();
        }
        let room = rooms.get("tea").await.unwrap().unwrap();
        let listed = room.members.iter().map(|member| member.identity.as_str());
        assert_eq!(listed.collect::<Vec<_>>(), names);
    })
    .await;
}

#[tokio::test]
async fn rooms_members_and_modes_survive() {
    on_each_engine(async |home| {
        let store = home.open().await;
        let rooms = store.rooms();
        assert!(rooms.create("茶室", "ada").await.unwrap());
        assert!(!rooms.create("茶室", "bob").await.unwrap());
        assert!(rooms.join("茶室", "bob", RoomRole::Guest).await.unwrap());
        assert!(!rooms.join("茶室", "bob", RoomRole::Guest).await.unwrap());
        assert!(!rooms.join("nowhere", "bob", RoomRole::Guest).await.unwrap());
        assert!(rooms.set_mode("茶室", RoomMode::HostSubmit).await.unwrap());
        assert!(
            !rooms
                .set_mode("nowhere", RoomMode::HostSubmit)
                .await
                .unwrap()
        );

        let store = home.open().await;
        let rooms = store.rooms();
        let room = rooms.get("茶室").await.unwrap().unwrap();
        assert_eq!(room.mode, RoomMode::HostSubmit);
        assert_eq!(
            roles(&room),
            [("ada", RoomRole::Master), ("bob", RoomRole::Guest)]
        );
        assert_eq!(rooms.list().await.unwrap(), ["茶室"]);
        assert_eq!(rooms.of("bob").await.unwrap(), ["茶室"]);

        let until = Timestamp::from_millisecond(4_000_000_000_000).unwrap();
        assert!(rooms.mute("茶室", "bob", Some(until)).await.unwrap());
        let room = rooms.get("茶室").await.unwrap().unwrap();
        assert_eq!(room.member("bob").unwrap().muted_until, Some(until));

        assert!(rooms.leave("茶室", "bob").await.unwrap());
        assert!(!rooms.leave("茶室", "bob").await.unwrap());
        rooms.say("茶室", said("ada", "hello")).await.unwrap();
        assert_eq!(rooms.delete("茶室").await.unwrap().unwrap().len(), 1);
        assert_eq!(rooms.delete("茶室").await.unwrap(), None);
        assert_eq!(rooms.messages("茶室", 10).await.unwrap(), []);
        assert_eq!(rooms.of("ada").await.unwrap(), [""; 0]);
    })
    .await;
}

#[tokio::test]
async fn a_room_has_one_master() {
    on_each_engine(async |home| {
        let store = home.open().await;
        let rooms = store.rooms();
        rooms.create("r", "ada").await.unwrap();
        rooms.join("r", "bob", RoomRole::Master).await.unwrap();
        let room = rooms.get("r").await.unwrap().unwrap();
        assert_eq!(
            roles(&room),
            [("ada", RoomRole::Manager), ("bob", RoomRole::Master)]
        );
        assert!(rooms.set_role("r", "ada", RoomRole::Master).await.unwrap());
        assert!(!rooms.set_role("r", "eve", RoomRole::Master).await.unwrap());
        let room = rooms.get("r").await.unwrap().unwrap();
        assert_eq!(
            roles(&room),
            [("ada", RoomRole::Master), ("bob", RoomRole::Manager)]
        );
    })
    .await;
}

#[tokio::test]
async fn messages_are_kept_changed_and_removed() {
    on_each_engine(async |home| {
        let store = home.open().await;
        let rooms = store.rooms();
        rooms.create("r", "ada").await.unwrap();
        let first = rooms.say("r", said("ada", "一\0")).await.unwrap();
        let waiting = NewRoomMessage {
            waiting: true,
            ..said("bob", "please")
        };
        let second = rooms.say("r", waiting).await.unwrap();
        let answer = NewRoomMessage {
            is_response: true,
            ..said("tavern", "yes")
        };
        let third = rooms.say("r", answer).await.unwrap();

        let edited = rooms
            .edit("r", first.id, fields(json!({ "data": "1", "x": 2 })))
            .await;
        let edited = edited.unwrap().unwrap();
        assert_eq!(
            Json::from(edited.body.clone()),
            json!({ "data": "1", "x": 2 })
        );
        assert!(edited.edited_at.is_some());
        assert_eq!(
            rooms.edit("r", Uuid::now_v7(), Map::new()).await.unwrap(),
            None
        );

        let store = home.open().await;
        let rooms = store.rooms();
        assert_eq!(
            rooms.message("r", first.id).await.unwrap(),
            Some(edited.clone())
        );
        let all = rooms.messages("r", 10).await.unwrap();
        assert_eq!(all, [edited, second.clone(), third.clone()]);
        assert_eq!(
            rooms.messages("r", 1).await.unwrap(),
            std::slice::from_ref(&third)
        );

        assert_eq!(
            rooms.submit("r").await.unwrap(),
            std::slice::from_ref(&second)
        );
        assert_eq!(rooms.submit("r").await.unwrap(), []);

        let gone = rooms
            .remove("r", &[second.id, Uuid::now_v7()])
            .await
            .unwrap();
        assert_eq!(gone, [second.id]);
        assert_eq!(rooms.clear("r", true).await.unwrap(), 1);
        assert_eq!(rooms.messages("r", 10).await.unwrap().len(), 1);
        assert_eq!(rooms.clear("r", false).await.unwrap(), 1);
    })
    .await;
}

#[tokio::test]
async fn names_are_printable_and_short() {
    on_each_engine(async |home| {
        let store = home.open().await;
        for name in ["", " ", "a\0b", "a\nb", &"n".repeat(MAX_ROOM_NAME + 1)] {
            for (room, master) in [(name, "ada"), ("room", name)] {
                let refused = store.rooms().create(room, master).await.unwrap_err();
                assert!(matches!(refused, StoreError::RoomName), "{refused}");
            }
        }
        assert!(
            store
                .rooms()
                .create(&"界".repeat(MAX_ROOM_NAME), "ada")
                .await
                .unwrap()
        );
    })
    .await;
}
