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

/// The spans of the one turn of what `options` sends.
fn traced(scene: &Scene, options: &[&str]) -> Vec<Json> {
    let (url, spans) = collector();
    let mut command = scene.command(&[&["send", "say hi"], options].concat());
    command
        .env("OTEL_EXPORTER_OTLP_ENDPOINT", &url)
        .env("OTEL_EXPORTER_OTLP_HEADERS", "x-tenant=ours");
    finish(command.spawn().unwrap()).succeeded();
    let shown = scene.callgate(&["session", "show", "cli:FriendMessage:operator", "--json"]);
    let turn = shown.succeeded().json()["turns"][0]["turn"]
        .as_str()
        .unwrap()
        .replace('-', "");
    let mut spans = spans.lock().unwrap().clone();
    spans.retain(|span| span["traceId"] == *turn);
    spans
}

fn says(span: &Json, key: &str, value: &str) -> bool {
    let wanted = json!({ "key": key, "value": { "stringValue": value } });
    span["attributes"].as_array().unwrap().contains(&wanted)
}

/// The one of that name of which that is said.
fn found<'a>(spans: &'a [Json], name: &str, said: Option<(&str, &str)>) -> &'a Json {
    let mut found = spans
        .iter()
        .filter(|span| span["name"] == name)
        .filter(|span| said.is_none_or(|(key, value)| says(span, key, value)));
    found
        .next()
        .unwrap_or_else(|| panic!("no {name} {said:?} in {spans:?}"))
}

#[test]
fn a_turn_is_one_trace() {
    let scene = Scene::new();
    let model = scene.script(&[json!({ "content": "```python\nsend_message('hi')\n```" })]);
    let spans = traced(&scene, &["--model", &model]);
    let named = |name: &str| found(&spans, name, None);
    let (root, round, asked) = (named("turn"), named("round"), named("model"));
    let (run, call) = (named("run"), named("call"));
    assert_eq!(root.get("parentSpanId"), None);
    for (inner, outer) in [(round, root), (asked, round), (run, round), (call, run)] {
        assert_eq!(inner["parentSpanId"], outer["spanId"], "{inner} in {outer}");
    }
    assert!(says(call, "method", "builtin/send_message"), "{call}");
    assert!(says(run, "stop", "finished"), "{run}");
    let time = |span: &Json, field: &str| span[field].as_str().unwrap().parse::<u128>().unwrap();
    assert!(time(run, "startTimeUnixNano") <= time(call, "startTimeUnixNano"));
    assert!(time(call, "endTimeUnixNano") <= time(root, "endTimeUnixNano"));
}

const PLUGIN: &str = "\
from callgate import Context, State, method

state = State()


@method
async def keep(context: Context) -> int:
    \"\"\"Keep something.\"\"\"
    await state.set('a', 1)
    return await context.call('twice', number=21)


@method
def twice(number: int) -> int:
    \"\"\"Double it.\"\"\"
    state['b'] = 2
    return 2 * number
";

#[test]
fn what_a_plugin_asks_of_the_host_is_within_its_call() {
    let scene = Scene::new();
    let plugin = scene.file("keeper.py", PLUGIN);
    let model = scene.script(&[json!({ "content": "```python\nsend_message(str(keep()))\n```" })]);
    let spans = traced(&scene, &["--model", &model, "--plugin", &plugin]);
    let call = |method: &str| found(&spans, "call", Some(("method", method)));
    let (keep, twice) = (call("plugin:keeper/keep"), call("plugin:keeper/twice"));
    let within = |outer: &Json| {
        let inner = |span: &&Json| span["parentSpanId"] == outer["spanId"];
        let names = spans.iter().filter(inner);
        let shown = |span: &Json| match span["name"].as_str() {
            Some("call") => ["data_set", "method_call", "keep", "twice"]
                .into_iter()
                .find(|name| {
                    span["attributes"]
                        .to_string()
                        .contains(&format!("/{name}\""))
                })
                .unwrap_or("another")
                .to_owned(),
            name => name.unwrap().to_owned(),
        };
        let mut names: Vec<String> = names.map(shown).collect();
        names.sort();
        names
    };
    assert_eq!(keep["parentSpanId"], found(&spans, "run", None)["spanId"]);
    assert_eq!(within(keep), ["worker"]);
    let worker = |outer: &Json| {
        let mut workers = spans.iter().filter(|span| span["name"] == "worker");
        let inner = workers.find(|span| span["parentSpanId"] == outer["spanId"]);
        inner.unwrap().clone()
    };
    assert_eq!(within(&worker(keep)), ["data_set", "method_call"]);
    assert_eq!(within(call("builtin/method_call")), ["twice"]);
    assert_eq!(
        within(&worker(twice)),
        ["data_set"],
        "also of plain functions"
    );
}
