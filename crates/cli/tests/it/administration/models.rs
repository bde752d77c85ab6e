//! Models and settings: what is written into the file, and what is used at once.

use serde_json::{Value as Json, json};

use super::Site;
use crate::{model::FakeModel, scene::Scene};

#[test]
fn models_are_tried_added_arranged_and_used_at_once() {
    let (one, other) = (
        FakeModel::start(0, "from one"),
        FakeModel::start(0, "from other"),
    );
    let scene = Scene::configured(&format!("# mine\n{}", one.toml()));
    let site = Site::start(scene, &[]);
    let listed = site.get("/api/models");
    let model = &listed["items"][0];
    assert_eq!(
        (&model["id"], &model["default"]),
        (&json!("fake"), &json!(true))
    );
    assert_eq!(model["source"], "configuration");
    let test = site.done("POST", "/api/models/fake/test", None);
    assert_eq!(
        (&test["ok"], &test["text"]),
        (&json!(true), &json!("from one"))
    );

    let new = json!({ "id": "two", "base_url": other.url(), "model": "m", "fallback": ["fake"],
                      "key": "sk-secret", "default": true });
    let tried = site.done("POST", "/api/models/test", Some(new.clone()));
    assert_eq!(tried["ok"], true, "{tried}");
    assert_eq!(
        site.get("/api/models")["items"].as_array().unwrap().len(),
        1
    );
    let made = site.done("POST", "/api/models", Some(new.clone()));
    assert_eq!(made["model"]["default"], true, "{made}");
    assert!(!made.to_string().contains("sk-secret"));
    let said = json!({ "text": "hi", "mode": "tools" });
    let path = "/api/sessions/web:FriendMessage:ann/messages";
    assert_eq!(
        site.done("POST", path, Some(said.clone()))["text"],
        "from other"
    );
    let (status, problem) = site.ask("POST", "/api/models", Some(new));
    assert_eq!(status, 409, "{problem}");

    let change = json!({ "fallback": [], "default": false });
    let two = site.done("PATCH", "/api/models/two", Some(change));
    assert_eq!(
        (&two["fallback"], &two["default"]),
        (&json!([]), &json!(false))
    );
    assert_eq!(site.done("POST", path, Some(said))["text"], "from one");
    let change = json!({ "fallback": ["two"] });
    let fake = site.done("PATCH", "/api/models/fake", Some(change));
    assert_eq!(fake["fallback"], json!(["two"]));
    site.done("DELETE", "/api/models/two", None);
    let listed = site.get("/api/models");
    assert_eq!(listed["items"].as_array().unwrap().len(), 1, "{listed}");
    assert_eq!(listed["items"][0]["fallback"], json!([]));
    let file = std::fs::read_to_string(site.scene.data().join("callgate.toml")).unwrap();
    assert!(
        file.starts_with("# mine\n") && !file.contains("sk-secret"),
        "{file}"
    );

    let dead = json!({ "id": "dead", "base_url": "http://127.0.0.1:9/v1" });
    let (status, problem) = site.ask("POST", "/api/models", Some(dead));
    assert_eq!(status, 422, "{problem}");
    assert!(problem["hint"].as_str().unwrap().contains("check"));
    let found = site.get("/api/models/found");
    let providers = found["providers"].as_array().unwrap();
    assert!(
        providers
            .iter()
            .any(|it| it["id"] == "openai" && it["key_found"].is_null())
    );
}

#[test]
fn settings_are_read_written_and_judged() {
    let scene = Scene::configured("[sandbox] # walls\npool = 3 # warm\n");
    let site = Site::start(scene, &[]);
    let setting = |view: &Json, name: &str| {
        let mut items = view["items"].as_array().unwrap().iter();
        items.find(|it| it["name"] == name).unwrap().clone()
    };
    let view = site.get("/api/settings");
    let pool = setting(&view, "sandbox.pool");
    assert_eq!(
        (&pool["value"], &pool["source"]),
        (&json!(3), &json!("file"))
    );
    assert_eq!(setting(&view, "sandbox.calls")["source"], "default");
    assert_eq!(
        setting(&view, "database.url")["value"],
        json!({ "$secret": false })
    );
    let change = json!({ "values": { "sandbox.pool": 4, "approval.ask": ["send_message"] } });
    let view = site.done("PUT", "/api/settings", Some(change));
    assert_eq!(view["restart"], json!(["sandbox.pool"]));
    assert_eq!(
        setting(&view, "approval.ask")["value"],
        json!(["send_message"])
    );
    let file = std::fs::read_to_string(site.scene.data().join("callgate.toml")).unwrap();
    assert!(
        file.contains("[sandbox] # walls\npool = 4 # warm\n"),
        "{file}"
    );
    let method = site.get("/api/methods/send_message");
    assert_eq!(method["callers"]["asks_approval"], true, "used at once");
    let wrong = json!({ "values": { "sandbox.pool": "x", "no.such": 1, "sandbox.calls": 5 } });
    let (status, problem) = site.ask("PUT", "/api/settings", Some(wrong));
    assert_eq!(status, 400, "{problem}");
    let names: Vec<&String> = problem["fields"].as_object().unwrap().keys().collect();
    assert_eq!(names, ["no.such", "sandbox.pool"]);
    let back = json!({ "values": { "sandbox.pool": null } });
    let view = site.done("PUT", "/api/settings", Some(back));
    assert_eq!(setting(&view, "sandbox.pool")["source"], "default");
}
