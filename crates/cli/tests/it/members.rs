//! Scenarios under the rules that hold by default, for somebody who is no more than a member of a group
//! chat, with nobody there whom a call could ask: they pass, and nobody is asked.

use std::path::Path;

use serde_json::{Value as Json, json};

use crate::{environments::equipped, scene::Scene};

/// Says in a group what was said in private: with the prefix that wakes the bot there, by whoever said it.
/// Each has a group of their own, as they had a chat of their own.
fn in_a_group(scenario: &mut Json) {
    for step in scenario["steps"].as_array_mut().unwrap() {
        let Some(said) = step["msg"].as_str().map(str::to_owned) else {
            continue;
        };
        if step.get("group").is_none() {
            let user = step["user"].as_str().unwrap_or("u1");
            step["group"] = json!(format!("of-{user}"));
            step["msg"] = json!(format!("/{}", said.trim_start_matches('/')));
        }
    }
}

fn asked_by_members(scene: &Scene) -> usize {
    let all = scene.callgate(&["approval", "list", "--all", "--json"]);
    all.succeeded().json().as_array().unwrap().len()
}

fn report(scene: &Scene, plugin: &str, scenario: &Json) -> Json {
    let file = scene.file("scenario.json", &scenario.to_string());
    scene
        .callgate(&["plugin", "test", plugin, &file, "--json"])
        .json()
}

#[test]
fn scenarios_pass_for_a_member_of_a_group_and_ask_nobody() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for folder in [
        "e2e/plugins/native_examples",
        "e2e/plugins/nekro_examples",
        "python/tests/astrbot/weather_agents",
        "python/tests/astrbot/command_garden",
    ] {
        let plugin = root.join(folder).to_str().unwrap().to_owned();
        let text = std::fs::read_to_string(format!("{plugin}/scenario.json")).unwrap();
        let mut scenario: Json = serde_json::from_str(&text).unwrap();
        in_a_group(&mut scenario);
        let scene = equipped(&plugin);
        let report = report(&scene, &plugin, &scenario);
        assert_eq!(report["failed"], 0, "{folder}: {report}");
        assert_eq!(asked_by_members(&scene), 0, "{folder}");
    }
}

/// Had anybody been asked above, it would have been seen.
#[test]
fn a_scenario_whose_call_asks_somebody_does_not_pass() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let plugin = root.join("e2e/plugins/native_examples");
    let plugin = plugin.to_str().unwrap();
    let scene = equipped(plugin);
    let rules = "[approval]\nask = [\"add\"]\nwait_seconds = 0\n";
    std::fs::write(scene.data().join("callgate.toml"), rules).unwrap();
    let scenario = json!({"steps": [{"call": "add", "args": [2, 3], "result": 5}]});
    assert_eq!(report(&scene, plugin, &scenario)["failed"], 1);
    assert_eq!(asked_by_members(&scene), 1);
}
