//! What plugins keep: their values, preferences, and what they look for in the log.

use callgate_contract::Part;
use callgate_store::{DataKey, Incoming, LogQuery, LogRole, Preference, Sender, StoreError};
use callgate_testkit::on_each_engine;
use serde_json::json;

use crate::common::session;

fn key(chat: &str, name: &str) -> DataKey {
    DataKey {
        plugin: "author.notes".to_owned(),
        chat: chat.to_owned(),
        user: String::new(),
        name: name.to_owned(),
    }
}

#[tokio::test]
async fn a_value_is_made_once_and_then_changed() {
    on_each_engine(async |home| {
        let store = home.open().await;
        let data = store.plugin_data();
        assert_eq!(data.get(&key("", "a")).await.unwrap(), None);
        assert!(data.set(&key("", "a"), "1\0文").await.unwrap());
        assert!(!data.set(&key("", "a"), "2\0文").await.unwrap());
        assert!(data.set(&key("chat", "a"), "3").await.unwrap());
        assert_eq!(
            data.get(&key("", "a")).await.unwrap().as_deref(),
            Some("2\0文")
        );
        let all = data.list("author.notes", None, None).await.unwrap();
        assert_eq!(all.len(), 2);
        let here = data
            .list("author.notes", Some("chat"), Some(""))
            .await
            .unwrap();
        assert_eq!(here, [(key("chat", "a"), "3".to_owned())]);
        assert_eq!(data.rows(Some("other")).await.unwrap(), []);
        assert!(data.delete(&key("", "a")).await.unwrap());
        assert!(!data.delete(&key("", "a")).await.unwrap());
        let long = key("", &"x".repeat(129));
        assert!(matches!(
            data.set(&long, "").await,
            Err(StoreError::DataName)
        ));
        assert!(matches!(
            data.set(&key("\0", "a"), "").await,
            Err(StoreError::DataName)
        ));
    })
    .await;
}

#[tokio::test]
async fn writers_at_once_make_one_value() {
    on_each_engine(async |home| {
        let store = home.open().await;
        let mut writing = tokio::task::JoinSet::new();
        for number in 0..8 {
            let store = store.clone();
            writing.spawn(async move {
                let made = store
                    .plugin_data()
                    .set(&key("", "a"), &number.to_string())
                    .await;
                made.unwrap()
            });
        }
        let made = writing
            .join_all()
            .await
            .into_iter()
            .filter(|made| *made)
            .count();
        assert_eq!(made, 1);
    })
    .await;
}

#[tokio::test]
async fn preferences_are_found_by_any_part_of_their_place() {
    on_each_engine(async |home| {
        let store = home.open().await;
        let preferences = store.preferences();
        let preference = |scope: &str, place: &str, name: &str| Preference {
            scope: scope.to_owned(),
            place: place.to_owned(),
            name: name.to_owned(),
            value: json!({"of": [place, null]}),
        };
        for (scope, place, name) in [("umo", "a", "x"), ("umo", "b", "x"), ("global", "g", "y")] {
            preferences
                .set(&preference(scope, place, name))
                .await
                .unwrap();
        }
        preferences.set(&preference("umo", "a", "x")).await.unwrap();
        assert_eq!(
            preferences.get("umo", "a", "x").await.unwrap(),
            Some(json!({"of": ["a", null]}))
        );
        let listed = preferences.list(Some("umo"), None, None).await.unwrap();
        assert_eq!(
            listed,
            [preference("umo", "a", "x"), preference("umo", "b", "x")]
        );
        assert_eq!(
            preferences.list(None, None, Some("y")).await.unwrap().len(),
            1
        );
        assert!(preferences.delete("umo", "a", "x").await.unwrap());
        assert!(!preferences.delete("umo", "a", "x").await.unwrap());
    })
    .await;
}

#[tokio::test]
async fn the_log_is_searched_and_its_speakers_are_known() {
    on_each_engine(async |home| {
        let store = home.open().await;
        let (here, there) = (session("1"), session("2"));
        for (session, user, name) in [
            (&here, "u1", "Ada"),
            (&here, "u2", "Bo"),
            (&there, "u1", "Ada L."),
        ] {
            let incoming = Incoming {
                session: session.clone(),
                sender: Sender {
                    id: user.to_owned(),
                    name: name.to_owned(),
                },
                parts: vec![Part::text(name)],
                message_id: None,
                hidden: false,
                mentioned: false,
                sent_at: None,
            };
            store.log().append_incoming(&incoming).await.unwrap();
        }
        let bot = store
            .log()
            .append(&here, LogRole::Assistant, None, &[Part::text("hi")])
            .await
            .unwrap();
        let find = async |query: LogQuery| {
            let found = store.log().find(&query).await.unwrap();
            found.into_iter().map(|row| row.id).collect::<Vec<_>>()
        };
        let of_here = LogQuery {
            session: Some(here.clone()),
            newest_first: true,
            limit: Some(2),
            ..LogQuery::default()
        };
        assert_eq!(find(of_here).await, [bot, bot - 2]);
        let of_ada = LogQuery {
            sender: Some("u1".to_owned()),
            until: Some(i64::MAX),
            from: Some(0),
            ..LogQuery::default()
        };
        assert_eq!(find(of_ada.clone()).await, [bot - 3, bot - 1]);
        store.log().hide(bot - 3).await.unwrap();
        assert_eq!(find(of_ada).await, [bot - 1]);
        let speakers = store.log().speakers().await.unwrap();
        let told: Vec<_> = speakers
            .iter()
            .map(|it| (it.user.as_str(), it.name.as_str()))
            .collect();
        assert_eq!(told, [("u1", "Ada L."), ("u2", "Bo")]);
        assert_eq!(
            store.log().name_of(&here, "u1").await.unwrap().as_deref(),
            Some("Ada")
        );
    })
    .await;
}
