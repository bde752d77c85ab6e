//! Closures that write: many at once are one commit, and none of them can harm another.

use std::{sync::mpsc, time::Duration};

use callgate_store::{Durability, Parameter, Store, StoreError, Tx};
use callgate_testkit::{Home, on_each_engine};
use tokio::task::JoinSet;

fn set(tx: &mut dyn Tx, name: &str) -> Result<(), StoreError> {
    tx.execute(
        "INSERT INTO setting (name, value) VALUES (?1, 'true')",
        &[Parameter::Text(Some(name))],
    )?;
    Ok(())
}

async fn names(store: &Store) -> Vec<String> {
    let select = "SELECT name FROM setting ORDER BY name";
    store.read(|tx| tx.scalars(select, &[])).await.unwrap()
}

/// Writes that come while another is being committed.
async fn while_one_writes(store: &Store, others: impl FnOnce(&mut JoinSet<()>)) {
    let (begun, begins) = mpsc::channel();
    let (go_on, goes_on) = mpsc::channel::<()>();
    let first = {
        let store = store.clone();
        tokio::spawn(async move {
            let wait = move |tx: &mut dyn Tx| {
                begun.send(()).unwrap();
                goes_on.recv().unwrap();
                set(tx, "first")
            };
            store.write(wait).await.unwrap();
        })
    };
    tokio::task::spawn_blocking(move || begins.recv().unwrap())
        .await
        .unwrap();
    let mut waiting = JoinSet::new();
    others(&mut waiting);
    tokio::time::sleep(Duration::from_millis(50)).await;
    go_on.send(()).unwrap();
    first.await.unwrap();
    waiting.join_all().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn one_that_fails_or_panics_harms_no_other() {
    on_each_engine(async |home| {
        let store = home.open().await;
        let others = |waiting: &mut JoinSet<()>| {
            for number in 0..9 {
                let store = store.clone();
                waiting.spawn(async move {
                    let name = format!("other {number}");
                    let written = store.write(move |tx| {
                        set(tx, &name)?;
                        match number % 3 {
                            0 => Ok(()),
                            1 => set(tx, &name),
                            _ => panic!("on purpose"),
                        }
                    });
                    assert_eq!(written.await.is_ok(), number % 3 == 0, "{number}");
                });
            }
        };
        let before = store.counts().commits;
        while_one_writes(&store, others).await;
        let written = ["first", "other 0", "other 3", "other 6"];
        assert_eq!(names(&store).await, written);
        if home.options().url.is_none() {
            let commits = store.counts().commits - before;
            assert!(commits <= 4, "nine writes were {commits} commits");
        }
        // Nothing is left of the transactions that failed.
        store.write(|tx| set(tx, "last")).await.unwrap();
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn whoever_stops_waiting_may_have_written() {
    let home = Home::sqlite();
    let store = home.open().await;
    let leaving = store.clone();
    let others = |waiting: &mut JoinSet<()>| {
        waiting.spawn(async move {
            let written = leaving.write(|tx| set(tx, "left alone"));
            let waited = tokio::time::timeout(Duration::from_millis(5), written).await;
            assert!(waited.is_err(), "it was not committed yet");
        });
    };
    while_one_writes(&store, others).await;
    assert_eq!(names(&store).await, ["first", "left alone"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn writes_that_wait_for_the_disk_share_its_commits() {
    let home = Home::sqlite();
    let mut options = home.options();
    options.durability = Durability::Power;
    let store = Store::open(options).await.unwrap();
    let before = store.counts().commits;
    let mut writing = JoinSet::new();
    for number in 0..200 {
        let store = store.clone();
        writing.spawn(async move {
            let name = format!("{number:03}");
            store.write(move |tx| set(tx, &name)).await.unwrap();
        });
    }
    writing.join_all().await;
    assert_eq!(names(&store).await.len(), 200);
    let commits = store.counts().commits - before;
    assert!(commits < 200, "200 writes were {commits} commits");
}

#[tokio::test]
async fn the_write_ahead_log_stays_short() {
    let home = Home::sqlite();
    let store = home.open().await;
    let text = "x".repeat(20_000);
    for number in 0..3_000 {
        let (name, text) = (format!("{}", number % 100), text.clone());
        store
            .write(move |tx| {
                tx.execute(
                    "INSERT INTO setting (name, value) VALUES (?1, ?2)
                     ON CONFLICT (name) DO UPDATE SET value = excluded.value",
                    &[Parameter::Text(Some(&name)), Parameter::Text(Some(&text))],
                )?;
                Ok(())
            })
            .await
            .unwrap();
    }
    let log = home.data().join("callgate.db-wal");
    let size = std::fs::metadata(log).unwrap().len();
    assert!(
        size < 40 << 20,
        "of 60 MB that were written {size} bytes lie in the log"
    );
}
