//! What was said, and going on in a copy.

use serde_json::json;

use crate::scene::Scene;

#[test]
fn sessions_are_listed_shown_and_forked() {
    let scene = Scene::new();
    let empty = scene.callgate(&["session", "list"]).succeeded();
    assert_eq!(empty.stdout, "");
    let model = scene.script(&[json!({ "content": "Hello!" })]);
    scene
        .callgate(&["send", "hi", "--model", &model])
        .succeeded();
    let group = ["--session", "onebot-group_42", "--user", "ada"];
    scene
        .callgate(&[&["send", "good day", "--model", &model], &group[..]].concat())
        .succeeded();

    let list = scene
        .callgate(&["session", "list", "--json"])
        .succeeded()
        .json();
    let keys: Vec<_> = list
        .as_array()
        .unwrap()
        .iter()
        .map(|it| &it["session"])
        .collect();
    assert_eq!(
        keys,
        ["cli:FriendMessage:operator", "onebot:GroupMessage:42"]
    );
    assert_eq!(list[0]["last"]["parts"][0]["text"], "Hello!");

    let show = |key: &str| {
        let said = scene.callgate(&["session", "show", key, "--json"]);
        said.succeeded().json()
    };
    let shown = show("onebot-group_42");
    assert_eq!(shown["log"][0]["sender"]["id"], "ada");
    assert_eq!(shown["log"][1]["role"], "assistant");
    assert_eq!(shown["turns"][0]["stop"], "answered");
    let text = scene
        .callgate(&["session", "show", "cli-private_operator"])
        .succeeded();
    let lines = text.stdout.lines().filter_map(|line| line.split_once(' '));
    let lines: Vec<&str> = lines.map(|(_time, rest)| rest).collect();
    assert_eq!(lines, ["operator: hi", "assistant: Hello!"]);

    let key = "cli:FriendMessage:operator";
    let before = show(key)["current"].clone();
    let fork = scene
        .callgate(&["session", "fork", key, "--json"])
        .succeeded()
        .json();
    assert_eq!((&fork["from"], &fork["messages"]), (&before, &json!(2)));
    let after = show(key);
    assert_eq!(after["current"], fork["conversation"]);
    assert_eq!(after["conversations"].as_array().unwrap().len(), 2);
    let part = scene.callgate(&["session", "fork", key, "--upto", "1", "--json"]);
    assert_eq!(part.succeeded().json()["messages"], 1);
}
