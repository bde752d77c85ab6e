//! `set_timer`, `list_timers` and `cancel_timer`.

use callgate_contract::{Arguments, Part, Value};
use callgate_store::{LogRole, MAX_TIMERS};
use jiff::{SignedDuration, Timestamp};

use crate::scene::{Scene, caller};

/// Id and text of each timer.
async fn waiting(scene: &Scene) -> Vec<(String, String)> {
    let Value::List(timers) = scene.value("list_timers", []).await else {
        panic!("not a list")
    };
    let read = |timer: &Value| {
        let Value::Dict(entries) = timer else {
            panic!("{timer:?}")
        };
        let [
            (_, Value::Str(id)),
            (_, Value::DateTime(due)),
            (_, Value::Str(text)),
        ] = entries.as_slice()
        else {
            panic!("{entries:?}")
        };
        assert!(due.ends_with("+00:00"), "{due}");
        (id.clone(), text.clone())
    };
    timers.iter().map(read).collect()
}

fn texts(timers: &[(String, String)]) -> Vec<&str> {
    timers.iter().map(|(_, text)| text.as_str()).collect()
}

fn later(minutes: i64) -> String {
    let moment = Timestamp::now() + SignedDuration::from_mins(minutes);
    moment.strftime("%Y-%m-%dT%H:%M:%S+00:00").to_string()
}

#[tokio::test]
async fn timers_are_set_listed_and_cancelled() {
    let scene = Scene::new().await;
    assert_eq!(waiting(&scene).await, []);
    scene
        .value("set_timer", ["in an hour".into(), 60.0.into()])
        .await;
    scene
        .value("set_timer", ["很快".into(), Value::Null, later(5).into()])
        .await;
    let datetime = Value::DateTime(later(120));
    scene
        .value("set_timer", ["last".into(), Value::Null, datetime])
        .await;
    let timers = waiting(&scene).await;
    assert_eq!(texts(&timers), ["很快", "in an hour", "last"]);

    let id = timers[1].0.as_str();
    let outcome = scene.call("cancel_timer", [id.into()]).await.unwrap();
    assert_eq!(
        outcome.text,
        Some(format!("Cancelled timer {id}: in an hour"))
    );
    assert_eq!(texts(&waiting(&scene).await), ["很快", "last"]);
    let again = scene.refusal("cancel_timer", [id.into()]).await;
    assert!(
        again.starts_with(&format!("no timer '{id}' is waiting")),
        "{again}"
    );
    scene.refusal("cancel_timer", ["no uuid".into()]).await;
}

#[tokio::test]
async fn a_timer_outlives_the_process_and_arrives_in_its_session() {
    let scene = Scene::new().await;
    scene.value("set_timer", ["wake up".into(), 1.into()]).await;
    let reopened = scene.home.open().await;
    let [timer] = reopened
        .timers()
        .list(&scene.caller.session)
        .await
        .unwrap()
        .try_into()
        .unwrap();
    assert_eq!(timer.user, scene.caller.principal.user());
    let row = reopened.timers().fire(timer.id).await.unwrap().unwrap();
    assert_eq!(
        (row.session, row.parts),
        (scene.caller.session.clone(), vec![Part::text("wake up")])
    );
    assert_eq!(waiting(&scene).await, []);
}

#[tokio::test]
async fn setting_and_cancelling_are_seen_by_the_user() {
    let scene = Scene::new().await;
    let outcome = scene
        .call("set_timer", ["tea".into(), 3.into()])
        .await
        .unwrap();
    let said = outcome.text.unwrap();
    assert!(
        said.starts_with("Timer ") && said.ends_with(": tea"),
        "{said}"
    );
    let log = scene
        .store
        .log()
        .list(&scene.caller.session, 10)
        .await
        .unwrap();
    let rows: Vec<_> = log.into_iter().map(|row| (row.role, row.parts)).collect();
    assert_eq!(rows, [(LogRole::System, vec![Part::text(said)])]);
}

#[tokio::test]
async fn timers_stay_in_their_session() {
    let scene = Scene::new().await;
    scene.value("set_timer", ["mine".into(), 3.into()]).await;
    let [(id, _)] = waiting(&scene).await.try_into().unwrap();
    let bob = caller("cli:FriendMessage:bob");
    let seen = scene.call_as(&bob, "list_timers", []).await.unwrap().value;
    assert_eq!(seen, Value::List(vec![]));
    scene
        .call_as(&bob, "cancel_timer", [id.into()])
        .await
        .unwrap_err();
    assert_eq!(texts(&waiting(&scene).await), ["mine"]);
}

#[tokio::test]
async fn what_cannot_be_a_timer_is_refused() {
    let scene = Scene::new().await;
    let at = |text: &str| [Value::from("x"), Value::Null, text.into()];
    for (arguments, expect) in [
        (at("2020-01-01T00:00:00Z"), "is past: it is"),
        (at("2999-01-01T00:00:00"), "does not say in which zone"),
        (at("soon"), "'soon' is no time"),
        (at("9000-01-01T00:00:00Z"), "at most 366 days"),
        (["x".into(), 0.into(), Value::Null], "more than 0"),
        (
            ["x".into(), Value::Null, Value::Null],
            "either minutes or at",
        ),
        (
            ["x".into(), 1.into(), later(1).into()],
            "either minutes or at",
        ),
        ([" ".into(), 1.into(), Value::Null], "blank"),
        (
            ["字".repeat(10_000).into(), 1.into(), Value::Null],
            "at most 16384 bytes",
        ),
    ] {
        let refusal = scene.refusal("set_timer", arguments).await;
        assert!(refusal.contains(expect), "{refusal}");
    }
    assert_eq!(waiting(&scene).await, []);
}

#[tokio::test]
async fn a_session_has_a_bounded_number() {
    let scene = Scene::new().await;
    for number in 0..MAX_TIMERS {
        let arguments = Arguments {
            positional: vec![format!("{number}").into()],
            named: vec![("minutes".to_owned(), 5.into())],
        };
        let sequence = 1000 + number as u64;
        scene
            .gate
            .call(&scene.caller, sequence, "set_timer", arguments)
            .await
            .unwrap();
    }
    let refusal = scene
        .refusal("set_timer", ["one more".into(), 5.into()])
        .await;
    assert!(refusal.contains("100 timers are waiting"), "{refusal}");
    let bob = caller("cli:FriendMessage:bob");
    scene
        .call_as(&bob, "set_timer", ["his first".into(), 5.into()])
        .await
        .unwrap();
}
