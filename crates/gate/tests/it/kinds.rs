//! What each kind leaves behind, in the outcome and in the session's log.

use callgate_contract::{Change, Effect, Kind, Message, Part, Reply, Value};
use callgate_store::LogRole;

use crate::scene::{Scene, answering};

/// The outcome's text, parts and `ends_turn`, and the system rows that the call left.
async fn check(
    kind: Kind,
    value: impl Into<Value>,
    expect: (Option<&str>, &[Part], bool),
    rows: &[&str],
) {
    let scene = Scene::new().await;
    let value = value.into();
    scene.add(answering("f", value.clone()).kind(kind));
    let outcome = scene.call(1, "f").await.unwrap();
    assert_eq!(outcome.value, value);
    assert_eq!(outcome.kind, kind);
    let (text, parts, ends_turn) = expect;
    assert_eq!(
        (
            outcome.text.as_deref(),
            outcome.parts.as_slice(),
            outcome.ends_turn
        ),
        (text, parts, ends_turn)
    );

    let log = scene
        .store
        .log()
        .list(&scene.caller.session, 10)
        .await
        .unwrap();
    let texts: Vec<_> = log
        .iter()
        .map(|row| (row.role, row.parts.clone()))
        .collect();
    let rows: Vec<_> = rows
        .iter()
        .map(|&text| (LogRole::System, vec![Part::text(text)]))
        .collect();
    assert_eq!(texts, rows);
}

#[tokio::test]
async fn each_kind_has_its_effect() {
    check(Kind::Tool, "value", (None, &[], false), &[]).await;
    check(Kind::Tool, Value::Null, (None, &[], true), &[]).await;
    check(Kind::Agent, "text", (Some("text"), &[], false), &["text"]).await;
    check(Kind::Agent, true, (Some("True"), &[], false), &["True"]).await;
    check(
        Kind::Behavior,
        "done",
        (Some("done"), &[], false),
        &["done"],
    )
    .await;
    check(
        Kind::Behavior,
        Value::Null,
        (Some("None"), &[], false),
        &["None"],
    )
    .await;
    let hello = [Part::text("hello")];
    check(Kind::MultimodalAgent, "hello", (None, &hello, false), &[]).await;
}

#[tokio::test]
async fn a_multimodal_result_of_another_shape_is_an_error() {
    let scene = Scene::new().await;
    scene.add(answering("look", 7).kind(Kind::MultimodalAgent));
    let text = scene.refusal("look").await;
    assert_eq!(
        text,
        "method 'look': a multimodal result must be a list of parts, a str, or one message \
         (a dict with 'content'), not int"
    );
}

#[tokio::test]
async fn a_methods_own_rows_come_before_its_system_row() {
    let scene = Scene::new().await;
    let message = Message {
        session: scene.caller.session.clone(),
        parts: vec![Part::text("sent")],
    };
    let reply = Reply {
        value: "row".into(),
        changes: vec![Change::Send { message }],
    };
    scene.add(
        answering("f", reply)
            .kind(Kind::Behavior)
            .effect(Effect::Rows),
    );
    scene.call(1, "f").await.unwrap();
    let log = scene
        .store
        .log()
        .list(&scene.caller.session, 10)
        .await
        .unwrap();
    let roles: Vec<_> = log.iter().map(|row| row.role).collect();
    assert_eq!(roles, [LogRole::Assistant, LogRole::System]);
    assert_eq!(scene.store.outbox().pending(None).await.unwrap().len(), 1);
}
