//! Which data directory a command means that names none.

use std::process::Command;

use crate::{
    scene::{Said, Scene, finish},
    server::Server,
};

/// A command in a folder of its own, beside the server's.
fn elsewhere(scene: &Scene, arguments: &[&str]) -> Said {
    let folder = scene.home().join("elsewhere");
    std::fs::create_dir_all(&folder).unwrap();
    let mut command: Command = scene.bare(arguments);
    finish(command.current_dir(folder).spawn().unwrap())
}

#[test]
fn a_command_in_another_folder_finds_the_server() {
    let scene = Scene::new();
    scene
        .callgate(&["persona", "set", "pirate", "--prompt", "Arr."])
        .succeeded();
    let server = Server::start(&scene);
    let listed = elsewhere(&scene, &["persona", "list"]).succeeded();
    assert!(listed.stdout.contains("pirate"), "{}", listed.stdout);
    let data = scene.data();
    assert!(
        listed.stderr.contains(data.to_str().unwrap()),
        "it says which: {}",
        listed.stderr
    );
    assert!(!scene.home().join("elsewhere/callgate-data").exists());
    // Scripts read nothing but the answer.
    let listed = elsewhere(&scene, &["persona", "list", "--json"]).succeeded();
    assert_eq!(listed.stderr, "");

    // One that was killed is not found.
    server.kill();
    let listed = elsewhere(&scene, &["persona", "list"]).succeeded();
    assert!(!listed.stdout.contains("pirate"), "{}", listed.stdout);
    let made = scene.home().join("elsewhere/callgate-data");
    assert!(
        listed.stderr.contains("new data directory")
            && listed.stderr.contains(made.to_str().unwrap()),
        "{}",
        listed.stderr
    );

    // What is here comes first, and the other is named.
    let _server = Server::start(&scene);
    let listed = elsewhere(&scene, &["persona", "list"]).succeeded();
    assert!(!listed.stdout.contains("pirate"), "{}", listed.stdout);
    assert!(
        listed
            .stderr
            .contains(&format!("--data {}", data.display())),
        "{}",
        listed.stderr
    );
}

#[test]
fn of_several_servers_one_is_to_be_chosen() {
    let scene = Scene::new();
    let other = scene.home().join("other");
    let _one = Server::start(&scene);
    let _other = Server::start_with(&scene, &["--data", other.to_str().unwrap()]);
    let asked = elsewhere(&scene, &["persona", "list", "--json"]);
    assert_eq!(asked.code, Some(1));
    let told = asked.json();
    let (error, hint) = (
        told["error"].as_str().unwrap(),
        told["hint"].as_str().unwrap(),
    );
    assert!(
        error.contains(scene.data().to_str().unwrap()) && error.contains(other.to_str().unwrap()),
        "{error}"
    );
    assert!(hint.contains("--data"), "{hint}");
}

/// Whose folder others can write to is not believed: it could lead to a directory of theirs.
#[test]
fn a_folder_that_is_open_to_others_is_not_believed() {
    use std::os::unix::fs::PermissionsExt;
    let scene = Scene::new();
    let registry = scene.home().join("callgate");
    std::fs::create_dir(&registry).unwrap();
    std::fs::set_permissions(&registry, std::fs::Permissions::from_mode(0o777)).unwrap();
    let _server = Server::start(&scene);
    let entry = format!("http://127.0.0.1:1\n{}", scene.data().display());
    std::fs::write(registry.join("1"), entry).unwrap();
    let listed = elsewhere(&scene, &["persona", "list"]).succeeded();
    assert!(
        listed.stderr.contains("new data directory"),
        "{}",
        listed.stderr
    );
}

#[test]
fn the_page_is_opened_logged_in() {
    let scene = Scene::new();
    let none = scene.callgate(&["open"]);
    assert_eq!(none.code, Some(1));
    assert!(none.stderr.contains("`callgate serve`"), "{}", none.stderr);
    let server = Server::start(&scene);
    for said in [
        elsewhere(&scene, &["open", "--print"]),
        scene.callgate(&["open", "--print"]),
    ] {
        let link = said.succeeded().stdout;
        let (page, key) = link.trim().split_once("/login#").unwrap();
        assert_eq!(page, format!("http://{}", server.address));
        assert_eq!(server.api("GET", "/api/keys", key, None).0, 200);
    }
    let keys = scene
        .callgate(&["key", "list", "--json"])
        .succeeded()
        .json();
    let named = keys.as_array().unwrap().iter();
    let named = named.filter(|key| key["name"] == "callgate open" && !key["expires_at"].is_null());
    assert_eq!(named.count(), 2);
}
