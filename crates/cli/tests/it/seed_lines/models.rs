//! Models as plugins ask them.

use std::path::Path;

use serde_json::{Value as Json, json};

use super::{Guide, assistant, read, says, spoken, user};
use crate::scene::{Scene, finish};

fn check(scene: &Scene, plugin: &str) -> Json {
    let arguments = ["plugin", "check", plugin, "--json"];
    finish(scene.bare(&arguments).spawn().unwrap()).json()[0].clone()
}

/// the same call and the same fields of its answer, whatever the model's wire.
#[test]
fn models_of_two_wires_are_asked_and_answer_alike() {
    let guide = Guide::of("model_calls");
    let file = guide.scene.data().join("callgate.toml");
    let wire = guide.model.toml_as("claude") + "wire = \"anthropic\"\n";
    let toml = std::fs::read_to_string(&file).unwrap() + &wire;
    std::fs::write(file, toml).unwrap();
    guide.model.will_say(&[says("as ever"), says("as ever")]);
    let found = guide.found(&["/fields first", "/fields claude"], &[]);
    let fields = json!({
        "role": "assistant", "completion_text": "as ever", "chain": "as ever", "usage": [10, 5], "calls": [],
    });
    assert_eq!(found, [fields.clone(), fields]);
    let asked = guide.model.take_requests();
    let models: Vec<&Json> = asked.iter().map(|asked| &asked["model"]).collect();
    assert_eq!(models, ["first", "claude"]);
    assert_eq!(
        asked[0]["messages"][0]["role"], "system",
        "as OpenAI has it"
    );
    assert!(
        asked[1]["system"].to_string().contains("be brief"),
        "as Anthropic has it"
    );
    for asked in &asked {
        assert_eq!(spoken(asked), [user("Hello, world!")]);
    }
}

///
#[test]
fn a_plugin_says_which_version_it_needs_and_may_ask_in_the_old_way() {
    let guide = Guide::of("model_calls");
    let report = check(&guide.scene, &guide.plugin);
    assert_eq!(report["ok"], true, "{report}");
    let later = guide.scene.home().join("later");
    std::fs::create_dir(&later).unwrap();
    let written = Path::new(&guide.plugin);
    std::fs::copy(written.join("main.py"), later.join("main.py")).unwrap();
    let metadata = std::fs::read_to_string(written.join("metadata.yaml")).unwrap();
    let metadata = metadata.replace(">=4.5.7", ">=99.0");
    std::fs::write(later.join("metadata.yaml"), metadata).unwrap();
    let report = check(&guide.scene, later.to_str().unwrap());
    assert_eq!(report["ok"], false);
    let error = report["error"].as_str().unwrap();
    assert!(error.contains(">=99.0"), "{error}");

    guide.model.will_say(&[says("as ever")]);
    let found = guide.found(&["/old"], &[]);
    assert_eq!(found, [json!(["first", "assistant", "as ever"])]);
    let [asked] = &guide.model.take_requests()[..] else {
        panic!("asked once");
    };
    assert_eq!(asked["model"], "first");
    assert_eq!(asked["messages"], json!([user("in the old way")]));
}

///
#[test]
fn each_session_has_the_model_it_chose() {
    let guide = Guide::of("model_calls");
    let missing = "ProviderNotFoundError";
    let other = ["--session", "cli:FriendMessage:other"];
    let said = guide.chat(&["/model second", "/which"], &other);
    assert_eq!(read(&said[1]), json!(["second", "second", missing]));
    let found = guide.found(&["/which"], &[]);
    assert_eq!(found, [json!(["first", "first", missing])]);
    assert_eq!(guide.model.asked(), 0, "a model that nobody has");

    // The choice is the session's own, in the next process too, and the id is one that can be asked.
    let answers = [says("one"), says("two"), says("three")];
    guide.model.will_say(&answers);
    guide.chat(&["/generate"], &other);
    let asked = guide.model.take_requests();
    let models: Vec<&Json> = asked.iter().map(|asked| &asked["model"]).collect();
    assert_eq!(models, ["second"; 3]);
}

/// segments and dictionaries.
#[test]
fn contexts_are_asked_alone_and_a_prompt_comes_after_them() {
    let guide = Guide::of("model_calls");
    let answers = [says("one"), says("two"), says("three")];
    guide.model.will_say(&answers);
    let found = guide.found(&["/generate"], &[]);
    assert_eq!(found, [json!(["one", "two", "three"])]);
    let asked = guide.model.take_requests();
    let messages: Vec<&Json> = asked.iter().map(|asked| &asked["messages"]).collect();
    let last = json!([
        {"role": "system", "content": "be brief"},
        user("hi"),
        assistant("good day"),
        user("as a dictionary"),
        user("and last"),
    ]);
    let expected = [json!([user("Hello, world!")]), json!([user("hi")]), last];
    assert_eq!(messages, expected.iter().collect::<Vec<_>>());
    assert!(asked.iter().all(|asked| asked.get("tools").is_none()));
}

/// what the guide does with them, up to the next turn that sees it.
#[test]
fn a_question_and_its_answer_are_put_on_record() {
    let guide = Guide::of("model_calls");
    let answers = [says("good day"), says("nobody"), says("you asked for it")];
    guide.model.will_say(&answers);
    let messages = ["hello", "/pair", "what did I ask?"];
    let said = guide.chat(&messages, &["--mode", "tools"]);
    let history: Json = read(&said[1]);
    let roles: Vec<&Json> = history
        .as_array()
        .unwrap()
        .iter()
        .map(|it| &it["role"])
        .collect();
    assert_eq!(roles, ["user", "assistant", "user", "assistant"]);
    let asked = guide.model.take_requests();
    assert_eq!(asked[1]["messages"], json!([user("what is your name?")]));
    assert_eq!(
        spoken(&asked[2]),
        [
            user("hello"),
            assistant("good day"),
            user("what is your name?"),
            assistant("nobody"),
            user("what did I ask?"),
        ]
    );
}
