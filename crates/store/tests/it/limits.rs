//! Limits: kept with their author, one about the same, and what counts against them.

use callgate_contract::{JournalId, Limit, Part, Period, Principal, SessionKey};
use callgate_store::{
    Counted, CountedMessages, Incoming, LogRow, Reception, Sender, Store, StoreError, UseOf,
};
use callgate_testkit::on_each_engine;
use jiff::{SignedDuration, Timestamp};

use crate::common::turn;

fn limit(text: &str) -> Limit {
    serde_json::from_str(text).unwrap()
}

fn key(text: &str) -> SessionKey {
    text.parse().unwrap()
}

fn person(text: &str) -> Principal {
    text.parse().unwrap()
}

#[tokio::test]
async fn a_limit_is_kept_with_its_author_and_there_is_one_about_the_same() {
    on_each_engine(async |home| {
        let store = home.open().await;
        let limits = store.limits();
        let few = limit(r#"{"person":"qq:ann","messages":3,"per":"hour"}"#);
        let made = limits.add(&few, "terminal").await.unwrap();
        assert_eq!((&made.limit, made.made_by.as_str()), (&few, "terminal"));
        let listed = limits.list().await.unwrap();
        assert_eq!((listed.len(), &listed[0]), (1, &made));

        let more = Limit {
            messages: Some(5),
            ..few.clone()
        };
        let again = limits.add(&more, "key 1").await.unwrap();
        let listed = limits.list().await.unwrap();
        assert_eq!((listed.len(), &listed[0]), (1, &again));
        // Another period, another thing that is bounded, nothing at all: each is one of its own.
        for other in [
            Limit {
                per: Period::Day,
                ..few.clone()
            },
            Limit {
                messages: None,
                tokens: Some(9),
                ..few.clone()
            },
            Limit {
                messages: Some(0),
                ..few.clone()
            },
        ] {
            limits.add(&other, "terminal").await.unwrap();
        }
        assert_eq!(limits.list().await.unwrap().len(), 4);

        assert_eq!(limits.remove(again.id).await.unwrap(), again);
        let unknown = limits.remove(again.id).await;
        assert!(matches!(unknown, Err(StoreError::UnknownLimit(_))));
        let over = Limit {
            until: Some(Timestamp::now() - SignedDuration::from_secs(1)),
            ..limit(r#"{"person":"qq:bob","messages":0}"#)
        };
        limits.add(&over, "terminal").await.unwrap();
        assert_eq!(limits.list().await.unwrap().len(), 4);
        limits.add(&few, "terminal").await.unwrap();
        let kept = limits.list().await.unwrap();
        assert!(kept.iter().all(|one| one.limit != over), "{kept:?}");
    })
    .await;
}

async fn says(store: &Store, session: &str, user: &str, reception: Reception) -> LogRow {
    let incoming = Incoming {
        session: key(session),
        sender: Sender {
            id: user.to_owned(),
            name: String::new(),
        },
        parts: vec![Part::text("hi")],
        message_id: None,
        hidden: false,
        mentioned: true,
        sent_at: None,
    };
    let received = store.log().receive(&incoming, reception).await;
    received.unwrap().row
}

async fn messages(store: &Store, counted: Counted<'_>, before: i64) -> u64 {
    let wanted = UseOf {
        counted,
        messages: Some(100),
        spending: true,
    };
    let limits = store.limits();
    let used = limits
        .used(&[wanted, wanted], CountedMessages::Before(before))
        .await;
    let used = used.unwrap();
    assert_eq!(used[0], used[1]);
    used[0].messages
}

#[tokio::test]
async fn messages_count_by_who_sent_them_where_and_since_when() {
    on_each_engine(async |home| {
        let store = home.open().await;
        let usual = Reception::default;
        let offered = || Reception {
            offered: true,
            ..usual()
        };
        says(&store, "qq:GroupMessage:1", "ann", usual()).await;
        says(&store, "qq:GroupMessage:2", "ann", usual()).await;
        says(&store, "qq:GroupMessage:1", "bob", usual()).await;
        // Her account on another platform is somebody else's, and so is a key of her name.
        says(&store, "tg:GroupMessage:1", "ann", usual()).await;
        let of_a_key = Reception {
            principal: Some(Principal::Key("ann".to_owned())),
            ..usual()
        };
        says(&store, "qq:GroupMessage:1", "key-ann", of_a_key).await;
        // Herself, from elsewhere.
        let elsewhere = Reception {
            principal: Some(person("qq:ann")),
            ..usual()
        };
        says(&store, "web:GroupMessage:1", "ann", elsewhere).await;
        // What nobody answers does not count; what a listener answers does, and while they look at it.
        let chatter = says(&store, "qq:GroupMessage:1", "ann", usual()).await;
        store.log().dismiss(&[chatter.id]).await.unwrap();
        let passed = says(&store, "qq:GroupMessage:1", "ann", offered()).await;
        store.log().dealt_with(passed.id).await.unwrap();
        let answered = says(&store, "qq:GroupMessage:1", "ann", offered()).await;
        let log = store.log();
        log.answered_by_listener(answered.id).await.unwrap();
        says(&store, "qq:GroupMessage:1", "ann", offered()).await;
        let last = says(&store, "qq:GroupMessage:1", "ann", usual()).await.id;

        let hour = SignedDuration::from_hours(1);
        let (past, future) = (Timestamp::now() - hour, Timestamp::now() + hour);
        let (ann, of_tg) = (person("qq:ann"), person("tg:ann"));
        let (group, bare) = (key("qq:GroupMessage:1"), Counted::everybody(past));
        let of = |principal| Counted {
            principal: Some(principal),
            ..bare
        };
        let there = |counted| Counted {
            session: Some(&group),
            ..counted
        };
        for (counted, expected) in [
            (of(&ann), 5),
            (of(&of_tg), 1),
            (of(&Principal::Key("ann".to_owned())), 1),
            (there(of(&ann)), 3),
            (there(bare), 5),
            (bare, 8),
            (
                Counted {
                    platform: Some("qq"),
                    ..bare
                },
                6,
            ),
            (
                Counted {
                    since: future,
                    ..of(&ann)
                },
                0,
            ),
            (Counted::everybody(future), 0),
        ] {
            assert_eq!(
                messages(&store, counted, last).await,
                expected,
                "{counted:?}"
            );
        }
    })
    .await;
}

#[tokio::test]
async fn turns_are_counted_where_no_log_keeps_messages() {
    on_each_engine(async |home| {
        let store = home.open().await;
        let session = key("openai:FriendMessage:1");
        for _ in 0..3 {
            let start = turn(JournalId::fresh(), session.clone());
            store.turns().begin(&start, &[]).await.unwrap();
        }
        let whose = turn(JournalId::fresh(), session.clone()).principal;
        let wanted = |most| UseOf {
            counted: Counted {
                principal: Some(&whose),
                ..Counted::everybody(Timestamp::now() - SignedDuration::from_secs(60))
            },
            messages: Some(most),
            spending: false,
        };
        let used = store
            .limits()
            .used(&[wanted(9), wanted(2)], CountedMessages::TurnsOf(&session))
            .await
            .unwrap();
        assert_eq!((used[0].messages, used[1].messages), (3, 2));
    })
    .await;
}
