//! Opening: directories with difficult names, addresses that are none, what survives.

use std::os::unix::fs::PermissionsExt;

use callgate_contract::{Effect, JournalId, Stop};
use callgate_store::{Durability, Store, StoreError, StoreOptions};
use callgate_testkit::{Home, on_each_engine};
use serde_json::json;

use crate::common::{call, run, value};

#[tokio::test]
async fn any_directory_name_will_do() {
    let directory = tempfile::tempdir().unwrap();
    let long = "d".repeat(200);
    for name in [
        "plain",
        "文件 夹",
        "a?mode=ro#x",
        "100%25",
        &long,
        "deep/er",
    ] {
        let data = directory.path().join(name);
        let store = Store::open(StoreOptions::new(&data)).await.unwrap();
        store
            .journal()
            .begin(&run(JournalId::fresh()))
            .await
            .unwrap();
        assert!(data.join("callgate.db").exists(), "{name}");
        let mode = std::fs::metadata(&data).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
    }
}

#[tokio::test]
async fn an_address_we_do_not_speak_is_refused_without_its_password() {
    for url in ["mysql://root:hunter2@host/db", "nonsense", "sqlite://x"] {
        let home = Home::sqlite();
        let options = StoreOptions {
            url: Some(url.to_owned()),
            ..home.options()
        };
        let error = Store::open(options).await.err().unwrap();
        assert!(matches!(error, StoreError::Engine { .. }), "{error}");
        assert!(!error.to_string().contains("hunter2"));
    }
}

#[tokio::test]
async fn opening_at_once_migrates_once() {
    on_each_engine(async |home| {
        let opening = (0..8).map(|_| tokio::spawn(Store::open(home.options())));
        for store in opening.collect::<Vec<_>>() {
            let store = store.await.unwrap().unwrap();
            assert_eq!(store.sessions().list().await.unwrap(), []);
        }
    })
    .await;
}

#[tokio::test]
async fn a_store_sure_of_power_cuts_does_the_same() {
    on_each_engine(async |home| {
        let options = StoreOptions {
            durability: Durability::Power,
            ..home.options()
        };
        let store = Store::open(options).await.unwrap();
        let id = JournalId::fresh();
        store.journal().begin(&run(id)).await.unwrap();
        let rows = call(id, 1, Effect::Rows);
        store.journal().record(&rows, &value(1), &[]).await.unwrap();
        let report = json!({});
        let finish = store.journal().finish(id, Stop::Finished, &report);
        finish.await.unwrap();
        assert_eq!(store.journal().recorded(id).await.unwrap().len(), 1);
    })
    .await;
}

#[tokio::test]
async fn a_lost_connection_is_made_anew() {
    let home = Home::postgres().await;
    let store = home.open().await;
    let id = JournalId::fresh();
    store.journal().begin(&run(id)).await.unwrap();
    let soon = call(id, 1, Effect::Pure);
    store.journal().outcome_soon(soon, value(1)).await.unwrap();

    home.cut_connections().await;
    // The first write may meet the cut; it loses nothing, and the next one is fine.
    let _ = store.journal().flush().await;
    store.journal().flush().await.unwrap();
    let recorded = home.open().await.journal().recorded(id).await.unwrap();
    assert_eq!(recorded.len(), 1);
}
