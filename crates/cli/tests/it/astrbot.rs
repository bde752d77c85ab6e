//! Plugins written for AstrBot, through the real binary: what they say, what the model is asked, what
//! they find of conversations and personas, and their tools in both modes.

use std::{
    os::unix::fs::symlink,
    path::{Path, PathBuf},
};

use serde_json::{Value as Json, json};

use crate::scene::{Scene, finish};

fn example(name: &str) -> String {
    let examples = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../python/tests/astrbot");
    examples.join(name).to_str().unwrap().to_owned()
}

fn played(plugin: &str) -> Json {
    let scene = Scene::new();
    let (folder, scenario) = (example(plugin), example(&format!("{plugin}/scenario.json")));
    let arguments = ["plugin", "test", &folder, &scenario, "--json"];
    finish(scene.bare(&arguments).spawn().unwrap()).json()
}

#[test]
fn tools_agents_and_loops_do_what_the_guide_says() {
    let report = played("weather_agents");
    assert_eq!(report["failed"], 0, "{report}");
    assert_eq!(report["passed"], 5);
}

#[test]
fn commands_waiting_conversations_and_personas_are_as_plugins_know_them() {
    let report = played("command_garden");
    assert_eq!(report["failed"], 0, "{report}");
    assert_eq!(report["passed"], 22);
}

#[test]
fn code_in_the_sandbox_calls_a_tool_of_an_astrbot_plugin() {
    let scene = Scene::new();
    let plugin = example("weather_agents");
    // Installs the flavour's packages where they are shared by all tests.
    finish(scene.bare(&["plugin", "check", &plugin]).spawn().unwrap());
    let cache = std::env::var("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = cache.unwrap_or_else(|_| Path::new(&std::env::var("HOME").unwrap()).join(".cache"));
    symlink(
        cache.join("callgate/environments"),
        scene.data().join("environments"),
    )
    .unwrap();
    let code = "print(city_weather('Oslo'))";
    let report = scene.run(code, &["--json", "--plugin", &plugin]).json();
    assert_eq!(report["stdout"], "Oslo: sunny, 25 degrees\n", "{report}");
    assert_eq!(
        report["calls"][0]["value"],
        json!("Oslo: sunny, 25 degrees")
    );
}
