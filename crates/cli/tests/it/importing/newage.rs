//! The folder of SillyTavern-NewAge's server.

use std::fs;

use serde_json::{Value as Json, json};

use super::Report;
use crate::scene::Scene;

fn read(scene: &Scene, name: &str) -> Json {
    let text = fs::read_to_string(scene.data().join("remote/settings").join(name)).unwrap();
    serde_json::from_str(&text).unwrap()
}

#[test]
fn settings_and_keys_come_and_go() {
    let scene = Scene::new();
    let server = scene.home().join("NewAge/server");
    for folder in ["settings", "keys"] {
        fs::create_dir_all(server.join(folder)).unwrap();
    }
    let write = |name: &str, json: Json| fs::write(server.join(name), json.to_string()).unwrap();
    let settings = json!({"serverPort": 4000, "networkSafe": true, "clientKeys": {"a": "$2a$10$x"},
                          "sillyTavernPassword": {"hash": "$2a$10$y"}, "Rooms": []});
    write("settings/server_settings.json", settings);
    let client = json!({"clientId": "SillyTavern-8000", "isTrust": true, "Remember_me": true});
    write("settings/SillyTavern-8000-settings.json", client.clone());
    fs::write(server.join("settings/odd.json"), "no JSON").unwrap();
    std::os::unix::fs::symlink("/etc/hostname", server.join("settings/link.json")).unwrap();
    write(
        "keys/clients.json",
        json!({"bot": {"key": "$2a$10$z", "rooms": []}}),
    );
    let folder = server.parent().unwrap().to_str().unwrap();

    let report = Report::of(&scene, &["newage", folder, "--dry-run"]);
    assert_eq!(
        report.fate("client_settings", "server_settings.json"),
        "new"
    );
    assert_eq!(report.fate("client_settings", "odd.json"), "left_out");
    assert_eq!(report.fate("key", "bot"), "left_out");
    assert!(!report.0.to_string().contains("link.json"));
    assert!(!scene.data().join("remote/settings").exists());

    let report = Report::of(&scene, &["newage", folder, "--with-secrets"]);
    assert_eq!(report.0["id"], 1, "{:#}", report.0);
    let detail = report.detail("client_settings", "SillyTavern-8000-settings.json");
    assert!(
        detail.contains("callgate client approve SillyTavern-8000"),
        "{detail}"
    );
    assert_eq!(read(&scene, "SillyTavern-8000-settings.json"), client);
    let server_settings = read(&scene, "server_settings.json");
    assert_eq!(server_settings["serverPort"], 4000);
    assert!(
        !server_settings.to_string().contains("$2a$"),
        "{server_settings}"
    );
    let detail = report.detail("key", "bot");
    assert!(detail.starts_with("its new key, shown once: "), "{detail}");
    let keys = || {
        scene
            .callgate(&["key", "list", "--json"])
            .succeeded()
            .json()
    };
    assert_eq!(keys()[0]["client"], "bot", "{}", keys());

    let again = Report::of(&scene, &["newage", folder, "--with-secrets"]);
    assert_eq!(again.0["id"], Json::Null, "{:#}", again.0);
    assert_eq!(again.fate("key", "bot"), "same");

    // Here one is changed, and there both.
    let mine = json!({"clientId": "SillyTavern-8000", "mine": true});
    let place = scene
        .data()
        .join("remote/settings/SillyTavern-8000-settings.json");
    fs::write(place, mine.to_string()).unwrap();
    write("settings/server_settings.json", json!({"serverPort": 5000}));
    let third = Report::of(&scene, &["newage", folder]);
    assert_eq!(
        third.fate("client_settings", "server_settings.json"),
        "changed"
    );
    assert_eq!(
        third.fate("client_settings", "SillyTavern-8000-settings.json"),
        "kept"
    );
    Report::of(&scene, &["undo", "2"]);
    assert_eq!(read(&scene, "server_settings.json")["serverPort"], 4000);

    let undone = Report::of(&scene, &["undo", "1"]);
    assert_eq!(undone.count("kept"), 1, "{:#}", undone.0);
    assert_eq!(read(&scene, "SillyTavern-8000-settings.json"), mine);
    assert!(
        !scene
            .data()
            .join("remote/settings/server_settings.json")
            .exists()
    );
    assert!(
        keys()[0]["revoked_at"].is_string() || keys()[0]["state"] == "revoked",
        "{}",
        keys()
    );
}
