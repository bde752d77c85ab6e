//! A run executed again: after an approval, after a crash, and when its record does not fit.

use std::time::Duration;

use callgate_agent::{Coder, RunError, Task};
use callgate_contract::{Caller, JournalId, Stop};
use callgate_gate::GatePolicy;
use callgate_store::{ApprovalState, Decision};
use callgate_testkit::{Home, on_each_engine};

use crate::scene::{Ran, caller, coder};

/// Runs until the code "crashes": the future is dropped, as the process would be.
async fn cut_off(coder: &Coder, code: &str) -> JournalId {
    let caller: Caller = caller();
    let id = caller.journal;
    let run = coder.run(caller, Task::new(code));
    let cut = tokio::time::timeout(Duration::from_secs(2), run).await;
    assert!(cut.is_err(), "{code} was meant to be cut off: {cut:?}");
    id
}

#[tokio::test]
async fn an_approved_run_is_executed_again_and_nothing_twice() {
    on_each_engine(async |home: Home| {
        let ran = Ran::default();
        let policy = GatePolicy {
            ask: vec!["act".into()],
            approval_wait: Duration::from_millis(1),
            ..GatePolicy::default()
        };
        let coder = coder(home.open().await, policy, &ran);
        let caller = caller();
        let id = caller.journal;
        let code = Task::new("look a\nnote b\nact c\nlook d");
        let report = coder.run(caller, code).await.unwrap();
        assert_eq!((report.stop, ran.counts()), (Stop::Approval, (1, 0)));

        let pending = Some(ApprovalState::Pending);
        let asked = coder.store.approvals().list(pending).await.unwrap();
        coder
            .gate
            .answer(asked[0].id, Decision::Allow, false)
            .await
            .unwrap();
        let report = coder.resume(id, None).await.unwrap();
        assert_eq!(report.stop, Stop::Finished);
        assert_eq!(report.stdout, "saw a;noted b;did c;saw d;");
        assert_eq!(ran.counts(), (2, 1));
        let rows = coder
            .store
            .log()
            .list(&"cli:FriendMessage:ann".parse().unwrap(), 9)
            .await;
        assert_eq!(
            rows.unwrap().len(),
            1,
            "the system row of 'note' is there once"
        );
        let again = coder.resume(id, None).await;
        assert!(
            matches!(
                again,
                Err(RunError::Ended {
                    stop: Stop::Finished,
                    ..
                })
            ),
            "{again:?}"
        );
    })
    .await;
}

#[tokio::test]
async fn a_denied_run_is_executed_again_and_told_so() {
    let home = Home::sqlite();
    let ran = Ran::default();
    let policy = GatePolicy {
        ask: vec!["act".into()],
        approval_wait: Duration::from_millis(1),
        ..GatePolicy::default()
    };
    let coder = coder(home.open().await, policy, &ran);
    let caller = caller();
    let id = caller.journal;
    coder.run(caller, Task::new("act c")).await.unwrap();
    coder.gate.answer(1, Decision::Deny, false).await.unwrap();
    let report = coder.resume(id, None).await.unwrap();
    assert_eq!((report.stop, ran.counts()), (Stop::Error, (0, 0)));
    assert!(report.error.unwrap().contains("denied"));
}

#[tokio::test]
async fn a_run_cut_off_goes_on_from_its_record() {
    on_each_engine(async |home: Home| {
        let ran = Ran::default();
        let store = home.open().await;
        let first = coder(store.clone(), Default::default(), &ran);
        cut_off(&first, "look a\nact b\n!crash").await;
        assert_eq!(ran.counts(), (1, 1));
        let second = coder(store, Default::default(), &ran);
        // The code cannot finish here either; its calls are what matters.
        let recovering = tokio::time::timeout(Duration::from_secs(2), second.recover()).await;
        assert!(recovering.is_err());
        assert_eq!(
            ran.counts().1,
            1,
            "an effect with an outcome is not repeated"
        );
    })
    .await;
}

#[tokio::test]
async fn recorded_clock_readings_are_given_back() {
    let home = Home::sqlite();
    let ran = Ran::default();
    let policy = GatePolicy {
        ask: vec!["act".into()],
        approval_wait: Duration::from_millis(1),
        ..GatePolicy::default()
    };
    let coder = coder(home.open().await, policy, &ran);
    let caller = caller();
    let id = caller.journal;
    coder
        .run(caller, Task::new("note a\n!clock\n!clock\nact b"))
        .await
        .unwrap();
    coder.gate.answer(1, Decision::Allow, false).await.unwrap();
    let report = coder.resume(id, None).await.unwrap();
    assert_eq!(report.stdout, "noted a;Some(100);None;did b;");
}

#[tokio::test]
async fn an_effect_with_unknown_outcome_is_reported_and_not_repeated() {
    on_each_engine(async |home: Home| {
        let ran = Ran::default();
        let store = home.open().await;
        let id = cut_off(&coder(store.clone(), Default::default(), &ran), "act hang").await;
        assert_eq!(ran.counts(), (0, 1));
        let report = coder(store, Default::default(), &ran)
            .resume(id, None)
            .await
            .unwrap();
        assert_eq!((report.stop, ran.counts()), (Stop::Error, (0, 1)));
        let error = report.error.unwrap();
        assert!(
            error.contains("unknown") && error.contains("not repeated"),
            "{error}"
        );
    })
    .await;
}

#[tokio::test]
async fn a_pure_call_cut_off_is_simply_made_again() {
    let home = Home::sqlite();
    let ran = Ran::default();
    let store = home.open().await;
    let id = cut_off(&coder(store.clone(), Default::default(), &ran), "look hang").await;
    let again = coder(store, Default::default(), &ran);
    let resumed = tokio::time::timeout(Duration::from_secs(2), again.resume(id, None)).await;
    assert!(
        resumed.is_err(),
        "it hangs again, because it was called again"
    );
    assert_eq!(ran.counts(), (2, 0));
}

#[tokio::test]
async fn a_run_that_used_threads_is_not_repeated() {
    let home = Home::sqlite();
    let ran = Ran::default();
    let store = home.open().await;
    let id = cut_off(
        &coder(store.clone(), Default::default(), &ran),
        "!threads\nact b\n!crash",
    )
    .await;
    let report = coder(store, Default::default(), &ran)
        .resume(id, None)
        .await
        .unwrap();
    assert_eq!((report.stop, ran.counts()), (Stop::Diverged, (0, 1)));
    assert!(report.error.unwrap().contains("threads"));
}
