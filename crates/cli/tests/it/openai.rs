//! OpenAI's API: its own clients, the programs of `e2e/openai`, against the real binary over a fake
//! server of models made by others; and plugins that ask models by an address and a key. Needs Node
//! and pip; without them these tests fail.

use std::path::Path;

use serde_json::json;

use crate::{
    environments::equipped,
    remote::{install, program},
    scene::Scene,
};

#[test]
fn the_client_for_javascript_works() {
    install("node");
    program("openai/sdk");
}

#[test]
fn options_reach_the_model_on_the_wire() {
    install("node");
    program("openai/options");
}

#[test]
fn the_client_for_python_works() {
    install("node");
    install("python");
    program("openai/python");
}

fn plugin(name: &str) -> String {
    let plugins = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../e2e/plugins");
    plugins.join(name).to_str().unwrap().to_owned()
}

/// With a plugin's packages at hand, and a model that answers once.
fn scene_of(plugin: &str) -> Scene {
    let scene = equipped(plugin);
    let model = scene.script(&[json!({ "content": "By way of you." })]);
    let toml = format!("[models]\ndefault = \"{model}\"\n");
    std::fs::write(scene.data().join("callgate.toml"), toml).unwrap();
    scene
}

#[test]
fn a_nekro_plugin_asks_its_model_group_by_a_key_of_ours_while_no_server_runs() {
    let plugin = plugin("nekro_gateway");
    let scene = scene_of(&plugin);
    let code = "print(ask_group('hi'))";
    let report = scene.run(code, &["--json", "--plugin", &plugin]).json();
    let answer = &report["calls"][0]["value"];
    assert_eq!(answer["text"], "By way of you.", "{report}");
    assert!(answer["key"].as_str().unwrap().starts_with("callgate_"));
    assert!(
        answer["url"]
            .as_str()
            .unwrap()
            .starts_with("http://127.0.0.1:")
    );
    assert_eq!(payer(&scene), "plugin:callgate.nekro_gateway");
}

/// On whose account the one request to a model is.
fn payer(scene: &Scene) -> String {
    let spent = scene
        .callgate(&["cost", "--by", "plugin", "--json"])
        .succeeded()
        .json();
    assert_eq!(spent["total"]["requests"], 1, "{spent}");
    spent["rows"][0]["key"].as_str().unwrap().to_owned()
}

#[test]
fn an_astrbot_plugin_asks_its_provider_by_a_key_of_ours() {
    let plugin = plugin("astrbot_gateway");
    let scene = scene_of(&plugin);
    let code = "print(ask_provider('hi'))";
    let report = scene.run(code, &["--json", "--plugin", &plugin]).json();
    assert_eq!(report["stdout"], "By way of you.\n", "{report}");
    assert_eq!(payer(&scene), "plugin:astrbot_gateway");
}
