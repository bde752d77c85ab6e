//! Asking the operator: rules, answers, waiting, and runs executed again.

use std::time::Duration;

use callgate_contract::{Arguments, Caller};
use callgate_gate::{CallError, Gate, GatePolicy, Outcome};
use callgate_store::{Decision, StoreError};
use serde_json::json;
use tokio::task::JoinHandle;

use crate::scene::{Scene, answering, named};

fn asking(names: &[&str], wait: Duration) -> GatePolicy {
    GatePolicy {
        ask: names.iter().map(|&name| name.to_owned()).collect(),
        approval_wait: wait,
        ..GatePolicy::default()
    }
}

const LONG: Duration = Duration::from_secs(3600);

async fn scene(wait: Duration) -> Scene {
    let scene = Scene::with(asking(&["delete"], wait)).await;
    let parameters = json!({"properties": {"path": {"type": "string"}}});
    scene
        .add(answering("delete", "deleted").taking(parameters))
        .add(answering("look", "seen"));
    scene
}

fn path(path: &str) -> Arguments {
    named([("path", path.into())])
}

fn call(
    scene: &Scene,
    caller: &Caller,
    sequence: u64,
    arguments: Arguments,
) -> JoinHandle<Result<Outcome, CallError>> {
    let (gate, caller): (Gate, Caller) = (scene.gate.clone(), caller.clone());
    tokio::spawn(async move { gate.call(&caller, sequence, "delete", arguments).await })
}

/// The number of the one question that is open.
async fn asked(scene: &Scene) -> i64 {
    loop {
        let pending = scene
            .store
            .approvals()
            .list(Some(callgate_store::ApprovalState::Pending))
            .await;
        match pending.unwrap().as_slice() {
            [] => tokio::task::yield_now().await,
            [approval] => {
                assert_eq!(approval.ask.method, "builtin/delete");
                return approval.id;
            }
            more => panic!("{more:?}"),
        }
    }
}

#[tokio::test]
async fn an_answer_wakes_the_waiting_call() {
    for (decision, allowed) in [(Decision::Allow, true), (Decision::Deny, false)] {
        let scene = scene(LONG).await;
        let waiting = call(&scene, &scene.caller, 1, path("a"));
        let id = asked(&scene).await;
        scene.gate.answer(id, decision, false).await.unwrap();
        match waiting.await.unwrap() {
            Ok(_) => assert!(allowed),
            Err(CallError::Denied { .. }) => assert!(!allowed),
            Err(other) => panic!("{other}"),
        }
        let again = scene.gate.answer(id, decision, false).await;
        assert!(matches!(again, Err(StoreError::AlreadyAnswered { .. })));
    }
}

#[tokio::test]
async fn an_answer_for_another_call_wakes_nobody_else() {
    let scene = scene(LONG).await;
    let first = call(&scene, &scene.caller, 1, path("a"));
    let id = asked(&scene).await;
    let mut other = scene.caller.clone();
    other.journal = callgate_contract::JournalId::fresh();
    let second = call(&scene, &other, 1, path("b"));
    while scene.store.approvals().list(None).await.unwrap().len() < 2 {
        tokio::task::yield_now().await;
    }
    scene.gate.answer(id, Decision::Deny, false).await.unwrap();
    assert!(matches!(
        first.await.unwrap(),
        Err(CallError::Denied { .. })
    ));
    let id = asked(&scene).await;
    scene.gate.answer(id, Decision::Allow, false).await.unwrap();
    assert!(second.await.unwrap().is_ok());
}

#[tokio::test]
async fn always_and_never_are_remembered_for_the_session() {
    for (decision, allowed) in [(Decision::Allow, true), (Decision::Deny, false)] {
        let scene = scene(LONG).await;
        let waiting = call(&scene, &scene.caller, 1, path("a"));
        let id = asked(&scene).await;
        scene.gate.answer(id, decision, true).await.unwrap();
        waiting.await.unwrap().ok();
        // Also after a restart, and for other arguments; nobody is there to answer.
        let gate = Gate::new(scene.home.open().await, asking(&["delete"], Duration::ZERO));
        gate.register(scene.gate.find("delete").unwrap()).unwrap();
        let result = gate.call(&scene.caller, 2, "delete", path("b")).await;
        assert_eq!(result.is_ok(), allowed);
        let mut elsewhere = scene.caller.clone();
        elsewhere.session = "cli:FriendMessage:bob".parse().unwrap();
        let result = gate.call(&elsewhere, 3, "delete", path("b")).await;
        assert!(matches!(result, Err(CallError::ApprovalPending { .. })));
    }
}

#[tokio::test]
async fn unanswered_is_pending_and_the_run_meets_the_answer_later() {
    let scene = scene(Duration::ZERO).await;
    let result = scene.gate.call(&scene.caller, 1, "delete", path("a")).await;
    let Err(CallError::ApprovalPending { id, .. }) = result else {
        panic!("{result:?}")
    };
    // Nothing is on record: the call is still to be made.
    let record = scene
        .store
        .journal()
        .recorded(scene.caller.journal)
        .await
        .unwrap();
    assert!(record.is_empty());
    scene.gate.answer(id, Decision::Allow, false).await.unwrap();
    assert!(
        scene
            .gate
            .call(&scene.caller, 1, "delete", path("a"))
            .await
            .is_ok()
    );
    // "Once" does not hold for the next call.
    let result = scene.gate.call(&scene.caller, 2, "delete", path("a")).await;
    assert!(matches!(result, Err(CallError::ApprovalPending { .. })));
}

#[tokio::test]
async fn an_approval_does_not_pass_to_other_arguments() {
    let scene = scene(Duration::ZERO).await;
    let result = scene
        .gate
        .call(&scene.caller, 1, "delete", path("/app/shared/a"))
        .await;
    let Err(CallError::ApprovalPending { id, .. }) = result else {
        panic!("{result:?}")
    };
    scene.gate.answer(id, Decision::Allow, false).await.unwrap();
    let result = scene
        .gate
        .call(&scene.caller, 1, "delete", path("/app/shared/b"))
        .await;
    assert!(matches!(result, Err(CallError::ApprovalElsewhere { .. })));
}

#[tokio::test]
async fn only_what_the_operator_named_is_asked_for() {
    let check = async |ask: &[&str], expect: [bool; 2]| {
        let scene = Scene::with(asking(ask, Duration::ZERO)).await;
        scene
            .add(answering("delete", ""))
            .add(answering("look", ""));
        for (sequence, (name, asked)) in ["delete", "look"].into_iter().zip(expect).enumerate() {
            let result = scene.call(sequence as u64, name).await;
            let pending = matches!(result, Err(CallError::ApprovalPending { .. }));
            assert_eq!(pending, asked, "{ask:?} {name}");
        }
    };
    check(&[], [false, false]).await;
    check(&["delete"], [true, false]).await;
    check(&["builtin/delete"], [true, false]).await;
    check(&["*"], [true, true]).await;
    check(&["plugin:p/delete"], [false, false]).await;
}

#[tokio::test]
async fn no_method_escapes_the_question_behind_another_of_its_name() {
    let scene = Scene::with(asking(&["delete"], Duration::ZERO)).await;
    let plugin = callgate_contract::Origin::Plugin("p".to_owned());
    scene
        .add(answering("delete", ""))
        .add(answering("delete", "").from(plugin));
    for (sequence, name) in ["delete", "builtin/delete", "plugin_p__delete"]
        .iter()
        .enumerate()
    {
        let result = scene.call(sequence as u64, name).await;
        assert!(
            matches!(result, Err(CallError::ApprovalPending { .. })),
            "{name}"
        );
    }
}

#[tokio::test]
async fn a_bad_call_is_refused_before_anybody_is_asked() {
    let scene = scene(LONG).await;
    let result = scene
        .gate
        .call(&scene.caller, 1, "delete", named([("path", 1.into())]))
        .await;
    assert!(matches!(result, Err(CallError::BadArguments { .. })));
    assert!(scene.store.approvals().list(None).await.unwrap().is_empty());
}

#[tokio::test]
async fn what_is_asked_and_answered_is_told_to_those_who_follow() {
    let scene = scene(LONG).await;
    let mut followed = scene.gate.approvals();
    let waiting = call(&scene, &scene.caller, 1, path("a"));
    let asked = followed.recv().await.unwrap();
    assert_eq!(asked.state, callgate_store::ApprovalState::Pending);
    let gate = &scene.gate;
    gate.answer_as(Some("key k1"), asked.id, Decision::Allow, None)
        .await
        .unwrap();
    let answered = followed.recv().await.unwrap();
    assert_eq!(answered.id, asked.id);
    assert_eq!(answered.answered_by.as_deref(), Some("key k1"));
    waiting.await.unwrap().unwrap();
}

#[tokio::test]
async fn what_needs_an_approval_can_change_at_any_time() {
    let scene = scene(Duration::ZERO).await;
    assert!(scene.gate.asks_for("delete") && !scene.gate.asks_for("look"));
    scene.gate.set_rules(Vec::new(), &["look".to_owned()]);
    assert!(!scene.gate.asks_for("delete") && scene.gate.asks_for("builtin/look"));
    let passed = call(&scene, &scene.caller, 1, path("a")).await.unwrap();
    passed.unwrap();
    let pending = scene.gate.call(&scene.caller, 2, "look", named([])).await;
    assert!(matches!(pending, Err(CallError::ApprovalPending { .. })));
}
