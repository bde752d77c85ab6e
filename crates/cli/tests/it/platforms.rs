//! Chat platforms at the command line, where no server runs. What passes over the connection is shown in
//! `python/tests/test_onebot_platform.py`, against what others wrote.

use crate::scene::Scene;

#[test]
fn a_platform_is_written_down_looked_at_and_left() {
    let scene = Scene::configured("# mine\n[sandbox]\npool = 2 # warm\n");
    let add = |more: &[&str]| {
        let add = [
            "platform", "add", "qq", "--kind", "onebot", "--token", "shh", "--json",
        ];
        scene.callgate(&[&add, more].concat())
    };
    let wrong = add(&["--listen", "6199"]);
    assert_eq!(wrong.code, Some(1));
    assert!(wrong.stdout.contains("127.0.0.1:6199"), "{}", wrong.stdout);
    let added = add(&["--listen", "127.0.0.1:0", "--offer", "set_group_ban"]).succeeded();
    assert!(!added.stdout.contains("shh"), "{}", added.stdout);
    assert_eq!(added.json()["has_token"], true);
    assert_eq!(add(&["--url", "ws://127.0.0.1:9"]).code, Some(1), "twice");

    let listed = scene.callgate(&["platform", "list"]).succeeded().stdout;
    assert!(
        listed.contains("no server runs") && !listed.contains("shh"),
        "{listed}"
    );
    let doctor = scene.callgate(&["doctor", "--json"]).json();
    let checks = doctor["checks"].as_array().unwrap();
    let check = checks.iter().find(|check| check["name"] == "platform qq");
    assert_eq!(check.unwrap()["status"], "ok", "{doctor}");

    let file = std::fs::read_to_string(scene.data().join("callgate.toml")).unwrap();
    assert!(
        file.starts_with("# mine\n[sandbox]\npool = 2 # warm\n"),
        "{file}"
    );
    scene.callgate(&["platform", "remove", "qq"]).succeeded();
    let file = std::fs::read_to_string(scene.data().join("callgate.toml")).unwrap();
    assert!(
        !file.contains("platform") && file.contains("# warm"),
        "{file}"
    );
    assert_eq!(scene.callgate(&["platform", "remove", "qq"]).code, Some(1));
}

#[test]
fn a_homeserver_is_written_down_as_it_was_named() {
    let scene = Scene::configured("");
    let add = |more: &[&str]| {
        let add = [
            "platform", "add", "home", "--kind", "matrix", "--token", "shh", "--json",
        ];
        scene.callgate(&[&add, more].concat())
    };
    let wrong = add(&["--url", "http://example.org"]);
    assert!(wrong.stdout.contains("https://"), "{}", wrong.stdout);
    let wrong = add(&["--url", "https://127.0.0.1:9", "--offer", "set_group_ban"]);
    assert!(wrong.stdout.contains("joined_members"), "{}", wrong.stdout);
    let right = ["--url", "https://127.0.0.1:9", "--invites", "everybody"];
    let added = add(&right).succeeded();
    assert!(!added.stdout.contains("shh"), "{}", added.stdout);
    let file = std::fs::read_to_string(scene.data().join("callgate.toml")).unwrap();
    assert!(file.contains("invites = \"everybody\""), "{file}");
    let doctor = scene.callgate(&["doctor", "--json"]).json();
    let checks = doctor["checks"].as_array().unwrap();
    let check = checks.iter().find(|it| it["name"] == "platform home");
    let check = &check.unwrap()["detail"];
    assert_eq!(check, "nobody answers at 127.0.0.1:9", "{doctor}");
}
