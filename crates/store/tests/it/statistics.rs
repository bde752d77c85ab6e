//! What the operator asks about: calls of a method and who made them, turns and runs by time.

use callgate_contract::{Effect, JournalId, Stop, TurnStop};
use callgate_store::{PastCall, RunStart, Store, TurnEnd};
use callgate_testkit::on_each_engine;
use jiff::Timestamp;
use serde_json::json;

use crate::common::{call, end, failure, run, session, turn, value};

async fn called(store: &Store, method: &str, count: u64) -> JournalId {
    let id = JournalId::fresh();
    let journal = store.journal();
    journal.begin(&run(id)).await.unwrap();
    for sequence in 1..=count {
        let mut intent = call(id, sequence, Effect::Pure);
        intent.method = method.to_owned();
        let outcome = match sequence {
            1 => failure("no"),
            _ => value(1),
        };
        journal.outcome_soon(intent, outcome).await.unwrap();
    }
    id
}

#[tokio::test]
async fn the_newest_calls_of_a_method_are_found_and_no_others() {
    on_each_engine(async |home| {
        let store = home.open().await;
        let old = called(&store, "builtin/now", 3).await;
        called(&store, "builtin/other", 5).await;
        let new = called(&store, "builtin/now", 2).await;
        let mut open = call(new, 3, Effect::Effectful);
        open.method = "builtin/now".to_owned();
        store.journal().intent(&open).await.unwrap();

        let journal = store.journal();
        let calls = journal.calls_of("builtin/now", 100).await.unwrap();
        let places: Vec<(JournalId, u64)> = calls
            .iter()
            .map(|call| (call.journal, call.sequence))
            .collect();
        let expected = [(new, 3), (new, 2), (new, 1), (old, 3), (old, 2), (old, 1)];
        assert_eq!(places, expected);
        assert_eq!(calls[0].ended, None);
        let ended = |call: &PastCall| call.ended.clone().unwrap();
        assert_eq!(ended(&calls[1]).error, None);
        assert_eq!(ended(&calls[2]).error.as_deref(), Some("no"));
        assert_eq!(calls[1].session, Some(session("张三")));
        assert_eq!(calls[1].user.as_deref(), Some("张三"));

        assert_eq!(journal.calls_of("builtin/now", 2).await.unwrap().len(), 2);
        assert_eq!(journal.count_of("builtin/now", 100).await.unwrap(), 6);
        assert_eq!(journal.count_of("builtin/now", 4).await.unwrap(), 4);
        assert_eq!(journal.count_of("builtin/none", 4).await.unwrap(), 0);
        assert_eq!(journal.latest_calls(100).await.unwrap().len(), 11);
        assert_eq!(journal.latest_calls(7).await.unwrap().len(), 7);
    })
    .await;
}

#[tokio::test]
async fn turns_are_counted_by_the_time_they_began_in() {
    const HOUR: i64 = 3_600_000;
    on_each_engine(async |home| {
        let store = home.open().await;
        let long_ago = Timestamp::UNIX_EPOCH;
        assert_eq!(store.turns().counted(long_ago, HOUR).await.unwrap(), []);
        for stop in [TurnStop::Answered, TurnStop::Error] {
            let start = turn(JournalId::fresh(), session("a"));
            store.turns().begin(&start, &[]).await.unwrap();
            let end = TurnEnd {
                tainted: false,
                calls: true,
                stop,
                ..end(&[], &[])
            };
            store.turns().finish(start.id, end).await.unwrap();
        }
        let counted = store.turns().counted(long_ago, HOUR).await.unwrap();
        assert_eq!(counted.iter().map(|it| it.turns).sum::<u64>(), 2);
        assert_eq!(counted.iter().map(|it| it.errors).sum::<u64>(), 1);
        let now = Timestamp::now().as_millisecond() / HOUR;
        assert!((now - 1..=now).contains(&counted[0].stretch));
        let later = Timestamp::from_millisecond((now + 1) * HOUR).unwrap();
        assert_eq!(store.turns().counted(later, HOUR).await.unwrap(), []);
    })
    .await;
}

#[tokio::test]
async fn a_call_names_the_persona_of_its_turn_made_by_code_or_not() {
    on_each_engine(async |home| {
        let store = home.open().await;
        let answering = turn(JournalId::fresh(), session("a"));
        store.turns().begin(&answering, &[]).await.unwrap();
        let of_code = RunStart {
            turn: Some((answering.id, 1)),
            ..run(JournalId::fresh())
        };
        store.journal().begin(&of_code).await.unwrap();
        for journal in [answering.id, of_code.id] {
            let intent = call(journal, 1, Effect::Pure);
            let journal = store.journal();
            journal.outcome_soon(intent, value(1)).await.unwrap();
        }
        called(&store, "builtin/now", 1).await;
        let calls = store.journal().calls_of("builtin/now", 9).await.unwrap();
        let persona = |call: &PastCall| (call.turn, call.persona.clone());
        let ours = (Some(answering.id), answering.persona.clone());
        let told: Vec<_> = calls.iter().map(persona).collect();
        assert_eq!(told, [(None, None), ours.clone(), ours]);
    })
    .await;
}

#[tokio::test]
async fn runs_of_code_are_counted_by_how_they_ended() {
    const HOUR: i64 = 3_600_000;
    on_each_engine(async |home| {
        let store = home.open().await;
        let journal = store.journal();
        let ended = [Stop::Finished, Stop::Timeout, Stop::Finished];
        for stop in ended.map(Some).into_iter().chain([None]) {
            let start = run(JournalId::fresh());
            journal.begin(&start).await.unwrap();
            if let Some(stop) = stop {
                let report = json!({});
                journal.finish(start.id, stop, &report).await.unwrap();
            }
        }
        // A call that came alone ran no code.
        let alone = RunStart {
            code: None,
            ..run(JournalId::fresh())
        };
        journal.begin(&alone).await.unwrap();
        let report = json!({});
        let finished = journal.finish(alone.id, Stop::Finished, &report).await;
        finished.unwrap();

        let counted = journal.stopped(Timestamp::UNIX_EPOCH, HOUR).await.unwrap();
        let of = |stop: Stop| -> u64 {
            let ours = counted.iter().filter(|it| it.stop == stop);
            ours.map(|it| it.runs).sum()
        };
        assert_eq!((of(Stop::Finished), of(Stop::Timeout)), (2, 1));
        assert_eq!(counted.iter().map(|it| it.runs).sum::<u64>(), 3);
        let now = Timestamp::now().as_millisecond() / HOUR;
        assert!(
            counted
                .iter()
                .all(|it| (now - 1..=now).contains(&it.stretch))
        );
        let later = Timestamp::from_millisecond((now + 1) * HOUR).unwrap();
        assert_eq!(journal.stopped(later, HOUR).await.unwrap(), []);
    })
    .await;
}
