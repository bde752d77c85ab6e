//! Settings of sessions and of the operator.

use callgate_contract::Mode;
use callgate_store::{SessionSettings, Versioned};
use callgate_testkit::on_each_engine;
use serde_json::json;

use crate::common::session;

#[tokio::test]
async fn a_session_keeps_its_settings() {
    on_each_engine(async |home| {
        let store = home.open().await;
        let a = session("a");
        let empty = store.settings().session(&a).await.unwrap();
        assert_eq!(empty, Versioned::default());
        let chosen = SessionSettings {
            model: Some("m".to_owned()),
            persona: Some("诗人\0".to_owned()),
            mode: Some(Mode::Tools),
            answer: Some(json!({"probability": 0.5})),
            pace: Some(json!({"per_hour": 3})),
            muted: true,
            chat_name: Some("茶馆".to_owned()),
        };
        let written = store
            .settings()
            .change_session(&a, {
                let chosen = chosen.clone();
                move |s| *s = chosen
            })
            .await;
        let written = written.unwrap();
        assert_eq!((written.version, &written.value), (1, &chosen));
        let written = store
            .settings()
            .change_session(&a, |s| s.muted = false)
            .await;
        let written = written.unwrap();
        assert_eq!(written.version, 2);
        let expected = SessionSettings {
            muted: false,
            ..chosen
        };
        let store = home.open().await;
        let read = store.settings().session(&a).await.unwrap();
        assert_eq!((read, expected), (written.clone(), written.value));
        let other = store.settings().session(&session("b")).await.unwrap();
        assert_eq!(other, Versioned::default());
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn changes_at_once_do_not_lose_each_other() {
    on_each_engine(async |home| {
        let stores = [home.open().await, home.open().await];
        let mut changing = tokio::task::JoinSet::new();
        for n in 0..40 {
            let store = stores[n % 2].clone();
            changing.spawn(async move {
                let add = |settings: &mut SessionSettings| {
                    let model = settings.model.get_or_insert_default();
                    model.push('x');
                };
                let changed = store.settings().change_session(&session("a"), add).await;
                changed.unwrap().version
            });
        }
        let mut versions = changing.join_all().await;
        versions.sort_unstable();
        assert_eq!(versions, (1..=40).collect::<Vec<_>>());
        let read = stores[0].settings().session(&session("a")).await.unwrap();
        assert_eq!(read.value.model, Some("x".repeat(40)));
    })
    .await;
}

#[tokio::test]
async fn the_operator_sets_for_all() {
    on_each_engine(async |home| {
        let store = home.open().await;
        let get = async |name| store.settings().get::<Vec<String>>(name).await.unwrap();
        assert_eq!(get("x").await, None);
        for value in [vec!["a"], vec!["a", "b\0"]] {
            store.settings().set("x", &value).await.unwrap();
            assert_eq!(get("x").await.unwrap(), value);
        }
        assert_eq!(get("y").await, None);
        store.settings().remove("x").await.unwrap();
        store.settings().remove("x").await.unwrap();
        assert_eq!(get("x").await, None);
    })
    .await;
}
