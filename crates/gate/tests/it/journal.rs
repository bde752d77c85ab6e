//! What is on record when, and what a replay makes of it.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use callgate_contract::{
    Arguments, Change, Effect, Kind, MethodError, Part, Provenance, Reply, Value,
};
use callgate_gate::{CallError, CallRequest, recorded_arguments};
use callgate_store::{CallOutcome, RecordedCall};
use serde_json::json;

use crate::scene::{Scene, answering, doing, named};

async fn recorded(scene: &Scene) -> Vec<RecordedCall> {
    scene
        .store
        .journal()
        .recorded(scene.caller.journal)
        .await
        .unwrap()
}

#[tokio::test]
async fn every_effect_is_recorded_and_replayed() {
    for effect in [
        Effect::Pure,
        Effect::Idempotent,
        Effect::Rows,
        Effect::Effectful,
    ] {
        let scene = Scene::new().await;
        let value = Value::Dict(vec![(1.into(), Value::Tuple(vec!["x".into()]))]);
        let parameters = json!({"properties": {"a": {"type": "integer"}}});
        let reply = value.clone();
        scene.add(answering("f", reply).taking(parameters).effect(effect));
        let request = CallRequest {
            clocks: vec![1, 2],
            threaded: true,
            ..CallRequest::new(7, "f", named([("a", 1.into())]))
        };
        let outcome = scene.gate.dispatch(&scene.caller, request).await.unwrap();
        assert_eq!(outcome.value, value);

        let [call] = recorded(&scene).await.try_into().unwrap();
        assert_eq!(call.intent.method, "builtin/f");
        assert_eq!((call.intent.sequence, call.intent.effect), (7, effect));
        assert_eq!(
            (call.intent.clocks.as_slice(), call.intent.threaded),
            ([1, 2].as_slice(), true)
        );
        let arguments = recorded_arguments(&call.intent.arguments);
        assert_eq!(arguments, Some(named([("a", 1.into())])));
        assert_eq!(scene.gate.replay(&call).unwrap(), Some(outcome));
    }
}

#[tokio::test]
async fn replay_keeps_text_and_parts() {
    for (kind, value) in [
        (Kind::Agent, Value::from("page one")),
        (Kind::Behavior, true.into()),
        (Kind::MultimodalAgent, "look".into()),
        (Kind::Tool, Value::Null),
    ] {
        let scene = Scene::new().await;
        scene.add(answering("f", value).kind(kind));
        let outcome = scene.call(1, "f").await.unwrap();
        let [call] = recorded(&scene).await.try_into().unwrap();
        assert_eq!(scene.gate.replay(&call).unwrap(), Some(outcome));
    }
}

#[tokio::test]
async fn failures_and_refusals_are_outcomes_too() {
    let scene = Scene::new().await;
    scene
        .add(
            doing("fails", |_| async { Err(MethodError::new("no luck")) })
                .effect(Effect::Effectful),
        )
        .add(doing("panics", |_| async { panic!("bang") }));
    let calls = [
        ("fails", Arguments::default()),
        ("panics", Arguments::default()),
        ("panics", named([("x", 1.into())])),
        ("unknown", named([("x", 1.into())])),
        ("nul\0in the name", Arguments::default()),
        (&"long".repeat(10_000), Arguments::default()),
    ];
    let mut texts = Vec::new();
    for (sequence, (name, arguments)) in calls.iter().enumerate() {
        let result = scene
            .gate
            .call(&scene.caller, sequence as u64, name, arguments.clone())
            .await;
        texts.push(result.unwrap_err().to_string());
    }
    let record = recorded(&scene).await;
    assert_eq!(record.len(), calls.len());
    for ((call, text), (name, arguments)) in record.iter().zip(texts).zip(calls) {
        let replayed = scene.gate.replay(call).unwrap_err();
        assert!(matches!(replayed, CallError::Recorded { .. }));
        assert_eq!(replayed.to_string(), text);
        assert!(scene.gate.is_recorded(call, name, arguments));
        // What untrusted code chose must not break the store.
        assert!(!call.intent.method.contains(char::is_control));
        assert!(call.intent.method.len() <= 200);
    }
}

#[tokio::test]
async fn a_different_call_is_not_the_recorded_one() {
    let scene = Scene::new().await;
    let parameters = json!({"properties": {"a": {}, "b": {}}});
    scene
        .add(answering("f", "").taking(parameters.clone()))
        .add(answering("g", "").taking(parameters));
    let arguments = named([("a", 1.into())]);
    scene
        .gate
        .call(&scene.caller, 1, "f", arguments.clone())
        .await
        .unwrap();
    let [call] = recorded(&scene).await.try_into().unwrap();
    assert!(scene.gate.is_recorded(&call, "f", arguments.clone()));
    assert!(
        scene
            .gate
            .is_recorded(&call, "builtin/f", arguments.clone())
    );
    assert!(!scene.gate.is_recorded(&call, "g", arguments));
    assert!(
        !scene
            .gate
            .is_recorded(&call, "f", named([("a", 1.0.into())]))
    );
    assert!(!scene.gate.is_recorded(&call, "f", named([("b", 1.into())])));
}

/// The process dies (here: the future is dropped) between intent and outcome.
#[tokio::test]
async fn an_effectful_call_cut_off_is_unknown_and_any_other_is_made_again() {
    let check = async |effect: Effect, on_record: usize| {
        let scene = Scene::new().await;
        scene.add(doing("f", |_| std::future::pending()).effect(effect));
        {
            let mut call = Box::pin(scene.call(3, "f"));
            let started = async {
                while recorded(&scene).await.len() < on_record {
                    tokio::task::yield_now().await;
                }
            };
            tokio::select! {
                biased;
                _ = &mut call => unreachable!("it hangs"),
                () = started => {}
            }
        }
        let store = scene.home.open().await;
        let record = store
            .journal()
            .recorded(scene.caller.journal)
            .await
            .unwrap();
        assert_eq!(record.len(), on_record);
        record.first().map(|call| scene.gate.replay(call))
    };
    for effect in [Effect::Pure, Effect::Idempotent, Effect::Rows] {
        assert!(check(effect, 0).await.is_none());
    }
    let unknown = check(Effect::Effectful, 1).await.unwrap().unwrap_err();
    assert!(matches!(
        unknown,
        CallError::OutcomeUnknown { sequence: 3, .. }
    ));
    assert!(
        unknown
            .to_string()
            .contains("'builtin/f' (call 3) is unknown")
    );
}

#[tokio::test]
async fn a_recorded_intent_of_a_repeatable_call_says_make_it() {
    let scene = Scene::new().await;
    scene.add(answering("f", "x"));
    scene.call(1, "f").await.unwrap();
    let [mut call] = recorded(&scene).await.try_into().unwrap();
    call.outcome = None;
    assert_eq!(scene.gate.replay(&call).unwrap(), None);
}

#[tokio::test]
async fn a_call_that_cannot_be_recorded_is_not_done() {
    let scene = Scene::new().await;
    let runs = Arc::new(AtomicUsize::new(0));
    let count = runs.clone();
    let counting = move |_| {
        count.fetch_add(1, Ordering::Relaxed);
        async { Ok("done".into()) }
    };
    scene.add(doing("f", counting).effect(Effect::Effectful));
    scene.call(1, "f").await.unwrap();
    // The same place in the journal again: its intent cannot be written, so it does not run.
    assert!(matches!(
        scene.call(1, "f").await,
        Err(CallError::Store { .. })
    ));
    assert_eq!(runs.load(Ordering::Relaxed), 1);

    // It ran, but its outcome cannot be written: an error, not a value.
    scene.add(answering("g", "value").kind(Kind::Behavior));
    assert!(matches!(
        scene.call(1, "g").await,
        Err(CallError::Store { .. })
    ));
    let log = scene
        .store
        .log()
        .list(&scene.caller.session, 10)
        .await
        .unwrap();
    assert!(log.is_empty());
}

#[tokio::test]
async fn rows_that_the_store_refuses_fail_the_call_and_leave_nothing() {
    for effect in [Effect::Rows, Effect::Effectful] {
        let scene = Scene::new().await;
        let session = scene.caller.session.clone();
        let changes = vec![
            Change::SystemRow {
                session: session.clone(),
                text: "half".to_owned(),
                provenance: Provenance::Timer,
            },
            Change::Remember {
                session,
                name: String::new(),
                text: "no name".to_owned(),
            },
        ];
        let value = Value::from("done");
        scene.add(answering("f", Reply { value, changes }).effect(effect));
        let error = scene.call(1, "f").await.unwrap_err();
        assert!(matches!(error, CallError::Store { .. }));
        let log = scene.store.log().list(&scene.caller.session, 10).await;
        assert!(log.unwrap().is_empty());
        // An effectful call did run: its record says that it failed.
        match recorded(&scene).await.as_slice() {
            [] => assert_eq!(effect, Effect::Rows),
            [call] => assert_eq!(
                scene.gate.replay(call).unwrap_err().to_string(),
                error.to_string()
            ),
            more => panic!("{more:?}"),
        }
    }
}

#[tokio::test]
async fn a_damaged_record_is_an_error() {
    let scene = Scene::new().await;
    scene.add(answering("f", "x"));
    scene.call(1, "f").await.unwrap();
    let [mut call] = recorded(&scene).await.try_into().unwrap();
    if let Some(CallOutcome {
        result: Ok(success),
        ..
    }) = &mut call.outcome
    {
        success.value = b"?".to_vec();
        success.parts = vec![Part::text("x")];
    }
    assert!(matches!(
        scene.gate.replay(&call),
        Err(CallError::Store { .. })
    ));
}
