//! Forgetting by age and size never takes what is open.

use callgate_contract::{JournalId, Part};
use callgate_store::{LogRole, Retention, Store};
use callgate_testkit::on_each_engine;
use jiff::Timestamp;

use crate::common::{ask, end, incoming, send, session, turn};

async fn texts(store: &Store) -> Vec<String> {
    let rows = store.log().list(&session("a"), 99).await.unwrap();
    let text = |part: &Part| part.words().unwrap().into_owned();
    rows.iter()
        .map(|row| row.parts.iter().map(text).collect())
        .collect()
}

async fn arrive(store: &Store, text: &str) -> i64 {
    let arrival = store
        .log()
        .append_incoming(&incoming(session("a"), text, None))
        .await;
    arrival.unwrap().row.id
}

#[tokio::test]
async fn what_is_open_is_never_old() {
    on_each_engine(async |home| {
        let store = home.open().await;
        let (ended, open) = (JournalId::fresh(), JournalId::fresh());
        for (id, text) in [(ended, "answered"), (open, "being answered")] {
            let row = arrive(&store, text).await;
            store
                .turns()
                .begin(&turn(id, session("a")), &[row])
                .await
                .unwrap();
        }
        let answer = [send(session("a"), "the answer")];
        store
            .turns()
            .finish(ended, end(&[], &answer))
            .await
            .unwrap();
        arrive(&store, "not answered").await;
        let parts = [Part::text("a remark")];
        let log = store.log();
        log.append(&session("a"), LogRole::System, None, &parts)
            .await
            .unwrap();

        let all = [
            "answered",
            "being answered",
            "the answer",
            "not answered",
            "a remark",
        ];
        assert_eq!(store.forget(Retention::default()).await.unwrap(), 0);
        assert_eq!(texts(&store).await, all);
        let future = Some(Timestamp::now() + jiff::SignedDuration::from_hours(1));
        let everything = Retention {
            log_since: future,
            log_bytes: Some(0),
            turns_since: future,
            spending_since: future,
            outbox_since: future,
        };
        assert_eq!(store.forget(everything).await.unwrap(), 5);
        assert_eq!(texts(&store).await, ["being answered", "not answered"]);
        let unfinished = store.turns().unfinished().await.unwrap();
        assert_eq!(unfinished.len(), 1);
        assert!(store.turns().get(ended).await.is_err());
        assert!(store.outbox().pending(None).await.unwrap().is_empty());
        assert_eq!(ask(&home, "SELECT 'x' FROM log").await.len(), 2);
        store.give_back().await.unwrap();
    })
    .await;
}
