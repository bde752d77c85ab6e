//! With the feature `otel`: a turn is one trace through rounds, model, run and call, told to a
//! collector before the process ends.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpListener,
    sync::{Arc, Mutex},
};

use serde_json::{Value as Json, json};

use crate::scene::{Scene, finish};

/// Keeps what it is sent.
fn collector() -> (String, Arc<Mutex<Vec<Json>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let spans = Arc::new(Mutex::new(Vec::new()));
    let kept = spans.clone();
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let mut reader = BufReader::new(stream);
            let (mut head, mut length) = (String::new(), 0);
            loop {
                let mut line = String::new();
                reader.read_line(&mut line).unwrap();
                if line.trim().is_empty() {
                    break;
                }
                if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
                    length = value.trim().parse().unwrap();
                }
                head.push_str(&line);
            }
            assert!(head.starts_with("POST /v1/traces "), "{head}");
            assert!(head.to_lowercase().contains("x-tenant: ours"), "{head}");
            let mut body = vec![0; length];
            reader.read_exact(&mut body).unwrap();
            let body: Json = serde_json::from_slice(&body).unwrap();
            let sent = &body["resourceSpans"][0]["scopeSpans"][0]["spans"];
            kept.lock()
                .unwrap()
                .extend(sent.as_array().unwrap().clone());
            let answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}";
            reader.into_inner().write_all(answer.as_bytes()).unwrap();
        }
    });
    (url, spans)
}

#[test]
fn a_turn_is_one_trace() {
    let (url, spans) = collector();
    let scene = Scene::new();
    let model = scene.script(&[json!({ "content": "```python\nsend_message('hi')\n```" })]);
    let mut command = scene.command(&["send", "say hi", "--model", &model]);
    command
        .env("OTEL_EXPORTER_OTLP_ENDPOINT", &url)
        .env("OTEL_EXPORTER_OTLP_HEADERS", "x-tenant=ours");
    finish(command.spawn().unwrap()).succeeded();
    let shown = scene.callgate(&["session", "show", "cli:FriendMessage:operator", "--json"]);
    let turn = shown.succeeded().json()["turns"][0]["turn"]
        .as_str()
        .unwrap()
        .replace('-', "");

    let spans = spans.lock().unwrap().clone();
    let of_turn: Vec<&Json> = spans
        .iter()
        .filter(|span| span["traceId"] == *turn)
        .collect();
    let named = |name: &str| {
        let mut found = of_turn.iter().filter(|span| span["name"] == name);
        *found
            .next()
            .unwrap_or_else(|| panic!("no {name} in {spans:?}"))
    };
    let (root, round, asked) = (named("turn"), named("round"), named("model"));
    let (run, call) = (named("run"), named("call"));
    assert_eq!(root.get("parentSpanId"), None);
    for (inner, outer) in [(round, root), (asked, round), (run, round), (call, run)] {
        assert_eq!(inner["parentSpanId"], outer["spanId"], "{inner} in {outer}");
    }
    let says = |span: &Json, key: &str, value: &str| {
        let wanted = json!({ "key": key, "value": { "stringValue": value } });
        let attributes = span["attributes"].as_array().unwrap();
        assert!(attributes.contains(&wanted), "{wanted} in {span}");
    };
    says(call, "method", "builtin/send_message");
    says(run, "stop", "finished");
    let time = |span: &Json, field: &str| span[field].as_str().unwrap().parse::<u128>().unwrap();
    assert!(time(run, "startTimeUnixNano") <= time(call, "startTimeUnixNano"));
    assert!(time(call, "endTimeUnixNano") <= time(root, "endTimeUnixNano"));
}
