//! When the bot speaks, through the product: a session's own settings, and what is planned, over a kill.

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value as Json, json};

use crate::{
    model::FakeModel,
    scene::{Scene, wait_until},
    server::Server,
};

const GROUP: &str = "q:GroupMessage:1";

fn operator(scene: &Scene) -> String {
    let made = scene.callgate(&["key", "new", "--scope", "operator", "--json"]);
    made.succeeded().json()["key"].as_str().unwrap().to_owned()
}

/// What the bot has said in the group, oldest first.
fn said(server: &Server, key: &str) -> Vec<String> {
    let path = format!("/api/sessions/{GROUP}/log");
    let (_, log) = server.api("GET", &path, key, None);
    let rows = log["items"].as_array().cloned().unwrap_or_default();
    let ours = rows.iter().rev().filter(|row| row["role"] == "assistant");
    let text = |row: &Json| row["parts"][0]["text"].as_str().unwrap().to_owned();
    ours.map(text).collect()
}

#[test]
fn a_session_is_quiet_when_it_is_told_to_be() {
    let model = FakeModel::start(0, "Here.");
    let scene = Scene::configured(&model.toml());
    let key = operator(&scene);
    let server = Server::start(&scene);
    let says = |text: &str| {
        let body = json!({ "text": text, "user": "ann", "wait": true });
        let path = format!("/api/sessions/{GROUP}/messages");
        wait_until(|| server.api("POST", &path, &key, Some(&body)).0 == 200);
    };
    let set = |values: &[&str]| scene.callgate(&[&["session", "set", GROUP], values].concat());
    says("hello");
    assert_eq!(said(&server, &key), ["Here."]);
    let quiet = set(&["pace.quiet_hours=00:00-24:00", "pace.quiet=everything"]).succeeded();
    assert!(quiet.stdout.contains("pace.quiet = \"everything\""));
    says("anybody?");
    assert_eq!(said(&server, &key).len(), 1);
    // The same over the API, where null goes back.
    let path = format!("/api/sessions/{GROUP}");
    let body = json!({ "pace": { "quiet_hours": null } });
    let (status, session) = server.api("PATCH", &path, &key, Some(&body));
    assert_eq!(
        (status, &session["pace"]),
        (200, &json!({ "quiet": "everything" }))
    );
    says("now?");
    assert_eq!(said(&server, &key).len(), 2);
    for wrong in [
        "pace.per_hour=many",
        "answer.patterns=(",
        "pace.time_zone=Nowhere/Else",
        "serve.listen=127.0.0.1:1",
    ] {
        let refused = set(&[wrong]);
        assert_eq!(
            (refused.code, refused.stdout.as_str()),
            (Some(1), ""),
            "{wrong}"
        );
    }
    server.end();
}

#[test]
fn what_is_planned_is_said_once_though_the_server_is_killed_over_it() {
    for point in ["timer.before_fire_commit", "timer.after_fire"] {
        let scene = Scene::new();
        let key = operator(&scene);
        let mut server = Server::start_killed_at(point, &scene, &[]);
        let soon = Timestamp::now() + SignedDuration::from_secs(2);
        let add = ["timer", "add", GROUP, "Good morning!", "--at"];
        let planned = scene.callgate(&[&add[..], &[&soon.to_string(), "--json"]].concat());
        let planned = planned.succeeded().json();
        assert_eq!(
            (&planned["act"], &planned["repeat"]),
            (&json!("say"), &Json::Null)
        );
        server.child.take().unwrap().wait().unwrap();
        let server = Server::start(&scene);
        wait_until(|| !said(&server, &key).is_empty());
        let listed = scene.callgate(&["timer", "list", "--json"]).succeeded();
        assert_eq!(listed.json(), json!([]), "{point}");
        assert_eq!(said(&server, &key), ["Good morning!"], "{point}");
        server.end();
    }
}

#[test]
fn a_timer_is_planned_listed_and_cancelled() {
    let scene = Scene::new();
    let add = |options: &[&str]| {
        let add = ["timer", "add", GROUP, "Good morning!", "--json"];
        scene.callgate(&[&add[..], options].concat())
    };
    let daily = [
        "--repeat",
        "daily 08:00",
        "--zone",
        "Asia/Shanghai",
        "--ask",
    ];
    let planned = add(&daily).succeeded().json();
    let due = planned["due_at"].as_str().unwrap();
    assert!(due.ends_with("T00:00:00Z"), "{due}");
    let listed = scene.callgate(&["timer", "list"]).succeeded().stdout;
    assert!(
        listed.contains("daily 08:00") && listed.contains("asks: Good morning!"),
        "{listed}"
    );
    let id = planned["id"].as_str().unwrap();
    scene.callgate(&["timer", "remove", GROUP, id]).succeeded();
    let listed = scene.callgate(&["timer", "list", "--json"]).succeeded();
    assert_eq!(listed.json(), json!([]));
    let once = ["--at", "2099-01-01T00:00", "--zone", "+08:00"];
    let planned = add(&once).succeeded().json();
    assert_eq!(planned["due_at"], "2098-12-31T16:00:00Z");
    for wrong in [
        ["--repeat", "hourly"],
        ["--at", "2020-01-01T00:00"],
        ["--at", "tomorrow"],
    ] {
        assert_eq!(add(&wrong).code, Some(1), "{wrong:?}");
    }
}
