//! The log: messages arrive once, are taken once, and are found again after a restart.

use callgate_contract::{JournalId, Mode, Part, Principal, Role};
use callgate_store::{LogRole, LogRow, Reception, Sender, StoreError};
use callgate_testkit::on_each_engine;

use crate::common::{incoming, session, turn};

fn ids(rows: &[LogRow]) -> Vec<i64> {
    rows.iter().map(|row| row.id).collect()
}

#[tokio::test]
async fn a_message_delivered_twice_is_one_row() {
    on_each_engine(async |home| {
        let store = home.open().await;
        let first = incoming(session("a"), "问\0题", Some("m1"));
        let arrival = store.log().append_incoming(&first).await.unwrap();
        assert!(!arrival.repeated);
        let row = arrival.row;
        assert_eq!((row.id, row.role), (1, LogRole::User));
        assert_eq!((&row.parts, row.turn), (&first.parts, None));
        let sender = Sender {
            id: "u1".to_owned(),
            name: "张三\0".to_owned(),
        };
        assert_eq!(row.sender, Some(sender));

        // Also by another process after a crash.
        let store = home.open().await;
        let again = incoming(session("a"), "other", Some("m1"));
        let again = store.log().append_incoming(&again).await.unwrap();
        assert!(again.repeated);
        assert_eq!(again.row, row);

        // The same id elsewhere, and messages without one, are their own.
        for message in [
            incoming(session("b"), "x", Some("m1")),
            incoming(session("a"), "x", None),
            incoming(session("a"), "x", None),
        ] {
            let arrival = store.log().append_incoming(&message).await.unwrap();
            assert!(!arrival.repeated);
        }
        let rows = store.log().list(&session("a"), 10).await.unwrap();
        assert_eq!(rows.len(), 3);
        assert!(ids(&rows).is_sorted_by(|one, next| one < next));
    })
    .await;
}

#[tokio::test]
async fn a_message_says_what_its_sender_made_of_it() {
    on_each_engine(async |home| {
        let store = home.open().await;
        let log = store.log();
        for (chat, id) in [("a", "m1"), ("a", "m2"), ("b", "m1")] {
            let message = incoming(session(chat), "teh", Some(id));
            log.append_incoming(&message).await.unwrap();
        }
        let parts = [Part::text("the\0")];
        log.rewrite_message(&session("a"), "m1", &parts)
            .await
            .unwrap();
        // What was taken back stays so.
        log.hide_message(&session("a"), "m2").await.unwrap();
        log.rewrite_message(&session("a"), "m2", &parts)
            .await
            .unwrap();
        let said = async |chat| {
            let rows = log.list(&session(chat), 10).await.unwrap();
            rows.iter().map(|row| row.parts.clone()).collect::<Vec<_>>()
        };
        let original = vec![Part::text("teh")];
        assert_eq!(said("a").await, [parts.to_vec(), original.clone()]);
        assert_eq!(said("b").await, [original]);
        assert_eq!(log.unanswered(&session("a")).await.unwrap().len(), 1);
    })
    .await;
}

#[tokio::test]
async fn a_platform_is_read_on_from_where_it_was() {
    on_each_engine(async |home| {
        let store = home.open().await;
        assert_eq!(store.cursors().get("mx").await.unwrap(), None);
        for cursor in ["s1", "s2"] {
            store.cursors().set("mx", cursor).await.unwrap();
        }
        store.cursors().set("other", "1").await.unwrap();
        let store = home.open().await;
        let cursor = store.cursors().get("mx").await.unwrap();
        assert_eq!(cursor.as_deref(), Some("s2"));
        store.cursors().remove("mx").await.unwrap();
        assert_eq!(store.cursors().get("mx").await.unwrap(), None);
        assert!(store.cursors().get("other").await.unwrap().is_some());
    })
    .await;
}

#[tokio::test]
async fn deliveries_at_once_are_one_row() {
    on_each_engine(async |home| {
        let stores = [home.open().await, home.open().await];
        let mut arriving = tokio::task::JoinSet::new();
        for n in 0..20 {
            let store = stores[n % 2].clone();
            arriving.spawn(async move {
                let message = incoming(session("a"), "x", Some("m"));
                store.log().append_incoming(&message).await.unwrap()
            });
        }
        let arrivals = arriving.join_all().await;
        assert_eq!(arrivals.iter().filter(|a| !a.repeated).count(), 1);
        assert!(arrivals.iter().all(|a| a.row == arrivals[0].row));
    })
    .await;
}

#[tokio::test]
async fn what_no_turn_took_is_unanswered() {
    on_each_engine(async |home| {
        let store = home.open().await;
        let log = store.log();
        for text in ["1", "2", "3"] {
            let message = incoming(session("a"), text, None);
            log.append_incoming(&message).await.unwrap();
        }
        let mut hidden = incoming(session("a"), "4", None);
        hidden.hidden = true;
        hidden.mentioned = true;
        let hidden = log.append_incoming(&hidden).await.unwrap().row;
        assert!(hidden.hidden && hidden.mentioned);
        log.append(&session("a"), LogRole::System, None, &[])
            .await
            .unwrap();
        let elsewhere = incoming(session("b"), "6", None);
        log.append_incoming(&elsewhere).await.unwrap();

        let unanswered = async || ids(&log.unanswered(&session("a")).await.unwrap());
        assert_eq!(unanswered().await, [1, 2, 3]);
        log.dismiss(&[1]).await.unwrap();
        let id = JournalId::fresh();
        let begin = turn(id, session("a"));
        store.turns().begin(&begin, &[2]).await.unwrap();
        assert_eq!(unanswered().await, [3]);
        assert_eq!(log.waiting().await.unwrap(), [session("a"), session("b")]);
        log.take_for_turn(id, &[2, 3]).await.unwrap();
        assert_eq!(unanswered().await, [] as [i64; 0]);
        assert_eq!(log.waiting().await.unwrap(), [session("b")]);

        let since = log.since(&session("a"), 1, 3).await.unwrap();
        assert_eq!(ids(&since), [2, 3, 4]);
        assert_eq!(since[0].turn, Some(id));
        assert_eq!(log.since(&session("a"), 5, 9).await.unwrap(), []);
    })
    .await;
}

#[tokio::test]
async fn rows_are_taken_together_or_not_at_all() {
    on_each_engine(async |home| {
        let store = home.open().await;
        let log = store.log();
        for (to, text) in [("a", "1"), ("a", "2"), ("b", "3")] {
            let message = incoming(session(to), text, None);
            log.append_incoming(&message).await.unwrap();
        }
        let answer = log
            .append(&session("a"), LogRole::Assistant, None, &[])
            .await;
        let (first, second) = (JournalId::fresh(), JournalId::fresh());
        let begin = turn(first, session("a"));
        store.turns().begin(&begin, &[1]).await.unwrap();
        let begin = turn(second, session("a"));
        store.turns().begin(&begin, &[]).await.unwrap();
        // Another turn's, another session's, no message that came in, none at all.
        for foreign in [1, 3, answer.unwrap(), 99] {
            let taken = log.take_for_turn(second, &[2, foreign]).await;
            let Err(StoreError::NotToTake { row, .. }) = taken else {
                panic!("{taken:?}");
            };
            assert_eq!(row, foreign);
        }
        let unknown = log.take_for_turn(JournalId::fresh(), &[2]).await;
        assert!(matches!(unknown, Err(StoreError::NotToTake { .. })));
        let unanswered = log.unanswered(&session("a")).await.unwrap();
        assert_eq!(ids(&unanswered), [2]);
    })
    .await;
}

#[tokio::test]
async fn what_listeners_deal_with_waits_for_no_turn() {
    on_each_engine(async |home| {
        let store = home.open().await;
        let log = store.log();
        let offered = Reception {
            provenance: None,
            role: Some(Role::Operator),
            principal: Some(Principal::Key("3".to_owned())),
            key: Some("3".to_owned()),
            offered: true,
            dismissed: false,
            mode: Some(Mode::Tools),
            model: Some("small".into()),
        };
        let mut rows = Vec::new();
        for text in ["left to the turn", "dealt with", "hidden"] {
            let message = incoming(session("a"), text, None);
            let before = log.arrivals(&session("a"));
            rows.push(log.receive(&message, offered.clone()).await.unwrap().row);
            assert!(before.is_none() || before != log.arrivals(&session("a")));
        }
        assert_eq!(log.unanswered(&session("a")).await.unwrap(), []);
        let found = log.offered().await.unwrap();
        assert_eq!(found, rows, "after a restart");
        assert_eq!(found[0].sender_role, Some(Role::Operator));
        assert_eq!(found[0].principal(), Principal::Key("3".to_owned()));
        assert_eq!(found[0].mode, Some(Mode::Tools));
        assert_eq!(found[0].model.as_deref(), Some("small"));

        let before = log.arrivals(&session("a"));
        log.release(&rows[0]).await.unwrap();
        assert!(before.is_none() || before != log.arrivals(&session("a")));
        log.dealt_with(rows[1].id).await.unwrap();
        log.dealt_with(rows[0].id).await.unwrap();
        log.hide(rows[2].id).await.unwrap();
        assert_eq!(log.offered().await.unwrap(), []);
        let waiting = log.unanswered(&session("a")).await.unwrap();
        assert_eq!(ids(&waiting), [rows[0].id]);
        // Nobody offers a row twice.
        log.release(&rows[1]).await.unwrap();
        assert_eq!(log.unanswered(&session("a")).await.unwrap().len(), 1);
        let hidden = log.list(&session("a"), 9).await.unwrap();
        assert_eq!(hidden.iter().filter(|row| row.hidden).count(), 1);
    })
    .await;
}
