//! Who answers, with which model, and what it is told.

use serde_json::json;

use crate::{model::FakeModel, scene::Scene};

#[test]
fn personas_are_made_changed_and_deleted() {
    let scene = Scene::new();
    let file = scene.file("poet.md", "Answer in verse.\n");
    let prompt = format!("@{file}");
    let set = |options: &[&str]| {
        let arguments = [&["persona", "set", "poet", "--json"], options].concat();
        scene.callgate(&arguments).succeeded().json()
    };
    let made = set(&[
        "--prompt",
        &prompt,
        "--methods",
        "none",
        "--dialog",
        "Hi",
        "Ahoy",
    ]);
    assert_eq!(made["system_prompt"], "Answer in verse.\n");
    assert_eq!(
        (&made["methods"], &made["mode"]),
        (&json!([]), &json!("code"))
    );
    assert_eq!(made["begin_dialogs"], json!(["Hi", "Ahoy"]));
    let changed = set(&[
        "--mode",
        "tools",
        "--methods",
        "now, recall",
        "--model",
        "demo",
    ]);
    assert_eq!(
        changed["system_prompt"], "Answer in verse.\n",
        "what is not given stays"
    );
    assert_eq!(changed["methods"], json!(["now", "recall"]));
    assert_eq!(
        (&changed["mode"], &changed["model"]),
        (&json!("tools"), &json!("demo"))
    );
    let changed = set(&["--methods", "all", "--model", ""]);
    assert_eq!(
        (&changed["methods"], &changed["model"]),
        (&json!(null), &json!(null))
    );

    let list = scene.callgate(&["persona", "list"]).succeeded();
    insta::assert_snapshot!(list.stdout, @r"
    default  code   all methods  You are a helpful assistant. Be friendly, be ac…
    poet     tools  all methods  Answer in verse.
    ");
    let one = scene.callgate(&["persona", "show", "poet"]).succeeded();
    insta::assert_snapshot!(one.stdout, @r"
    poet
    mode tools, the session's model, all methods

    Answer in verse.
    user: Hi
    assistant: Ahoy
    ");
    let methods = scene
        .callgate(&["methods", "ask_poet", "--json"])
        .succeeded();
    assert_eq!(methods.json()["origin"], "agent:poet");
    scene.callgate(&["persona", "delete", "poet"]).succeeded();
    assert_eq!(scene.callgate(&["persona", "show", "poet"]).code, Some(1));
    assert_eq!(scene.callgate(&["methods", "ask_poet"]).code, Some(1));
}

#[test]
fn the_prompt_is_what_the_model_gets() {
    let scene = Scene::new();
    let model = scene.script(&[json!({ "content": "Hello!" })]);
    scene
        .callgate(&["send", "hi", "--model", &model])
        .succeeded();
    scene
        .callgate(&["persona", "set", "poet", "--prompt", "Answer in verse."])
        .succeeded();
    scene.callgate(&["send", "/persona poet"]).succeeded();
    let code = scene.callgate(&["prompt", "--json"]).succeeded().json();
    assert_eq!(
        (&code["mode"], &code["model"]),
        (&json!("code"), &json!("demo"))
    );
    let messages = code["request"]["messages"].as_array().unwrap();
    let system = messages[0]["text"].as_str().unwrap();
    assert!(system.starts_with("Answer in verse."), "{system}");
    assert!(system.contains("def send_message(text: str)"), "{system}");
    assert!(messages.last().unwrap().to_string().contains("Hello!"));
    assert_eq!(code["request"]["tools"], json!([]));

    let tools = scene.callgate(&["prompt", "--mode", "tools", "--json"]);
    let tools = tools.succeeded().json();
    let names = tools["request"]["tools"].as_array().unwrap().iter();
    assert!(names.clone().any(|tool| tool["name"] == "send_message"));
    let shown = scene.callgate(&["prompt", "--mode", "tools"]).succeeded();
    assert!(
        shown
            .stdout
            .contains("--- user\nhi\n--- assistant\nHello!\n"),
        "{}",
        shown.stdout
    );
    let before = scene.said();
    scene.callgate(&["prompt"]).succeeded();
    assert_eq!(scene.said(), before, "looking changes nothing");
}

#[test]
fn models_are_listed_with_where_they_come_from() {
    let scene = Scene::new();
    let found = |variables: &[(&str, &str)]| {
        let mut command = scene.command(&["model", "list", "--json"]);
        let child = command.envs(variables.iter().copied()).spawn().unwrap();
        crate::scene::finish(child).succeeded().json()
    };
    let environment = found(&[("OPENAI_API_KEY", "k"), ("DEEPSEEK_API_KEY", "k")]);
    assert_eq!(environment[0]["id"], "openai");
    assert_eq!(environment[0]["source"], "environment");
    assert_eq!(
        environment[0]["accepts"],
        json!({"image": true, "audio": false})
    );
    assert_eq!(
        (&environment[0]["default"], &environment[1]["default"]),
        (&json!(true), &json!(false))
    );

    let script = scene.script(&[]);
    let toml = FakeModel::start(0, "").toml();
    let toml = format!("[models]\ndefault = \"{script}\"\n{toml}key_env = \"MY_KEY\"\n");
    std::fs::write(scene.data().join("callgate.toml"), toml).unwrap();
    let configured = found(&[("OPENAI_API_KEY", "k"), ("MY_KEY", "k")]);
    assert_eq!(configured[0]["source"], "configuration");
    assert_eq!(
        (&configured[1]["source"], &configured[1]["default"]),
        (&json!("file"), &json!(true))
    );
    let missing = scene.callgate(&["model", "list"]);
    insta::assert_snapshot!(missing.stderr, @r"
    error: models.list: fake: MY_KEY is not set
    hint: docs/configuration.md shows how a model is written down
    ");
}

#[test]
fn characters_of_others_are_taken_over() {
    let scene = Scene::new();
    let card = json!({
        "spec": "chara_card_v2", "spec_version": "2.0",
        "data": {
            "name": "Sera", "description": "{{char}} likes {{user}}.", "first_mes": "Hello!",
            "alternate_greetings": ["Ahoy!"], "creator": "Ann", "tags": ["kind"],
        },
    });
    let file = scene.file("sera.json", &card.to_string());
    let import = |options: &[&str]| {
        scene.callgate(&[&["persona", "import", file.as_str()], options].concat())
    };
    let taken = import(&[]).succeeded();
    insta::assert_snapshot!(taken.stdout, @r"
    Sera
    mode tools, the session's model, no methods

    You are Sera, in a chat with {{user}}. Stay in character and write only what Sera says and does.

    # Who you are
    Sera likes {{user}}.
    user: [A new chat begins.]
    assistant: Hello!
    ");
    insta::assert_snapshot!(taken.stderr, @r"
    made by: Ann
    tags: kind
    it has 1 more greetings: --greeting 1 and up
    ");
    let twice = import(&[]);
    assert_eq!(twice.code, Some(1));
    insta::assert_snapshot!(twice.stderr, @r"
    error: there is a persona 'Sera' already
    hint: choose another name with --name NAME, or overwrite it with --replace
    ");
    let other = import(&["--name", "sailor", "--greeting", "1", "--json"])
        .succeeded()
        .json();
    assert_eq!(
        (&other["name"], &other["source"]),
        (&json!("sailor"), &json!("sillytavern"))
    );
    assert_eq!(other["begin_dialogs"][1], "Ahoy!");
    import(&["--replace"]).succeeded();

    let several = json!([
        {"persona_id": "cat", "system_prompt": "Be a cat.", "tools": ["now"]},
        {"persona_id": "dog", "system_prompt": "Be a dog.", "tools": null},
    ]);
    let several = scene.file("several.json", &several.to_string());
    let refused = scene.callgate(&["persona", "import", &several, "--name", "one"]);
    assert!(
        refused.stderr.contains("the file holds 2 personas"),
        "{}",
        refused.stderr
    );
    let taken = scene
        .callgate(&["persona", "import", &several, "--json"])
        .succeeded()
        .json();
    assert_eq!(
        (&taken[0]["methods"], &taken[1]["methods"]),
        (&json!(["now"]), &json!(null))
    );
    let nothing = scene.file("nothing.json", "{}");
    let nothing = scene.callgate(&["persona", "import", &nothing]);
    insta::assert_snapshot!(nothing.stderr, @r"
    error: this JSON is neither a character card nor a persona: it has neither a prompt nor a first message
    hint: give a character card (PNG or JSON) or the JSON of an AstrBot persona
    ");
}
