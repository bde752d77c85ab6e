//! Plugins written for AstrBot, through the real binary: what they say, what the model is asked, what
//! they find of conversations and personas, and their tools in both modes.

use std::path::{Path, PathBuf};

use serde_json::{Value as Json, json};

use crate::{
    environments::{equipped, prepare},
    scene::{Scene, finish},
};

pub fn example(name: &str) -> String {
    let examples = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../python/tests/astrbot");
    examples.join(name).to_str().unwrap().to_owned()
}

/// Every step of the plugin's scenario comes out as it says.
fn played(plugin: &str) {
    let scene = Scene::new();
    let (folder, scenario) = (example(plugin), example(&format!("{plugin}/scenario.json")));
    let arguments = ["plugin", "test", &folder, &scenario, "--json"];
    let report = finish(scene.bare(&arguments).spawn().unwrap()).json();
    let written: Json = serde_json::from_str(&std::fs::read_to_string(&scenario).unwrap()).unwrap();
    assert_eq!(report["failed"], 0, "{report}");
    assert_eq!(report["passed"], written["steps"].as_array().unwrap().len());
}

#[test]
fn tools_agents_and_loops_do_what_the_guide_says() {
    played("weather_agents");
}

#[test]
fn commands_waiting_conversations_and_personas_are_as_plugins_know_them() {
    played("command_garden");
}

#[test]
fn code_in_the_sandbox_calls_a_tool_of_an_astrbot_plugin() {
    let plugin = example("weather_agents");
    let scene = equipped(&plugin);
    let code = "print(city_weather('Oslo'))";
    let report = scene.run(code, &["--json", "--plugin", &plugin]).json();
    assert_eq!(report["stdout"], "Oslo: sunny, 25 degrees\n", "{report}");
    assert_eq!(
        report["calls"][0]["value"],
        json!("Oslo: sunny, 25 degrees")
    );
}

fn said(scene: &Scene, plugin: &str, text: &str, answers: &[Json]) -> Vec<String> {
    let model = scene.script(answers);
    let arguments = [
        "send", text, "--plugin", plugin, "--model", &model, "--mode", "tools", "--json",
    ];
    let lines = scene.callgate(&arguments).succeeded().lines();
    let messages = lines.iter().filter(|line| line["type"] == "message");
    let text = |line: &Json| {
        let parts = line["parts"].as_array().unwrap().iter();
        parts.map(|part| part["text"].as_str().unwrap()).collect()
    };
    messages.map(text).collect()
}

#[test]
fn a_turn_outlives_the_worker_and_its_answer_is_still_decorated() {
    let plugin = example("fragile");
    let scene = equipped(&plugin);
    let call = json!({"tool_calls": [{"id": "1", "type": "function",
                      "function": {"name": "collapse", "arguments": "{}"}}]});
    let answers = [call, json!({"content": "It is gone."})];
    assert_eq!(
        said(&scene, &plugin, "try it", &answers),
        ["It is gone. [for operator]"]
    );
    let answers = [json!({"content": "I fall."})];
    assert_eq!(
        said(&scene, &plugin, "again", &answers),
        ["I fall. [for operator]"]
    );
}

#[test]
fn a_handler_that_takes_the_worker_along_is_told_and_not_repeated() {
    let plugin = example("fragile");
    let scene = equipped(&plugin);
    let heard = said(&scene, &plugin, "/collapse", &[]);
    assert_eq!(heard[0], "going");
    assert!(heard[1].contains("it exited with code 7"), "{heard:?}");
    assert_eq!(heard.len(), 2, "{heard:?}");
}

#[test]
fn what_a_handler_takes_the_worker_along_over_is_answered_without_it() {
    let plugin = example("fragile");
    let scene = equipped(&plugin);
    let heard = said(
        &scene,
        &plugin,
        "vanish",
        &[json!({"content": "I am still here."})],
    );
    assert_eq!(heard, ["I am still here."]);
}

#[test]
fn methods_of_both_ecosystems_are_tools_of_one_turn() {
    let weather = example("weather_agents");
    let scene = equipped(&weather);
    let nekro = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../e2e/plugins/nekro_examples");
    let nekro = nekro.to_str().unwrap();
    prepare(&scene, nekro);
    let call = |id: &str, name: &str, arguments: Json| {
        let function = json!({"name": name, "arguments": arguments.to_string()});
        json!({"id": id, "type": "function", "function": function})
    };
    let both = json!({"tool_calls": [
        call("1", "my_sum_function", json!({"num1": 2, "num2": 3})),
        call("2", "city_weather", json!({"city": "Oslo"})),
    ]});
    let model = scene.script(&[both, json!({"content": "Five, and sunny."})]);
    let arguments = [
        "send", "both", "--plugin", &weather, "--plugin", nekro, "--model", &model, "--mode",
        "tools", "--json",
    ];
    let lines = scene.callgate(&arguments).succeeded().lines();
    assert_eq!(lines[0]["parts"][0]["text"], "Five, and sunny.");
    let calls = lines[1]["calls"].as_array().unwrap();
    let named = |name: &str| calls.iter().find(|call| call["method"] == name).unwrap();
    assert_eq!(named("my_sum_function")["value"], 5, "{calls:?}");
    let told = named("city_weather")["value"].to_string();
    assert!(told.contains("Oslo: sunny, 25 degrees"), "{told}");
}
