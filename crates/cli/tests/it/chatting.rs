//! `chat`, line by line from a pipe.

use serde_json::json;

use crate::scene::Scene;

#[test]
fn each_line_is_answered_and_code_is_folded() {
    let scene = Scene::new();
    let code = "remember('tea', 'green')\nsend_message('Noted.')";
    let model = scene.script(&[
        json!({ "content": "Hello!" }),
        json!({ "content": format!("One moment.\n```python\n{code}\n```") }),
    ]);
    let lines = "hi\nremember: \\\ngreen tea\n\n/model\n";
    let said = scene.given(lines, &["chat", "--model", &model]).succeeded();
    let shown = said.stdout.replace(&model, "MODEL");
    insta::assert_snapshot!(shown, @r#"
    Hello!
    One moment.
    [python, 2 lines]
    [remember(name="tea", text="green"): "Remembered 'tea': green"]
    [send_message(text="Noted."): null]
    Noted.
    The model is MODEL. There are: demo, MODEL
    "#);
    assert_eq!(scene.said()[2].1, "remember: \ngreen tea");
    assert_eq!(said.stderr, "");
}

#[test]
fn verbose_shows_the_code_and_what_it_prints() {
    let scene = Scene::new();
    let model = scene.script(&[json!({ "content": "```python\nprint(6 * 7)\n```" })]);
    let said = scene
        .given("go\n", &["chat", "--model", &model, "--verbose"])
        .succeeded();
    for shown in ["print(6 * 7)\n", "[python, 1 line]\n", "42\n"] {
        assert!(said.stdout.contains(shown), "{}", said.stdout);
    }
}

#[test]
fn json_lines_are_those_of_send() {
    let scene = Scene::new();
    let model = scene.script(&[json!({ "content": "one" })]);
    let said = scene.given("a\nb\n", &["chat", "--model", &model, "--json"]);
    assert_eq!(said.code, Some(1), "the second was not answered");
    let stops: Vec<_> = said
        .lines()
        .iter()
        .map(|line| line["stop"].clone())
        .collect();
    assert_eq!(said.messages()[0], "one");
    assert_eq!(
        (&stops[1], stops.last().unwrap()),
        (&json!("answered"), &json!("error"))
    );
}
