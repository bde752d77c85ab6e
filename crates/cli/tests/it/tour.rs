//! The guided tour shows each kind and fits a terminal.

use crate::scene::Scene;

#[test]
fn the_tour_shows_every_kind_and_fits_the_terminal() {
    let scene = Scene::new();
    let said = scene.callgate(&["demo"]).succeeded();
    for shown in ["(tool, ", "(behavior, ", "(agent, ", "(multimodal_agent, "] {
        assert!(said.stdout.contains(shown), "{shown} in {}", said.stdout);
    }
    for shown in [
        "< refused: send_message(text: str): unexpected argument 'test'",
        "use network:   refused: no network here",
        "read a file:   refused: No such file or directory",
        "I know: Ada drinks green tea, no sugar.",
        "What to try next",
    ] {
        assert!(said.stdout.contains(shown), "{shown} in {}", said.stdout);
    }
    assert!(!said.stdout.contains("never reached\n  ") && !said.stdout.contains(" GOT the"));
    assert!(!said.stdout.contains('\u{1b}'), "no colours off a terminal");
    // The path of the binary is as long as it is.
    let lines = said.stdout.lines().filter(|line| !line.contains("alias"));
    let long: Vec<&str> = lines.filter(|line| line.chars().count() > 80).collect();
    assert!(long.is_empty(), "{long:#?}");
}

#[test]
fn the_tour_as_json_holds_the_reports() {
    let scene = Scene::new();
    let said = scene.callgate(&["demo", "--json"]).succeeded().json();
    let steps = said["steps"].as_array().unwrap();
    let stops: Vec<&str> = steps
        .iter()
        .map(|step| step["report"]["stop"].as_str().unwrap())
        .collect();
    insta::assert_snapshot!(stops.join(" "), @"finished finished agent multimodal error finished finished");
}

#[test]
fn the_doctor_finds_this_machine_well() {
    let scene = Scene::new();
    let said = scene.callgate(&["doctor", "--json"]).succeeded().json();
    assert_eq!(said["ok"], true);
    let checks = said["checks"].as_array().unwrap();
    let names: Vec<&str> = checks
        .iter()
        .map(|check| check["name"].as_str().unwrap())
        .collect();
    insta::assert_snapshot!(names.join(", "), @"user namespaces, seccomp, landlock, cgroups, python, self-test, plugin wall, packages, disk, fsync, database");
}

#[test]
fn the_doctor_says_what_is_missing() {
    let scene = Scene::configured("[sandbox]\npython = \"/no/python3\"\n");
    let said = scene.callgate(&["doctor"]);
    assert_eq!(said.code, Some(1));
    assert!(
        said.stdout
            .contains("fail  python           /no/python3 is not CPython 3.11 or newer")
    );
    assert!(
        said.stdout
            .contains("hint: install Python 3.11 or newer, or set sandbox.python")
    );
    assert!(said.stdout.contains("fail  self-test"), "{}", said.stdout);
}

/// The README's own steps, in its order: a plugin to begin with must not change what they show.
#[test]
fn the_readme_holds_with_a_plugin_to_begin_with() {
    let scene = Scene::new();
    let builtin = scene.callgate(&["methods", "--json"]).succeeded().json();
    let names = |listed: &serde_json::Value| -> Vec<String> {
        let listed = listed.as_array().unwrap().iter();
        listed
            .map(|it| it["name"].as_str().unwrap().to_owned())
            .collect()
    };
    let builtin = names(&builtin);
    assert!(builtin.contains(&"recall".to_owned()), "{builtin:?}");
    scene.callgate(&["plugin", "new", "word_count"]).succeeded();
    scene
        .callgate(&["plugin", "install", "word_count"])
        .succeeded();
    let with_plugin = names(&scene.callgate(&["methods", "--json"]).succeeded().json());
    let new: Vec<&String> = with_plugin
        .iter()
        .filter(|it| !builtin.contains(it))
        .collect();
    assert_eq!(new, ["count_words", "dot", "look_up_note", "write_note"]);
    assert_eq!(
        with_plugin.len(),
        builtin.len() + new.len(),
        "none shadows another"
    );

    let readme = include_str!("../../../../README.md");
    let (_, hello) = readme.split_once("cat > hello.py <<'PY'\n").unwrap();
    let (hello, _) = hello.split_once("PY\n").unwrap();
    let said = scene.run(hello, &[]).succeeded();
    assert!(said.stdout.contains("and I know: blue"), "{}", said.stdout);
    let demo = scene.callgate(&["demo"]).succeeded();
    assert!(
        demo.stdout
            .contains("I know: Ada drinks green tea, no sugar.")
    );
}
