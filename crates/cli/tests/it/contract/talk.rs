//! Chats: messages and their turns, runs, calls, approvals, conversations, files, timers, capsules.

use serde_json::json;

use super::{
    events::Events,
    site::{Site, json_body, no_body},
};
use crate::{
    model::{FakeModel, calls},
    scene::wait_until,
};

const SESSION: &str = "web:FriendMessage:ann";

pub fn everything(site: &mut Site, model: &FakeModel, events: &Events) {
    messages(site, model, events);
    approvals(site, model);
    turns(site);
    conversations(site);
    methods(site);
    files_and_timers(site);
}

/// A turn with code, one with tools, and one whose code fails.
fn messages(site: &mut Site, model: &FakeModel, events: &Events) {
    let code = "print('hello')\nremember('colour', 'blue')\nrecall('colour')";
    model.will_say(&[
        json!({ "content": format!("```python\n{code}\n```") }),
        calls(&[
            ("recall", json!({ "query": "colour" })),
            ("now", json!({ "zone": 3 })),
        ]),
        json!({ "reasoning_content": "Let me see.", "content": "Blue." }),
        json!({ "content": "```python\nboom\n```" }),
        json!({ "content": "I give up." }),
    ]);
    let say = "/api/sessions/{session}/messages";
    site.post(
        say,
        &[SESSION],
        json!({ "text": "My colour is blue", "user": "ann", "mode": "code" }),
    );
    site.post(
        say,
        &[SESSION],
        json!({ "text": "Which colour?", "mode": "tools" }),
    );
    site.post(
        say,
        &[SESSION],
        json!({ "text": "Now fail.", "mode": "code" }),
    );
    site.post(say, &[SESSION], json!({ "text": "/help" }));
    site.fail("POST", say, &[SESSION], json_body(json!({})));
    site.fail(
        "POST",
        say,
        &["nowhere"],
        json_body(json!({ "text": "hi" })),
    );
    events.wait_for("message");
    site.get("/api/sessions", &[]);
    site.get("/api/sessions?limit=1", &[]);
    site.get("/api/sessions/{session}/log", &[SESSION]);
    site.get("/api/sessions/{session}/log?limit=2", &[SESSION]);
    site.get("/api/sessions/{session}/prompt", &[SESSION]);
    let choice = json!({ "mode": "tools", "muted": false });
    site.call(
        "PATCH",
        "/api/sessions/{session}",
        &[SESSION],
        json_body(choice),
    );
    site.fail(
        "PATCH",
        "/api/sessions/{session}",
        &[SESSION],
        json_body(json!({ "model": "none" })),
    );
}

/// Asked about, allowed for good, asked about again elsewhere and refused.
fn approvals(site: &mut Site, model: &FakeModel) {
    let code = json!({ "content": "```python\nsend_message('may I?')\n```" });
    model.will_say(&[code.clone(), code]);
    let (mode, other) = (json!("code"), "web:GroupMessage:team");
    for (place, session) in [SESSION, other].into_iter().enumerate() {
        let saying = json!({ "text": "Say it", "mode": mode, "wait": false });
        site.post("/api/sessions/{session}/messages", &[session], saying);
        let waiting = |site: &mut Site| {
            let list = site.get("/api/approvals", &[]);
            list["items"].as_array().unwrap().len()
        };
        wait_until(|| waiting(site) == place + 1);
    }
    site.get("/api/sessions/{session}", &[SESSION]);
    let waiting = site.get("/api/approvals?limit=2", &[]);
    let id = |place: usize| waiting["items"][place]["id"].to_string();
    site.post(
        "/api/approvals/{id}",
        &[&id(0)],
        json!({ "allow": true, "always": true }),
    );
    site.post("/api/approvals/{id}", &[&id(1)], json!({ "allow": false }));
    site.fail(
        "POST",
        "/api/approvals/{id}",
        &["9999"],
        json_body(json!({ "allow": true })),
    );
    site.get("/api/approvals?all=true", &[]);
    rules(site);
    limits(site);
    outbox(site);
    let rules = site.get("/api/approvals/rules", &[]);
    let rule = rules["items"][0]["id"].to_string();
    site.delete("/api/approvals/rules/{id}", &[&rule]);
    site.fail("DELETE", "/api/approvals/rules/{id}", &[&rule], no_body());
    let ended = |site: &mut Site| {
        let turns = site.get("/api/turns", &[]);
        turns["items"]
            .as_array()
            .unwrap()
            .iter()
            .all(|it| !it["stop"].is_null())
    };
    wait_until(|| ended(site));
}

fn rules(site: &mut Site) {
    let whole = json!({
        "platform": "web", "group": "web:GroupMessage:7", "role": "member", "person": "web:ann",
        "method": "now", "origin": "builtin", "kind": "tool", "effect": "pure", "then": "deny",
    });
    let made = site.post("/api/rules", &[], json!({ "rule": whole }));
    let odd = json!({ "rule": { "origin": "nowhere", "then": "deny" } });
    site.fail("POST", "/api/rules", &[], json_body(odd));
    site.get("/api/rules", &[]);
    let id = made["id"].to_string();
    site.delete("/api/rules/{id}", &[&id]);
    site.fail("DELETE", "/api/rules/{id}", &[&id], no_body());
}

fn limits(site: &mut Site) {
    let whole = json!({
        "platform": "web", "group": "web:GroupMessage:7", "person": "web:nobody", "together": true,
        "messages": 3, "tokens": 4, "money": 0.5, "per": "hour", "until": "2999-01-01T00:00:00Z",
    });
    let made = site.post("/api/limits", &[], json!({ "limit": whole }));
    let odd = json!({ "limit": { "role": "member" } });
    site.fail("POST", "/api/limits", &[], json_body(odd));
    site.get("/api/limits", &[]);
    let id = made["id"].to_string();
    site.delete("/api/limits/{id}", &[&id]);
    site.fail("DELETE", "/api/limits/{id}", &[&id], no_body());
}

fn outbox(site: &mut Site) {
    let listed = site.get("/api/outbox?state=unknown", &[]);
    let id = listed["items"][0]["id"].to_string();
    let drop = json!({ "action": "drop" });
    site.post("/api/outbox/{id}", &[&id], drop.clone());
    site.fail("POST", "/api/outbox/{id}", &[&id], json_body(drop));
}

fn turns(site: &mut Site) {
    let turns = site.get("/api/turns?with=said", &[]);
    for turn in turns["items"].as_array().unwrap() {
        site.get("/api/turns/{id}", &[turn["id"].as_str().unwrap()]);
    }
    site.fail("GET", "/api/turns/{id}", &["nothing"], no_body());
    let first = turns["items"].as_array().unwrap().last().unwrap();
    let id = first["id"].as_str().unwrap();
    site.get("/api/turns/{id}/capsule", &[id]);
    site.post("/api/turns/{id}/replay", &[id], json!({}));
    let capsule = site.get("/api/sessions/{session}/capsule", &[SESSION]);
    let capsule = capsule.as_str().unwrap().as_bytes().to_vec();
    let body = Some(("application/x-ndjson", capsule));
    site.call("POST", "/api/capsules/replay", &[], body);
    site.fail(
        "POST",
        "/api/capsules/replay",
        &[],
        Some(("application/x-ndjson", b"{}".to_vec())),
    );
    site.post("/api/sessions/{session}/stop", &[SESSION], json!({}));
}

fn conversations(site: &mut Site) {
    let new = json!({ "session": SESSION, "title": "Fresh" });
    let fresh = site.post("/api/conversations", &[], new)["id"].clone();
    let found = site.get("/api/conversations?query=WHICH", &[]);
    let old = found["items"][0]["id"].as_str().unwrap().to_owned();
    site.get(
        "/api/conversations?session=web:FriendMessage:ann&limit=1",
        &[],
    );
    site.get("/api/conversations/{id}", &[&old]);
    site.fail("GET", "/api/conversations/{id}", &["nothing"], no_body());
    site.call(
        "PATCH",
        "/api/conversations/{id}",
        &[&old],
        json_body(json!({ "title": "Colours" })),
    );
    site.post("/api/conversations/{id}/fork", &[&old], json!({}));
    site.post("/api/conversations/{id}/switch", &[&old], json!({}));
    site.delete("/api/conversations/{id}", &[fresh.as_str().unwrap()]);
}

fn methods(site: &mut Site) {
    site.get("/api/methods", &[]);
    site.get("/api/methods?query=remember&limit=1", &[]);
    site.get("/api/methods/{name}", &["remember"]);
    site.get("/api/methods/{name}", &["now"]);
    site.fail("GET", "/api/methods/{name}", &["nothing"], no_body());
    site.post(
        "/api/methods/{name}/call",
        &["now"],
        json!({ "arguments": ["UTC"] }),
    );
    site.fail(
        "POST",
        "/api/methods/{name}/call",
        &["now"],
        json_body(json!({ "arguments": [3] })),
    );
    site.fail(
        "POST",
        "/api/methods/{name}/call",
        &["nothing"],
        json_body(json!({})),
    );
    for code in ["print(now('UTC'))", "boom"] {
        site.post(
            "/api/runs",
            &[],
            json!({ "code": code, "session": SESSION }),
        );
    }
    site.post(
        "/api/runs/{run}/cancel",
        &["01a1e1ea-dec0-7712-9701-34549e186ecd"],
        json!({}),
    );
    site.get("/api/statistics", &[]);
}

fn files_and_timers(site: &mut Site) {
    let text = Some(("application/octet-stream", b"hello".to_vec()));
    let file = "/api/sessions/{session}/files/{path}";
    site.call("PUT", file, &[SESSION, "uploads/a.txt"], text);
    site.get("/api/sessions/{session}/files", &[SESSION]);
    assert_eq!(site.get(file, &[SESSION, "uploads/a.txt"]), json!("hello"));
    site.fail("GET", file, &[SESSION, "uploads/none.txt"], no_body());
    let timer = json!({ "arguments": { "minutes": 60, "text": "tea" }, "session": SESSION });
    site.post("/api/methods/{name}/call", &["set_timer"], timer);
    let plans = "/api/sessions/{session}/timers";
    let never = json!({ "text": "Good morning!", "act": "say" });
    let mut plan = never.clone();
    plan["repeat"] = json!("every 600 minutes");
    site.post(plans, &[SESSION], plan);
    site.fail("POST", plans, &[SESSION], json_body(never));
    site.get("/api/timers", &[]);
    let timers = site.get(plans, &[SESSION]);
    let timer = timers["items"][0]["id"].as_str().unwrap();
    let one = "/api/sessions/{session}/timers/{id}";
    site.delete(one, &[SESSION, timer]);
    site.fail("DELETE", one, &[SESSION, timer], no_body());
}
