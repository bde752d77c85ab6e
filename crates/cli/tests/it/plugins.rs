//! Plugins as people use them on the command line: made, checked, tested, installed, called from the
//! sandbox, configured, and the operator's functions.

use std::path::PathBuf;

use serde_json::{Value as Json, json};

use crate::scene::{Said, Scene, finish, interrupt, wait_until};

fn example(name: &str) -> String {
    let examples = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../e2e/plugins");
    examples.join(name).to_str().unwrap().to_owned()
}

/// Without `--data`: in a place of its own.
fn workshop(scene: &Scene, arguments: &[&str]) -> Said {
    finish(scene.bare(arguments).spawn().unwrap())
}

#[test]
fn a_new_plugin_runs_and_passes_its_own_test() {
    let scene = Scene::new();
    scene.callgate(&["plugin", "new", "word_count"]).succeeded();
    let folder = scene.home().join("word_count");
    let text = std::fs::read_to_string(folder.join("__init__.py")).unwrap();
    for kind in ["@tool", "@agent", "@behavior", "@multimodal_agent"] {
        assert!(text.contains(kind), "{kind}");
    }
    let checked = workshop(&scene, &["plugin", "check", "word_count", "--json"]).succeeded();
    let report = &checked.json()[0];
    assert_eq!(report["ok"], true);
    assert_eq!(report["warnings"], json!([]));
    let tested = [
        "plugin",
        "test",
        "word_count",
        "word_count/scenario.json",
        "--json",
    ];
    let report = workshop(&scene, &tested).succeeded().json();
    assert_eq!(
        (&report["passed"], &report["failed"]),
        (&json!(7), &json!(0))
    );
    let again = scene.callgate(&["plugin", "new", "word_count"]);
    assert_eq!(again.code, Some(1));
}

#[test]
fn the_native_examples_do_what_their_scenario_says() {
    let scene = Scene::new();
    let (plugin, scenario) = (
        example("native_examples"),
        example("native_examples/scenario.json"),
    );
    let report = workshop(&scene, &["plugin", "test", &plugin, &scenario, "--json"]).json();
    assert_eq!(report["failed"], 0, "{report}");
    assert_eq!(report["passed"], 18);
}

#[test]
fn what_differs_is_shown_and_what_comes_can_be_recorded() {
    let scene = Scene::new();
    let plugin = example("native_examples");
    let steps = json!({"steps": [
        {"call": "add", "args": [2, 3], "result": 6},
        {"call": "nothing_there", "result": 1},
    ]});
    let file = scene.file("wrong.json", &steps.to_string());
    let said = workshop(&scene, &["plugin", "test", &plugin, &file]);
    assert_eq!(said.code, Some(1));
    assert!(
        said.stdout.contains("result: expected 6, got 5"),
        "{}",
        said.stdout
    );
    assert!(
        said.stdout.contains("it failed: no method 'nothing_there'"),
        "{}",
        said.stdout
    );
    workshop(&scene, &["plugin", "test", &plugin, &file, "--record"]).succeeded();
    let recorded: Json = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    assert_eq!(recorded["steps"][0]["result"], 5);
    workshop(&scene, &["plugin", "test", &plugin, &file]).succeeded();
}

#[test]
fn a_plugin_that_does_not_load_is_told_of_with_what_to_do() {
    let scene = Scene::new();
    let folder = scene.home().join("broken");
    std::fs::create_dir(&folder).unwrap();
    let code = "from callgate import method\nimport nowhere_to_be_found\n";
    std::fs::write(folder.join("__init__.py"), code).unwrap();
    let said = workshop(
        &scene,
        &["plugin", "check", "broken", "broken/..", "--json"],
    );
    assert_eq!(said.code, Some(1));
    let report = &said.json()[0];
    assert_eq!(report["ok"], false);
    let error = report["error"].as_str().unwrap();
    assert_eq!(
        error,
        "ModuleNotFoundError: No module named 'nowhere_to_be_found'"
    );
    assert!(report["traceback"].as_str().unwrap().contains("line 2"));
    let hint = report["hint"].as_str().unwrap();
    assert!(
        hint.ends_with("broken --with nowhere_to_be_found"),
        "{hint}"
    );
}

#[test]
fn an_installed_plugin_is_called_configured_disabled_and_gone() {
    let scene = Scene::new();
    let source = example("native_examples");
    scene.callgate(&["plugin", "install", &source]).succeeded();
    let listed = scene
        .callgate(&["plugin", "list", "--json"])
        .succeeded()
        .json();
    assert_eq!(listed[0]["name"], "native_examples");
    let call = |method: &str, arguments: &str| {
        scene.callgate(&["call", method, "--args", arguments, "--json"])
    };
    assert_eq!(call("add", "[2, 3]").succeeded().json()["value"], 5);
    let run = scene
        .run("print(add(2, 3))\nhelp(add)", &["--json"])
        .succeeded()
        .json();
    let stdout = run["stdout"].as_str().unwrap();
    assert!(
        stdout.starts_with("5\n") && stdout.contains("One of them."),
        "{stdout}"
    );
    let settings = [
        "plugin",
        "config",
        "native_examples",
        "excerpt=2",
        "tone=warm",
        "--json",
    ];
    let values = scene.callgate(&settings).succeeded().json()["values"].clone();
    assert_eq!(values, json!({"excerpt": 2, "tone": "warm"}));
    let said = call("tell", "[\"hello\"]").succeeded().json();
    assert_eq!(said["value"], "Sent 'he'.");
    let wrong = scene.callgate(&["plugin", "config", "native_examples", "tone=odd"]);
    assert!(
        wrong.stderr.contains("error: tone: 'odd' is not one of"),
        "{}",
        wrong.stderr
    );
    scene
        .callgate(&["plugin", "disable", "native_examples"])
        .succeeded();
    assert_eq!(call("add", "[2, 3]").code, Some(1));
    scene
        .callgate(&["plugin", "enable", "native_examples"])
        .succeeded();
    assert_eq!(call("add", "[2, 3]").succeeded().json()["value"], 5);
    scene
        .callgate(&["plugin", "remove", "native_examples"])
        .succeeded();
    assert_eq!(call("add", "[2, 3]").code, Some(1));
}

#[test]
fn a_plugin_can_be_had_for_one_command() {
    let scene = Scene::new();
    let plugin = example("native_examples");
    let call = [
        "call",
        "search_shelves",
        "--args",
        "[\"tea\"]",
        "--plugin",
        &plugin,
        "--json",
    ];
    let answer = scene.callgate(&call).succeeded().json();
    assert_eq!(answer["kind"], "agent");
    let methods = scene
        .callgate(&["methods", "--plugin", &plugin, "--json"])
        .succeeded()
        .json();
    let names = methods
        .as_array()
        .unwrap()
        .iter()
        .map(|method| &method["name"]);
    assert!(names.clone().any(|name| name == "dot"), "{methods}");
    assert_eq!(
        scene.callgate(&["call", "add", "--args", "[1, 2]"]).code,
        Some(1)
    );
}

#[test]
fn three_lines_in_functions_are_a_method_and_follow_their_file() {
    let scene = Scene::new();
    let functions = scene.data().join("functions");
    std::fs::create_dir_all(&functions).unwrap();
    std::fs::write(
        functions.join("sums.py"),
        "def add(a, b):\n    return a + b\n",
    )
    .unwrap();
    let sum = |arguments: &str| scene.callgate(&["call", "add", "--args", arguments, "--json"]);
    assert_eq!(sum("[2, 3]").succeeded().json()["value"], 5);
    let mut server = scene.command(&["serve", "--listen", "127.0.0.1:0", "--json"]);
    let mut server = server.spawn().unwrap();
    wait_until(|| sum("[2, 3]").code == Some(0));
    std::fs::write(
        functions.join("more.py"),
        "def twice(a):\n    return 2 * a\n",
    )
    .unwrap();
    let twice = || scene.callgate(&["call", "twice", "--args", "[4]", "--json"]);
    wait_until(|| twice().code == Some(0));
    assert_eq!(twice().json()["value"], 8);
    interrupt(server.id());
    server.wait().unwrap();
}
