//! `callgate call` and `key`: one method, one answer.

use serde_json::json;

use crate::scene::Scene;

#[test]
fn a_call_gives_value_and_kind() {
    let scene = Scene::new();
    let call = |arguments: &[&str]| scene.callgate(&[&["call"], arguments].concat());
    let named = call(&[
        "remember",
        "--args",
        r#"{"name": "a", "text": "b"}"#,
        "--json",
    ]);
    let expect = json!({"value": "Remembered 'a': b", "kind": "behavior"});
    assert_eq!(named.succeeded().json(), expect);
    let by_position = call(&["builtin/save_json", "--args", r#"["s.json", {"n": 1}]"#]);
    assert_eq!(by_position.succeeded().stdout, "{\n  \"n\": 1\n}\n");
}

#[test]
fn a_refused_call_says_why() {
    let scene = Scene::new();
    let said = scene.callgate(&["call", "send_message", "--args", "{}", "--json"]);
    assert_eq!(said.code, Some(1));
    insta::assert_snapshot!(said.stdout, @r#"{"error":"send_message(text: str): missing argument 'text'","hint":"give --args as a JSON object by name, or an array by position"}"#);
    let said = scene.callgate(&["call", "send_mesage"]);
    assert_eq!((said.code, said.stdout.as_str()), (Some(1), ""));
    insta::assert_snapshot!(said.stderr, @r"
    error: no method 'send_mesage'; did you mean send_message?
    hint: see them all with `callgate methods`
    ");
    assert_eq!(scene.outbox(), [""; 0]);
}

#[test]
fn keys_are_made_listed_and_revoked() {
    let scene = Scene::new();
    let made = scene.callgate(&["key", "new", "--json"]).succeeded().json();
    let (id, key) = (made["id"].as_str().unwrap(), made["key"].as_str().unwrap());
    assert!(key.starts_with("callgate_"));
    let list = scene.callgate(&["key", "list", "--json"]).succeeded();
    assert_eq!(list.json()[0]["id"], id);
    assert!(!list.stdout.contains(key));
    scene.callgate(&["key", "revoke", id]).succeeded();
    let again = scene.callgate(&["key", "revoke", id]);
    assert_eq!(again.code, Some(1));
    assert!(
        again
            .stderr
            .contains("hint: see the keys with `callgate key list`")
    );
}
