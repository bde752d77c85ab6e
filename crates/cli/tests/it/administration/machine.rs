//! How methods fare, who let a call pass, the log, the overview, and the small things.

use serde_json::{Value as Json, json};

use super::{Site, heard};
use crate::scene::{Scene, wait_until};

#[test]
fn how_methods_fare_and_who_let_a_call_pass_is_told() {
    let scene = Scene::new();
    let code = "```python\nfor _ in range(3):\n    now('UTC')\nsend_message('x')\n```";
    let model = scene.script(&[json!({ "content": code })]);
    let toml = format!("[approval]\nask = [\"send_message\"]\n[models]\ndefault = \"{model}\"\n");
    std::fs::write(scene.data().join("callgate.toml"), toml).unwrap();
    let site = Site::start(scene, &[]);
    let mut events = site.listen("", "");
    let session = "web:FriendMessage:ann";
    let saying = json!({ "text": "go", "wait": false });
    site.done(
        "POST",
        &format!("/api/sessions/{session}/messages"),
        Some(saying),
    );
    let pending = |event: &Json| {
        let approval = &event["approval"];
        (approval["state"] == "pending").then(|| approval["id"].clone())
    };
    let (_, id) = heard(&mut events, pending);
    site.done(
        "POST",
        &format!("/api/approvals/{id}"),
        Some(json!({ "allow": true })),
    );
    let answered = |event: &Json| {
        let approval = &event["approval"];
        (approval["state"] == "allowed").then(|| approval["answered_by"].clone())
    };
    let (_, by) = heard(&mut events, answered);
    assert!(by.as_str().unwrap().starts_with("key "), "{by}");
    let turns = || site.get(&format!("/api/turns?session={session}"));
    wait_until(|| turns()["items"][0]["stop"] == "answered");
    let turn = turns()["items"][0]["id"].as_str().unwrap().to_owned();
    assert_eq!(turns()["items"][0]["said"], Json::Null);
    let told = site.get(&format!("/api/turns?session={session}&with=said&limit=5"));
    assert_eq!(told["items"][0]["said"], "go");
    let calls = site.get(&format!("/api/turns/{turn}"))["runs"][0]["calls"].clone();
    assert_eq!(calls[0]["decided_by"]["by"], "persona", "{calls}");
    let sent = &calls[3]["decided_by"];
    assert_eq!(
        (&sent["by"], &sent["state"]),
        (&json!("approval"), &json!("allowed")),
        "{calls}"
    );
    assert_eq!(sent["who"], by);

    let bad = json!({ "arguments": { "zone": 3 } });
    site.ask("POST", "/api/methods/now/call", Some(bad));
    let method = site.get("/api/methods/now");
    let told = &method["statistics"];
    assert_eq!(
        (&told["calls"], &told["errors"]),
        (&json!(4), &json!(1)),
        "{told}"
    );
    assert_eq!(told["error_rate"], 0.25);
    assert!(told["p99_micros"].as_u64() >= told["p50_micros"].as_u64());
    assert_eq!(told["last"].as_array().unwrap().len(), 4);
    assert_eq!(told["last"][1]["turn"], turn.as_str());
    let personas = |at: usize| told["last"][at]["persona"].clone();
    assert_eq!((personas(0), personas(1)), (Json::Null, json!("default")));
    assert_eq!(method["callers"]["personas"], json!(["default"]));
    let fared = site.get("/api/statistics");
    assert_eq!(fared["items"][0]["method"], "builtin/now");
    let made = site
        .scene
        .callgate(&["key", "new", "--json"])
        .succeeded()
        .json();
    let key = made["key"].as_str().unwrap();
    let (_, method) = site.server.api("GET", "/api/methods/now", key, None);
    assert_eq!(
        method["statistics"],
        Json::Null,
        "others' calls are the operator's business"
    );
}

#[test]
fn the_log_the_overview_and_the_doctor_can_be_asked() {
    let scene = Scene::new();
    let folder = scene.home().join("loud");
    std::fs::create_dir(&folder).unwrap();
    let code = "from callgate import tool\n\n\n@tool\ndef shout() -> None:\n    \
                \"\"\"Shout.\"\"\"\n    print('hear me')\n";
    std::fs::write(folder.join("__init__.py"), code).unwrap();
    let model = scene.script(&[json!({ "content": "hello" })]);
    let toml = format!("[models]\ndefault = \"{model}\"\n");
    std::fs::write(scene.data().join("callgate.toml"), toml).unwrap();
    let site = Site::start(scene, &["--plugin", folder.to_str().unwrap()]);
    wait_until(|| site.get("/api/plugins")["items"][0]["state"] == "running");
    let mut events = site.listen("?topics=logs", "");
    site.done("POST", "/api/methods/shout/call", Some(json!({})));
    let said = |event: &Json| (event["log"]["message"] == "hear me").then(|| event["log"].clone());
    let (_, line) = heard(&mut events, said);
    assert_eq!(
        (&line["plugin"], &line["level"]),
        (&json!("loud"), &json!("info"))
    );
    let lines = site.get("/api/logs?plugin=loud&query=HEAR");
    assert_eq!(lines["items"][0]["message"], "hear me", "{lines}");
    assert_eq!(
        site.get("/api/logs?plugin=loud&level=error")["items"],
        json!([])
    );
    assert_eq!(site.ask("GET", "/api/logs?level=loud", None).0, 400);

    let path = "/api/sessions/web:FriendMessage:ann/messages";
    site.done("POST", path, Some(json!({ "text": "hi" })));
    let view = site.get("/api/overview?hours=24&days=3");
    assert_eq!(view["today"]["turns"], 1, "{view}");
    assert_eq!(view["days"].as_array().unwrap().len(), 3);
    assert_eq!(view["days"][2]["turns"], 1);
    assert_eq!(view["days"][2]["runs"], json!([]));
    for code in ["now()", "boom", "now()"] {
        site.done("POST", "/api/runs", Some(json!({ "code": code })));
    }
    let view = site.get("/api/overview?hours=24&days=3");
    let ended = |stop: &str| -> u64 {
        let days = view["days"].as_array().unwrap().iter();
        let runs = days.flat_map(|day| day["runs"].as_array().unwrap());
        let ours = runs.filter(|it| it["stop"] == stop);
        ours.filter_map(|it| it["runs"].as_u64()).sum()
    };
    assert_eq!((ended("finished"), ended("error")), (2, 1), "{view}");
    assert_eq!(view["counts"]["plugins"], 1);
    let memory = view["memory"].as_array().unwrap();
    let of = |name: &str| {
        memory
            .iter()
            .any(|it| it["process"] == name && it["bytes"].as_u64() > Some(1 << 20))
    };
    assert!(of("callgate") && of("plugins: native"), "{memory:?}");
    let checks = site.get("/api/doctor")["checks"].clone();
    assert!(
        checks
            .as_array()
            .unwrap()
            .iter()
            .any(|it| it["name"] == "self-test")
    );
}

#[test]
fn a_draft_of_a_persona_a_new_conversation_and_timers() {
    let site = Site::start(Scene::new(), &[]);
    let draft = json!({ "system_prompt": "You are a pirate.", "mode": "tools" });
    let preview = site.done("POST", "/api/personas/preview", Some(draft));
    assert!(
        preview.to_string().contains("You are a pirate."),
        "{preview}"
    );
    assert_eq!(preview["mode"], "tools");
    assert_eq!(site.ask("GET", "/api/personas/pirate", None).0, 404);

    let session = "web:FriendMessage:ann";
    let new = json!({ "session": session, "title": "Fresh" });
    let made = site.done("POST", "/api/conversations", Some(new));
    assert_eq!(
        (&made["title"], &made["current"]),
        (&json!("Fresh"), &json!(true))
    );
    let nobody = json!({ "session": session, "persona": "nobody" });
    assert_eq!(site.ask("POST", "/api/conversations", Some(nobody)).0, 404);

    let set = json!({ "arguments": { "minutes": 60, "text": "tea" }, "session": session });
    let (status, answer) = site.ask("POST", "/api/methods/set_timer/call", Some(set));
    assert_eq!(status, 200, "{answer}");
    let timers = site.get("/api/timers");
    assert_eq!(timers["items"][0]["session"], session, "{timers}");
    let id = timers["items"][0]["id"].as_str().unwrap();
    site.done(
        "DELETE",
        &format!("/api/sessions/{session}/timers/{id}"),
        None,
    );
    assert_eq!(site.get("/api/timers")["items"], json!([]));
}
