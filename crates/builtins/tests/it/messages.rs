//! `send_message`, `send_file` and `ask_user`.

use callgate_contract::{Part, Value};

use crate::scene::Scene;

async fn sent(scene: &Scene) -> Vec<Vec<Part>> {
    let pending = scene
        .store
        .outbox()
        .pending(Some(&scene.caller.session))
        .await
        .unwrap();
    pending
        .into_iter()
        .map(|pending| pending.message.parts)
        .collect()
}

#[tokio::test]
async fn messages_enter_the_outbox_in_order() {
    let scene = Scene::new().await;
    for text in ["first", "第二 🎉"] {
        let outcome = scene.call("send_message", [text.into()]).await.unwrap();
        assert_eq!(outcome.value, Value::Null);
        assert!(outcome.ends_turn);
    }
    assert_eq!(
        sent(&scene).await,
        [[Part::text("first")], [Part::text("第二 🎉")]]
    );
}

#[tokio::test]
async fn nothing_is_not_sent() {
    let scene = Scene::new().await;
    for text in ["", " \n"] {
        scene.call("send_message", [text.into()]).await.unwrap_err();
    }
    let missing = scene.refusal("send_message", []).await;
    assert_eq!(missing, "send_message(text: str): missing argument 'text'");
    assert!(sent(&scene).await.is_empty());
}

#[tokio::test]
async fn a_file_is_sent_by_path_under_its_own_name_or_another() {
    let scene = Scene::new().await;
    scene
        .folders()
        .await
        .shared
        .write_atomic("out/a b.txt", b"x")
        .unwrap_err();
    let folders = scene.folders().await;
    folders.shared.create_dirs("out").unwrap();
    folders.shared.write_atomic("out/a b.txt", b"x").unwrap();
    scene
        .value("send_file", ["/app/shared/out/a b.txt".into()])
        .await;
    scene
        .value("send_file", ["shared/out/a b.txt".into(), "表.txt".into()])
        .await;
    let file = |name: &str| {
        let url = "/app/shared/out/a b.txt".to_owned();
        [Part::File {
            name: name.to_owned(),
            url,
        }]
    };
    assert_eq!(sent(&scene).await, [file("a b.txt"), file("表.txt")]);
}

#[tokio::test]
async fn what_is_no_file_of_the_session_is_not_sent() {
    let scene = Scene::new().await;
    let folders = scene.folders().await;
    folders.shared.create_dirs("folder").unwrap();
    folders.shared.write_atomic("a.txt", b"x").unwrap();
    for (path, expect) in [
        ("/app/shared/none.txt", "no file 'none.txt'"),
        ("/app/shared/folder", "is not a file"),
        ("/etc/passwd", "is outside"),
        ("/app/shared/../../../etc/passwd", "cannot be a file name"),
    ] {
        let refusal = scene.refusal("send_file", [path.into()]).await;
        assert!(refusal.contains(expect), "{refusal}");
    }
    for name in ["", "a/b", "a\nb"] {
        let refusal = scene
            .refusal("send_file", ["/app/shared/a.txt".into(), name.into()])
            .await;
        assert!(refusal.contains("cannot be a file's name"), "{refusal}");
    }
    assert!(sent(&scene).await.is_empty());
}

#[tokio::test]
async fn a_question_is_a_message_and_ends_the_turn() {
    let scene = Scene::new().await;
    let options = Value::List(vec!["May".into(), "六月".into()]);
    for arguments in [
        ["Which month?".into(), options],
        ["哪天？".into(), Value::Null],
        ["Why?".into(), Value::List(vec![])],
    ] {
        let outcome = scene.call("ask_user", arguments).await.unwrap();
        assert_eq!(outcome.value, Value::Null);
        assert!(outcome.ends_turn);
    }
    assert_eq!(
        sent(&scene).await,
        [
            [Part::text("Which month?\n1. May\n2. 六月")],
            [Part::text("哪天？")],
            [Part::text("Why?")],
        ]
    );
}

#[tokio::test]
async fn what_is_no_question_is_not_asked() {
    let scene = Scene::new().await;
    let many = Value::List((0..21).map(|n: i64| n.to_string().into()).collect());
    for (question, options, expect) in [
        ("", Value::Null, "question"),
        (" \n", Value::Null, "the question is blank"),
        (
            "x",
            Value::List(vec!["a".into(), " ".into()]),
            "options[1] is blank",
        ),
        ("x", many, "at most 20"),
        ("x", Value::List(vec![1.into()]), "options"),
    ] {
        let refusal = scene.refusal("ask_user", [question.into(), options]).await;
        assert!(refusal.contains(expect), "{refusal}");
    }
    assert!(sent(&scene).await.is_empty());
}
