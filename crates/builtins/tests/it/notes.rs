//! `remember`, `recall` and `forget`.

use callgate_contract::{Part, Value};
use callgate_store::LogRole;

use crate::scene::{Scene, caller};

/// Name and text of each note.
fn notes(value: Value) -> Vec<(String, String)> {
    let Value::List(notes) = value else {
        panic!("{value:?}")
    };
    let read = |note: &Value| {
        let Value::Dict(entries) = note else {
            panic!("{note:?}")
        };
        let [
            (_, Value::Str(name)),
            (_, Value::Str(text)),
            (key, Value::DateTime(_)),
        ] = entries.as_slice()
        else {
            panic!("{entries:?}")
        };
        assert_eq!(key.as_str(), Some("written_at"));
        (name.clone(), text.clone())
    };
    notes.iter().map(read).collect()
}

fn pairs(expect: &[(&str, &str)]) -> Vec<(String, String)> {
    expect
        .iter()
        .map(|&(name, text)| (name.to_owned(), text.to_owned()))
        .collect()
}

#[tokio::test]
async fn notes_are_kept_replaced_found_and_forgotten() {
    let scene = Scene::new().await;
    assert_eq!(notes(scene.value("recall", []).await), []);
    for (name, text) in [
        ("tea", "Ada drinks tea."),
        ("城市", "住在上海"),
        ("tea", "Ada drinks Green tea."),
    ] {
        scene.value("remember", [name.into(), text.into()]).await;
    }
    let both = pairs(&[("tea", "Ada drinks Green tea."), ("城市", "住在上海")]);
    assert_eq!(notes(scene.value("recall", []).await), both);
    assert_eq!(
        notes(scene.value("recall", ["GREEN".into()]).await),
        both[..1]
    );
    assert_eq!(
        notes(scene.value("recall", ["上海".into()]).await),
        both[1..]
    );
    assert_eq!(notes(scene.value("recall", ["coffee".into()]).await), []);

    let outcome = scene.call("forget", ["tea".into()]).await.unwrap();
    assert_eq!(outcome.text.as_deref(), Some("Forgot 'tea'."));
    assert_eq!(notes(scene.value("recall", []).await), both[1..]);
    assert_eq!(
        scene.refusal("forget", ["tea".into()]).await,
        "no note 'tea'; there are: 城市"
    );
}

#[tokio::test]
async fn notes_outlive_the_process_and_stay_in_their_session() {
    let scene = Scene::new().await;
    scene.value("remember", ["a".into(), "text".into()]).await;
    let reopened = scene.home.open().await;
    let kept = reopened.notes().list(&scene.caller.session).await.unwrap();
    assert_eq!(kept.len(), 1);

    let bob = caller("cli:FriendMessage:bob");
    let found = scene.call_as(&bob, "recall", []).await.unwrap().value;
    assert_eq!(notes(found), []);
    let refused = scene
        .call_as(&bob, "forget", ["a".into()])
        .await
        .unwrap_err();
    assert_eq!(
        refused.to_string(),
        "no note 'a': nothing is remembered here"
    );
}

#[tokio::test]
async fn remembering_is_seen_by_the_user() {
    let scene = Scene::new().await;
    scene
        .value("remember", ["tea".into(), "Ada drinks tea.".into()])
        .await;
    let log = scene
        .store
        .log()
        .list(&scene.caller.session, 10)
        .await
        .unwrap();
    let rows: Vec<_> = log.into_iter().map(|row| (row.role, row.parts)).collect();
    assert_eq!(
        rows,
        [(
            LogRole::System,
            vec![Part::text("Remembered 'tea': Ada drinks tea.")]
        )]
    );
}

#[tokio::test]
async fn a_note_has_a_name_and_a_bounded_text() {
    let scene = Scene::new().await;
    for (name, text) in [
        ("", "x".to_owned()),
        ("x", String::new()),
        ("a\nb", "x".to_owned()),
        ("x", "y".repeat(1 << 20)),
    ] {
        let refusal = scene.refusal("remember", [name.into(), text.into()]).await;
        assert!(refusal.contains("note"), "{refusal}");
    }
    assert_eq!(notes(scene.value("recall", []).await), []);
}
