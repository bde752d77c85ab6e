//! What a method tells of its progress reaches whoever called it, and nobody else; calls by themselves
//! have a journal that is closed however they end.

use std::sync::{Arc, Mutex};

use callgate_contract::{
    Arguments, Caller, Grant, Kind, MethodError, Onlooker, Progress, Stop, Surface,
};
use callgate_gate::{Call, CallError, CallRequest, method};

use crate::scene::{Scene, answering, caller};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Nothing {}

async fn halves(call: Call, _: Nothing) -> Result<String, MethodError> {
    for (done, text) in [(0.5, "half"), (1.0, "")] {
        call.progress.tell(Progress {
            done,
            total: Some(1.0),
            text: text.to_owned(),
        });
    }
    Ok("done".to_owned())
}

fn heard() -> (Onlooker, Arc<Mutex<Vec<Progress>>>) {
    let heard: Arc<Mutex<Vec<Progress>>> = Arc::default();
    let told = heard.clone();
    let onlooker = Onlooker::new(move |progress| told.lock().unwrap().push(progress));
    (onlooker, heard)
}

#[tokio::test]
async fn whoever_calls_hears_how_far_it_is() {
    let scene = Scene::new().await;
    let halves = method("halves", Kind::Tool, halves);
    scene.gate.register(Arc::new(halves)).unwrap();
    let (progress, heard) = heard();
    let request = CallRequest {
        progress,
        ..CallRequest::new(1, "halves", Arguments::default())
    };
    scene.gate.dispatch(&scene.caller, request).await.unwrap();
    let told: Vec<(f64, String)> = heard
        .lock()
        .unwrap()
        .iter()
        .map(|it| (it.done, it.text.clone()))
        .collect();
    assert_eq!(told, [(0.5, "half".to_owned()), (1.0, String::new())]);
    scene.call(2, "halves").await.unwrap();
    assert_eq!(heard.lock().unwrap().len(), 2, "the other was another call");
}

/// How the journal of `caller` says that it ended.
async fn stop(scene: &Scene, caller: &Caller) -> Stop {
    let run = scene.store.journal().run(caller.journal).await.unwrap();
    run.finish.unwrap().stop
}

#[tokio::test]
async fn a_call_by_itself_has_a_journal_that_says_how_it_ended() {
    let scene = Scene::new().await;
    scene.add(answering("f", "x"));
    let alone = async |caller: &Caller, name: &str| {
        let nothing = Arguments::default();
        let made = scene
            .gate
            .call_alone(caller, name, nothing, Onlooker::default());
        made.await.unwrap()
    };
    let new = || caller(Surface::Remote, Grant::everything());
    let (done, refused, stopped) = (new(), new(), new());
    assert!(alone(&done, "f").await.is_ok());
    assert!(alone(&refused, "g").await.is_err());
    stopped.grant.budget.cancel().cancel();
    scene.add(crate::scene::doing("waits", |_| std::future::pending()));
    let cut = alone(&stopped, "waits").await;
    assert!(matches!(cut, Err(CallError::Cancelled { .. })), "{cut:?}");
    assert_eq!(stop(&scene, &done).await, Stop::Finished);
    assert_eq!(stop(&scene, &refused).await, Stop::Error);
    assert_eq!(stop(&scene, &stopped).await, Stop::Cancelled);
    for caller in [&done, &refused, &stopped] {
        let recorded = scene.store.journal().recorded(caller.journal).await;
        let recorded = recorded.unwrap();
        assert_eq!(recorded.len(), 1, "{recorded:?}");
        assert!(recorded.iter().all(|call| call.outcome.is_some()));
    }
}
