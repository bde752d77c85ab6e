//! How far a method is, told by a plugin, seen live in a turn of either mode before the call has its
//! answer.

use std::{
    io::{BufRead, BufReader, Write},
    net::TcpStream,
};

use serde_json::{Value as Json, json};

use crate::{
    scene::{Scene, wait_until},
    server::Server,
};

const PLUGIN: &str = "\
from callgate import Context, method


@method
async def bake(context: Context, loaves: int) -> int:
    \"\"\"Bake bread.\"\"\"
    for loaf in range(loaves):
        await context.progress(loaf + 1, loaves, 'in the oven')
    return loaves
";

/// The events of calls in a turn, until it has ended.
fn of_turn(events: &mut BufReader<TcpStream>) -> Vec<Json> {
    let mut heard = Vec::new();
    loop {
        let mut line = String::new();
        assert_ne!(
            events.read_line(&mut line).unwrap(),
            0,
            "it ended: {heard:?}"
        );
        let Some(text) = line.strip_prefix("data: ") else {
            continue;
        };
        let event: Json = serde_json::from_str(text).unwrap();
        let turn = &event["event"]["turn"];
        match turn["event"].as_str() {
            Some("progress") => heard.push(turn.clone()),
            Some("call") => heard.push(json!({ "event": "call", "value": turn["call"]["value"] })),
            Some("finished") => return heard,
            _ => {}
        }
    }
}

#[test]
fn a_turn_shows_how_far_its_calls_are() {
    let scene = Scene::new();
    let called = json!({ "tool_calls": [{
        "id": "1", "type": "function",
        "function": { "name": "bake", "arguments": "{\"loaves\": 2}" },
    }] });
    let code = json!({ "content": "```python\nbake(2)\n```" });
    let model = scene.script(&[called, json!({ "content": "done" }), code]);
    let toml = format!("[models]\ndefault = \"{model}\"\n");
    std::fs::write(scene.data().join("callgate.toml"), toml).unwrap();
    let plugin = scene.file("bakery.py", PLUGIN);
    let made = scene.callgate(&["key", "new", "--scope", "operator", "--json"]);
    let key = made.succeeded().json()["key"].as_str().unwrap().to_owned();
    let server = Server::start_with(&scene, &["--plugin", &plugin]);
    wait_until(|| server.api("GET", "/api/methods/bake", &key, None).0 == 200);
    let mut stream = TcpStream::connect(&server.address).unwrap();
    write!(
        stream,
        "GET /api/events?topics=turns HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {key}\r\n\r\n",
        server.address
    )
    .unwrap();
    let mut events = BufReader::new(stream);
    // The head of the answer: from now on it hears.
    let mut line = String::new();
    events.read_line(&mut line).unwrap();
    assert!(line.contains("200"), "{line}");
    let far = |done: f64| {
        json!({ "event": "progress", "sequence": 1, "method": "bake",
                "done": done, "total": 2.0, "text": "in the oven" })
    };
    let expected = [far(1.0), far(2.0), json!({ "event": "call", "value": 2 })];
    for mode in ["tools", "code"] {
        let body = json!({ "text": "bread", "wait": false });
        let path = format!("/api/sessions/web:FriendMessage:{mode}");
        let chosen = json!({ "mode": mode });
        assert_eq!(server.api("PATCH", &path, &key, Some(&chosen)).0, 200);
        let (status, answer) = server.api("POST", &format!("{path}/messages"), &key, Some(&body));
        assert_eq!(status, 200, "{answer}");
        assert_eq!(of_turn(&mut events), expected, "{mode}");
    }
}
