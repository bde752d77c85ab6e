//! `read_json` and `save_json`.

use callgate_contract::Value;

use crate::scene::{Scene, caller, dict};

#[tokio::test]
async fn keys_are_merged_shallowly() {
    let scene = Scene::new().await;
    let name = || Value::from("games/scores.json");
    assert_eq!(scene.value("read_json", [name()]).await, dict([]));
    let first = dict([("a", 1.into()), ("b", dict([("x", 1.into())]))]);
    assert_eq!(
        scene.value("save_json", [name(), first.clone()]).await,
        first
    );
    let second = dict([("b", dict([("y", 2.into())])), ("名", "值".into())]);
    let merged = dict([
        ("a", 1.into()),
        ("b", dict([("y", 2.into())])),
        ("名", "值".into()),
    ]);
    assert_eq!(scene.value("save_json", [name(), second]).await, merged);
    assert_eq!(scene.value("read_json", [name()]).await, merged);
}

#[tokio::test]
async fn values_that_json_lacks_come_back_as_they_were() {
    let scene = Scene::new().await;
    let big = Value::int("123456789012345678901234567890".parse().unwrap());
    let data = dict([
        ("big", big),
        ("large", i64::MAX.into()),
        ("inf", f64::INFINITY.into()),
        ("bytes", Value::Bytes(vec![0, 255])),
        ("by_number", Value::Dict(vec![(1.into(), "one".into())])),
    ]);
    assert_eq!(
        scene
            .value("save_json", ["x.json".into(), data.clone()])
            .await,
        data
    );
    assert_eq!(scene.value("read_json", ["x.json".into()]).await, data);
}

#[tokio::test]
async fn merges_at_once_lose_nothing() {
    let scene = std::sync::Arc::new(Scene::new().await);
    let saving: Vec<_> = (0..20)
        .map(|number: i64| {
            let scene = scene.clone();
            tokio::spawn(async move {
                let data = dict([(&format!("key{number}"), number.into())]);
                scene
                    .call("save_json", ["x.json".into(), data])
                    .await
                    .map(drop)
            })
        })
        .collect();
    for saved in saving {
        saved.await.unwrap().unwrap();
    }
    let Value::Dict(entries) = scene.value("read_json", ["x.json".into()]).await else {
        panic!("not a dict")
    };
    assert_eq!(entries.len(), 20);
}

#[tokio::test]
async fn documents_stay_in_their_session_and_folder() {
    let scene = Scene::new().await;
    scene
        .value("save_json", ["x.json".into(), dict([("a", 1.into())])])
        .await;
    let bob = caller("cli:FriendMessage:bob");
    let found = scene
        .call_as(&bob, "read_json", ["x.json".into()])
        .await
        .unwrap();
    assert_eq!(found.value, dict([]));
    for name in ["../x.json", "/etc/x.json", "", "a/../../x.json"] {
        let data = dict([("a", 1.into())]);
        assert!(
            scene.call("save_json", [name.into(), data]).await.is_err(),
            "{name}"
        );
        assert!(
            scene.call("read_json", [name.into()]).await.is_err(),
            "{name}"
        );
    }
}

#[tokio::test]
async fn only_a_dict_is_saved_and_only_over_a_dict() {
    let scene = Scene::new().await;
    let refusal = scene
        .refusal("save_json", ["x.json".into(), Value::List(vec![])])
        .await;
    assert_eq!(
        refusal,
        "save_json(name: str, data: dict): argument 'data' must be dict, not list"
    );
    scene
        .folders()
        .await
        .data
        .write_atomic("notes.md", b"# kept")
        .unwrap();
    let data = dict([("a", 1.into())]);
    let refusal = scene.refusal("save_json", ["notes.md".into(), data]).await;
    assert!(refusal.contains("is not a JSON object"), "{refusal}");
    assert_eq!(
        scene.folders().await.data.read("notes.md", 100).unwrap(),
        b"# kept"
    );
}
