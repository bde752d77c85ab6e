//! HTTP beside `/api`: OpenAI's API whole and streamed, the Model Context Protocol, and whether it lives.

use std::{
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    thread,
};

use serde_json::{Value as Json, json};

use super::{assert_frozen, redact::Redact};
use crate::{
    model::calls,
    scene::{Scene, wait_until},
    server::Server,
};

/// Requests one after the other, and what came.
struct Transcript {
    scene: Scene,
    server: Server,
    key: String,
    text: String,
}

/// What differs each time and is told by no pattern.
const IDS: [&str; 6] = ["chatcmpl-", "resp_", "msg_", "fc_", "rs_", "call_"];

impl Transcript {
    fn note(&mut self, verb: &str, path: &str, body: Option<&Json>) -> Json {
        self.note_with(verb, path, &[], body)
    }

    fn note_with(
        &mut self,
        verb: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: Option<&Json>,
    ) -> Json {
        let (status, answer) = exchange(&self.server.address, verb, path, &self.key, headers, body);
        let redact = Redact {
            home: self.scene.home(),
        };
        let mut last = Json::Null;
        let lines = answer.lines().filter(|line| !line.is_empty()).map(|line| {
            let (word, text) = line
                .split_once("data: ")
                .map_or(("", line), |(_, text)| ("data: ", text));
            match serde_json::from_str::<Json>(text) {
                Ok(value) => {
                    let told = redact.pretty(&without_ids(&value));
                    last = value;
                    format!("{word}{told}\n")
                }
                Err(_) => format!("{word}{text}\n"),
            }
        });
        let lines: String = lines.collect();
        let path = redact.text(path);
        let path = match IDS.iter().find_map(|id| path.find(id)) {
            Some(_) => "/v1/responses/<id>".to_owned(),
            None => path,
        };
        self.text += &format!("{verb} {path}\n{status}\n{lines}\n");
        last
    }

    fn freeze(&mut self, name: &str) {
        assert_frozen(name, &std::mem::take(&mut self.text));
    }
}

fn without_ids(value: &Json) -> Json {
    match value {
        Json::String(text) => match IDS.iter().find(|id| text.starts_with(**id)) {
            Some(id) => json!(format!("{id}<id>")),
            None => value.clone(),
        },
        Json::Array(items) => items.iter().map(without_ids).collect(),
        Json::Object(fields) => {
            let fields = fields
                .iter()
                .map(|(key, value)| (key.clone(), without_ids(value)));
            Json::Object(fields.collect())
        }
        other => other.clone(),
    }
}

fn exchange(
    address: &str,
    verb: &str,
    path: &str,
    key: &str,
    headers: &[(&str, &str)],
    body: Option<&Json>,
) -> (u16, String) {
    let body = body.map_or_else(String::new, Json::to_string);
    let headers = headers
        .iter()
        .map(|(name, value)| format!("{name}: {value}\r\n"));
    let headers: String = headers.collect();
    let mut stream = TcpStream::connect(address).unwrap();
    // The older version: its answers come in one piece.
    write!(
        stream,
        "{verb} {path} HTTP/1.0\r\nHost: {address}\r\nAuthorization: Bearer {key}\r\n{headers}\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    (
        head.split(' ').nth(1).unwrap().parse().unwrap(),
        body.to_owned(),
    )
}

/// A server that turns every text into the same vector.
fn vectors() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let mut request = [0; 16384];
            let _ = stream.read(&mut request).unwrap();
            let body = json!({ "object": "list", "model": "m", "usage": { "prompt_tokens": 1, "total_tokens": 1 },
                "data": [{ "object": "embedding", "index": 0, "embedding": [0.5, 0.25] }] });
            let body = body.to_string();
            let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close";
            let _ = write!(
                stream,
                "{head}\r\nContent-Length: {}\r\n\r\n{body}",
                body.len()
            );
        }
    });
    format!("http://{address}/v1")
}

fn open() -> Transcript {
    let scene = Scene::new();
    let words = json!({ "reasoning_content": "Hm.", "content": "Good day." });
    let called = calls(&[("look_up", json!({ "word": "tea" }))]);
    let script = [
        words.clone(),
        words.clone(),
        called.clone(),
        called,
        words.clone(),
        words,
    ];
    let model = scene.script(&script);
    let toml = format!(
        "[models]\ndefault = \"{model}\"\n[[models.list]]\nid = \"vectors\"\nbase_url = \"{}\"\n\
         [remote]\nmethods = [\"remember\"]\n",
        vectors()
    );
    std::fs::write(scene.data().join("callgate.toml"), toml).unwrap();
    let scopes = ["chat", "models", "method:remember"]
        .map(|scope| ["--scope", scope])
        .concat();
    let made = scene.callgate(&[&["key", "new", "--json"], &scopes[..]].concat());
    let key = made.succeeded().json()["key"].as_str().unwrap().to_owned();
    let server = Server::start(&scene);
    wait_until(|| exchange(&server.address, "GET", "/v1/models", &key, &[], None).0 == 200);
    Transcript {
        scene,
        server,
        key,
        text: String::new(),
    }
}

#[test]
fn bodies() {
    let mut transcript = open();
    openai(&mut transcript);
    context_protocol(&mut transcript);
    for path in ["/healthz", "/livez", "/nowhere"] {
        transcript.note("GET", path, None);
    }
    transcript.freeze("http_health");
}

fn openai(transcript: &mut Transcript) {
    let chat = |stream: bool, tools: bool| {
        let mut body = json!({ "model": "bare", "stream": stream, "messages": [{ "role": "user", "content": "hi" }] });
        if stream {
            body["stream_options"] = json!({ "include_usage": true });
        }
        if tools {
            body["tools"] = json!([{ "type": "function", "function": {
                "name": "look_up", "parameters": { "type": "object", "properties": {} } } }]);
        }
        body
    };
    for (stream, tools) in [(false, false), (true, false), (false, true), (true, true)] {
        transcript.note("POST", "/v1/chat/completions", Some(&chat(stream, tools)));
    }
    for wrong in [
        json!({}),
        json!({ "model": "nobody", "messages": [{ "role": "user", "content": "hi" }] }),
    ] {
        transcript.note("POST", "/v1/chat/completions", Some(&wrong));
    }
    transcript.freeze("http_chat_completions");

    let response = |stream: bool| json!({ "model": "bare", "stream": stream, "input": "hi" });
    let made = transcript.note("POST", "/v1/responses", Some(&response(false)));
    transcript.note("POST", "/v1/responses", Some(&response(true)));
    let id = made["id"].as_str().unwrap();
    transcript.note("GET", &format!("/v1/responses/{id}"), None);
    transcript.note("GET", &format!("/v1/responses/{id}/input_items"), None);
    transcript.note("DELETE", &format!("/v1/responses/{id}"), None);
    transcript.note("GET", "/v1/responses/resp_none", None);
    transcript.note(
        "POST",
        "/v1/responses",
        Some(&json!({ "model": "bare", "input": "hi", "background": true })),
    );
    transcript.freeze("http_responses");

    transcript.note("GET", "/v1/models", None);
    transcript.note("GET", "/v1/models/bare", None);
    transcript.note("GET", "/v1/models/nobody", None);
    let texts = json!({ "model": "model/vectors", "input": "tea" });
    transcript.note("POST", "/v1/embeddings", Some(&texts));
    transcript.note(
        "POST",
        "/v1/embeddings",
        Some(&json!({ "model": "bare", "input": "tea" })),
    );
    let key = std::mem::replace(&mut transcript.key, "callgate_wrong".to_owned());
    transcript.note("GET", "/v1/models", None);
    transcript.key = key;
    transcript.freeze("http_models");
}

/// By requests that stand for themselves, as the newest version of the protocol has them, and the
/// beginning of a session, as the versions before.
fn context_protocol(transcript: &mut Transcript) {
    let accept = ("Accept", "application/json, text/event-stream");
    let hello = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "test", "version": "1" } } });
    transcript.note_with("POST", "/mcp", &[accept], Some(&hello));
    let version = "2026-07-28";
    let mut ask = |method: &str, name: Option<&str>, mut params: Json| {
        params["_meta"] = json!({ "io.modelcontextprotocol/protocolVersion": version,
                                  "io.modelcontextprotocol/clientCapabilities": {} });
        let request = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let mut headers = vec![
            accept,
            ("Mcp-Protocol-Version", version),
            ("Mcp-Method", method),
        ];
        headers.extend(name.map(|name| ("Mcp-Name", name)));
        transcript.note_with("POST", "/mcp", &headers, Some(&request));
    };
    ask("tools/list", None, json!({}));
    let tea = json!({ "name": "remember", "arguments": { "name": "tea", "text": "green" } });
    ask("tools/call", Some("remember"), tea);
    ask(
        "tools/call",
        Some("remember"),
        json!({ "name": "remember", "arguments": {} }),
    );
    ask(
        "tools/call",
        Some("nothing"),
        json!({ "name": "nothing", "arguments": {} }),
    );
    ask("resources/list", None, json!({}));
    ask("prompts/list", None, json!({}));
    transcript.freeze("http_mcp");
}
