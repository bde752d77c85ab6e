//! A database that was made before, as this version finds it.

use callgate_contract::Part;
use callgate_store::{LogRole, NewConversation, NewPersona, Store, StoreError};
use callgate_testkit::on_each_engine;

use crate::common::{ask, said, session};

/// Returns the number of the row that it adds to the log.
async fn fill(store: &Store) -> i64 {
    let persona = NewPersona {
        name: "pirate".to_owned(),
        ..NewPersona::default()
    };
    store.personas().create(&persona).await.unwrap();
    let conversation = NewConversation {
        messages: vec![said("user", "hi"), said("assistant", "ahoy")],
        ..NewConversation::default()
    };
    let conversations = store.conversations();
    conversations
        .create(&session("a"), conversation)
        .await
        .unwrap();
    say(store).await
}

async fn say(store: &Store) -> i64 {
    let (log, parts) = (store.log(), [Part::text("hi")]);
    let appended = log
        .append(&session("a"), LogRole::Assistant, None, &parts)
        .await;
    appended.unwrap()
}

async fn assert_filled(store: &Store, row: i64) {
    assert_eq!(store.personas().list().await.unwrap()[0].name, "pirate");
    let conversations = store.conversations();
    let current = conversations.current(&session("a")).await.unwrap();
    let history = conversations.history(current.unwrap()).await.unwrap();
    let history: Vec<_> = history.into_iter().map(|row| row.message).collect();
    assert_eq!(history, [said("user", "hi"), said("assistant", "ahoy")]);
    let log = store.log().list(&session("a"), 9).await.unwrap();
    assert_eq!(log.iter().map(|found| found.id).collect::<Vec<_>>(), [row]);
}

#[tokio::test]
async fn a_database_opened_again_keeps_its_rows() {
    on_each_engine(async |home| {
        let store = home.open().await;
        let row = fill(&store).await;
        drop(store);
        let store = home.open().await;
        assert_filled(&store, row).await;
        assert!(say(&store).await > row, "no number is given out twice");
    })
    .await;
}

#[tokio::test]
async fn a_database_of_a_newer_version_is_refused_and_left_alone() {
    on_each_engine(async |home| {
        let store = home.open().await;
        let row = fill(&store).await;
        drop(store);
        ask(
            &home,
            "INSERT INTO migration (version, applied_at) VALUES (9999, 0)",
        )
        .await;
        for opened in [
            Store::open(home.options()).await,
            Store::inspect(home.options()).await,
        ] {
            let error = opened.err().unwrap();
            let newer =
                matches!(error, StoreError::Newer { version: 9999, newest } if newest < 9999);
            assert!(newer, "{error}");
            let told = "use that version, or another data directory";
            assert!(error.to_string().contains(told), "{error}");
        }
        ask(&home, "DELETE FROM migration WHERE version = 9999").await;
        assert_filled(&home.open().await, row).await;
    })
    .await;
}
