//! What is written comes back, once, in order, and changes stand or fall with their outcome.

use callgate_contract::{Change, Effect, JournalId, Message, Part, Stop};
use callgate_store::{CallOutcome, Keep, RunStart, Store, StoreError, Success};
use callgate_testkit::on_each_engine;
use jiff::Timestamp;
use serde_json::json;

use crate::common::{call, failure, run, session, value};

async fn begun(store: &Store) -> JournalId {
    let id = JournalId::fresh();
    store.journal().begin(&run(id)).await.unwrap();
    id
}

fn remember(text: &str) -> Change {
    Change::Remember {
        session: session("a"),
        name: "n".to_owned(),
        text: text.to_owned(),
    }
}

fn send(text: &str) -> Change {
    Change::Send {
        message: Message {
            session: session("a"),
            parts: vec![Part::text(text)],
        },
    }
}

#[tokio::test]
async fn a_run_reads_back_as_it_was_written() {
    on_each_engine(async |home| {
        let store = home.open().await;
        let id = begun(&store).await;
        let found = store.journal().run(id).await.unwrap();
        assert_eq!(found.start, run(id));
        assert_eq!(found.finish, None);
        assert_eq!(store.journal().unfinished().await.unwrap(), [found]);

        let report = json!({"stdout": "你好\u{0}"});
        let journal = store.journal();
        journal.finish(id, Stop::Approval, &report).await.unwrap();
        let finish = journal.run(id).await.unwrap().finish.unwrap();
        assert_eq!((finish.stop, finish.report), (Stop::Approval, report));
        assert_eq!(journal.unfinished().await.unwrap(), []);
        assert_eq!(journal.waiting_for_approval().await.unwrap().len(), 1);

        journal.reopen(id).await.unwrap();
        assert_eq!(journal.waiting_for_approval().await.unwrap(), []);
        assert_eq!(journal.unfinished().await.unwrap().len(), 1);
    })
    .await;
}

#[tokio::test]
async fn calls_read_back_in_order_with_what_is_unknown() {
    on_each_engine(async |home| {
        let store = home.open().await;
        let journal = store.journal();
        let id = begun(&store).await;
        let rich = CallOutcome {
            result: Ok(Success {
                value: (0..=255).collect(),
                text: Some("文\0本".to_owned()),
                parts: vec![Part::text("部\0分")],
            }),
            detail: Some("文\0本".to_owned()),
            micros: 9,
        };
        let pure = call(id, 1, Effect::Pure);
        let effectful = call(id, 2, Effect::Effectful);
        let rows = call(id, 3, Effect::Rows);
        let unknown = call(id, 4, Effect::Effectful);
        journal.outcome_soon(pure.clone(), value(1)).await.unwrap();
        journal.intent(&effectful).await.unwrap();
        journal
            .outcome(id, 2, &failure("坏\0了"), &[])
            .await
            .unwrap();
        journal.record(&rows, &rich, &[]).await.unwrap();
        journal.intent(&unknown).await.unwrap();

        let found: Vec<_> = home.open().await.journal().recorded(id).await.unwrap();
        let found: Vec<_> = found.into_iter().map(|c| (c.intent, c.outcome)).collect();
        let expected = [
            (pure, Some(value(1))),
            (effectful, Some(failure("坏\0了"))),
            (rows, Some(rich)),
            (unknown, None),
        ];
        assert_eq!(found, expected);
    })
    .await;
}

#[tokio::test]
async fn a_second_outcome_is_refused_and_changes_nothing() {
    on_each_engine(async |home| {
        let store = home.open().await;
        let journal = store.journal();
        let id = begun(&store).await;
        journal
            .intent(&call(id, 1, Effect::Effectful))
            .await
            .unwrap();
        let changes = [send("one"), remember("first")];
        journal.outcome(id, 1, &value(1), &changes).await.unwrap();

        let changes = [send("two"), remember("second")];
        let again = journal.outcome(id, 1, &value(2), &changes).await;
        assert!(matches!(
            again,
            Err(StoreError::AlreadyRecorded { sequence: 1, .. })
        ));
        let rows = call(id, 1, Effect::Rows);
        let again = journal.record(&rows, &value(3), &changes).await;
        assert!(matches!(again, Err(StoreError::AlreadyRecorded { .. })));
        let again = journal.intent(&rows).await;
        assert!(matches!(again, Err(StoreError::AlreadyRecorded { .. })));
        let never = journal.outcome(id, 2, &value(2), &changes).await;
        assert!(matches!(
            never,
            Err(StoreError::NeverBegun { sequence: 2, .. })
        ));

        let note = store.notes().get(&session("a"), "n").await.unwrap();
        assert_eq!(note.unwrap().text, "first");
        assert_eq!(store.outbox().pending(None).await.unwrap().len(), 1);
        assert_eq!(
            journal.recorded(id).await.unwrap()[0].outcome,
            Some(value(1))
        );
    })
    .await;
}

#[tokio::test]
async fn a_change_that_fails_takes_the_outcome_back() {
    on_each_engine(async |home| {
        let store = home.open().await;
        let journal = store.journal();
        let id = begun(&store).await;
        journal
            .intent(&call(id, 1, Effect::Effectful))
            .await
            .unwrap();
        let failed = journal
            .outcome(id, 1, &value(1), &[send("x"), remember("")])
            .await;
        assert!(
            matches!(failed, Err(StoreError::NoteSize { .. })),
            "{failed:?}"
        );
        assert_eq!(store.outbox().pending(None).await.unwrap(), []);
        assert_eq!(journal.recorded(id).await.unwrap()[0].outcome, None);
        journal.outcome(id, 1, &failure("no"), &[]).await.unwrap();
    })
    .await;
}

#[tokio::test]
async fn repeatable_calls_reach_the_disk_before_the_next_effect() {
    on_each_engine(async |home| {
        let store = home.open().await;
        let journal = store.journal();
        let id = begun(&store).await;
        let other = Store::inspect(home.options()).await.unwrap();
        let on_disk = async || other.journal().recorded(id).await.unwrap().len();

        let soon = |sequence| journal.outcome_soon(call(id, sequence, Effect::Pure), value(1));
        soon(1).await.unwrap();
        assert!(matches!(
            soon(1).await,
            Err(StoreError::AlreadyRecorded { .. })
        ));
        assert_eq!(on_disk().await, 0);
        journal
            .intent(&call(id, 2, Effect::Effectful))
            .await
            .unwrap();
        assert_eq!(on_disk().await, 2);
        soon(3).await.unwrap();
        journal.flush().await.unwrap();
        assert_eq!(on_disk().await, 3);
        soon(4).await.unwrap();
        journal
            .finish(id, Stop::Finished, &json!({}))
            .await
            .unwrap();
        assert_eq!(on_disk().await, 4);

        // The first outcome on disk stays; a lone intent is completed.
        let repeated = call(id, 4, Effect::Pure);
        journal.outcome_soon(repeated, value(9)).await.unwrap();
        let completed = call(id, 2, Effect::Idempotent);
        journal.outcome_soon(completed, value(2)).await.unwrap();
        let found = journal.recorded(id).await.unwrap();
        assert_eq!(found[3].outcome, Some(value(1)));
        assert_eq!(found[1].outcome, Some(value(2)));
    })
    .await;
}

#[tokio::test]
async fn a_full_buffer_is_written_by_itself() {
    on_each_engine(async |home| {
        let store = home.open().await;
        let id = begun(&store).await;
        for sequence in 1..=300 {
            let call = call(id, sequence, Effect::Pure);
            store.journal().outcome_soon(call, value(1)).await.unwrap();
        }
        let other = home.open().await;
        assert_eq!(other.journal().recorded(id).await.unwrap().len(), 256);
        assert_eq!(store.journal().recorded(id).await.unwrap().len(), 300);
    })
    .await;
}

#[tokio::test]
async fn a_write_given_up_half_way_loses_nothing() {
    on_each_engine(async |home| {
        let store = home.open().await;
        let journal = store.journal();
        let id = begun(&store).await;
        // Polled a few times and dropped, at ever later points.
        for polls in 0..12 {
            let soon = call(id, polls * 2 + 1, Effect::Pure);
            journal.outcome_soon(soon, value(1)).await.unwrap();
            let intent = call(id, polls * 2 + 2, Effect::Effectful);
            let mut write = Box::pin(journal.intent(&intent));
            for _ in 0..polls {
                let waker = std::task::Waker::noop();
                let mut context = std::task::Context::from_waker(waker);
                if write.as_mut().poll(&mut context).is_ready() {
                    break;
                }
                tokio::time::sleep(std::time::Duration::from_millis(2)).await;
            }
            drop(write);
        }
        let found = journal.recorded(id).await.unwrap();
        let soon = found.iter().filter(|c| c.intent.effect == Effect::Pure);
        assert_eq!(soon.count(), 12);
    })
    .await;
}

#[tokio::test]
async fn a_run_begins_and_ends_once() {
    on_each_engine(async |home| {
        let store = home.open().await;
        let journal = store.journal();
        let id = begun(&store).await;
        let again = journal.begin(&run(id)).await;
        assert!(matches!(again, Err(StoreError::AlreadyBegun(_))));
        journal
            .finish(id, Stop::Finished, &json!({}))
            .await
            .unwrap();
        let again = journal.finish(id, Stop::Error, &json!({})).await;
        assert!(matches!(again, Err(StoreError::AlreadyFinished(_))));
        let unknown = JournalId::fresh();
        let failed = journal.finish(unknown, Stop::Error, &json!({})).await;
        assert!(matches!(failed, Err(StoreError::UnknownRun(_))));
        let failed = journal.reopen(unknown).await;
        assert!(matches!(failed, Err(StoreError::UnknownRun(_))));
    })
    .await;
}

#[tokio::test]
async fn pruning_keeps_the_newest_and_all_that_is_open() {
    on_each_engine(async |home| {
        let store = home.open().await;
        let journal = store.journal();
        let mut ids = Vec::new();
        let stops = [None, Some(Stop::Approval), Some(Stop::Error)];
        for stop in stops.into_iter().chain([Some(Stop::Finished); 4]) {
            let id = begun(&store).await;
            let rows = call(id, 1, Effect::Rows);
            journal.record(&rows, &value(1), &[]).await.unwrap();
            if let Some(stop) = stop {
                journal.finish(id, stop, &json!({})).await.unwrap();
            }
            ids.push(id);
        }
        assert_eq!(journal.prune(Keep::newest(9)).await.unwrap(), 0);
        assert_eq!(journal.prune(Keep::newest(2)).await.unwrap(), 3);
        let mut kept = Vec::new();
        for (index, id) in ids.iter().enumerate() {
            let calls = journal.recorded(*id).await.unwrap().len();
            assert_eq!(journal.run(*id).await.is_ok(), calls == 1);
            if calls == 1 {
                kept.push(index);
            }
        }
        assert_eq!(kept, [0, 1, 5, 6]);
    })
    .await;
}

#[tokio::test]
async fn pruning_goes_by_age_and_by_bytes_too() {
    on_each_engine(async |home| {
        let store = home.open().await;
        let journal = store.journal();
        let mut ids = Vec::new();
        for number in 0..6 {
            let id = begun(&store).await;
            let mut large = call(id, 1, Effect::Rows);
            large.arguments = vec![7; 1_000];
            journal.record(&large, &value(1), &[]).await.unwrap();
            // One that is not over stays, however old and large.
            if number > 0 {
                journal
                    .finish(id, Stop::Finished, &json!({}))
                    .await
                    .unwrap();
            }
            ids.push(id);
        }
        let bytes = |bytes| Keep {
            bytes: Some(bytes),
            ..Keep::newest(100)
        };
        assert_eq!(journal.prune(bytes(10_000)).await.unwrap(), 0);
        assert_eq!(journal.prune(bytes(3_500)).await.unwrap(), 2);
        let hour = jiff::SignedDuration::from_hours(1);
        let since = |since: Timestamp| Keep {
            since: Some(since),
            ..Keep::newest(100)
        };
        let now = Timestamp::now();
        assert_eq!(journal.prune(since(now - hour)).await.unwrap(), 0);
        assert_eq!(journal.prune(since(now + hour)).await.unwrap(), 3);
        assert!(journal.run(ids[0]).await.is_ok());
    })
    .await;
}

#[tokio::test]
async fn of_a_single_call_that_failed_large_arguments_are_told_by_their_hash() {
    on_each_engine(async |home| {
        let store = home.open().await;
        let journal = store.journal();
        // Code is executed again from what its calls were given; a call that was made is looked at.
        for (code, size, outcome, kept) in [
            (None, 100_000, failure("no"), 0),
            (None, 100, failure("no"), 100),
            (None, 100_000, value(1), 100_000),
            (Some("f()".to_owned()), 100_000, failure("no"), 100_000),
        ] {
            let id = JournalId::fresh();
            journal.begin(&RunStart { code, ..run(id) }).await.unwrap();
            let mut made = call(id, 1, Effect::Pure);
            made.arguments = vec![7; size];
            journal.outcome_soon(made, outcome).await.unwrap();
            journal.finish(id, Stop::Error, &json!({})).await.unwrap();
            let recorded = journal.recorded(id).await.unwrap();
            assert_eq!(recorded[0].intent.arguments.len(), kept);
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_flush_waits_for_the_flush_of_another() {
    on_each_engine(async |home| {
        let store = home.open().await;
        let id = begun(&store).await;
        let mut tasks = tokio::task::JoinSet::new();
        for first in [1, 1001, 2001, 3001] {
            let journal = store.journal().clone();
            tasks.spawn(async move {
                for sequence in first..first + 50 {
                    let soon = call(id, sequence, Effect::Pure);
                    journal.outcome_soon(soon, value(1)).await.unwrap();
                    let found = journal.recorded(id).await.unwrap();
                    assert!(found.iter().any(|c| c.intent.sequence == sequence));
                }
            });
        }
        tasks.join_all().await;
    })
    .await;
}
