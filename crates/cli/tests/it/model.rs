//! [`FakeModel`]: a server on this machine that speaks OpenAI's chat completions, as far as one
//! answer goes.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    sync::{Arc, Mutex},
};

use serde_json::{Value as Json, json};

pub struct FakeModel {
    url: String,
    /// The bodies of requests, in order.
    asked: Arc<Mutex<Vec<Json>>>,
}

impl FakeModel {
    /// Leaves the first `silent` requests without an answer, and says `text` to all others.
    pub fn start(silent: usize, text: &str) -> Self {
        let text = text.to_owned();
        let mut held = Vec::new();
        FakeModel::answering(move |place, _, stream| match place < silent {
            true => held.push(stream),
            false => send(stream, &told(&text, "stop", None), true),
        })
    }

    /// Reads `input` tokens and writes as many as it may, up to `output`; it counts them.
    pub fn counting(input: u64, output: u64) -> Self {
        FakeModel::answering(move |_, body, stream| {
            let written = body["max_tokens"].as_u64().unwrap_or(output).min(output);
            let reason = if written < output { "length" } else { "stop" };
            let usage = json!({"prompt_tokens": input, "completion_tokens": written});
            send(stream, &told("word", reason, Some(usage)), true);
        })
    }

    /// Hangs up in the middle of each answer.
    pub fn breaking_off() -> Self {
        FakeModel::answering(|_, _, stream| send(stream, &delta("Half of"), false))
    }

    fn answering(mut answer: impl FnMut(usize, Json, TcpStream) + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let asked = Arc::new(Mutex::new(Vec::new()));
        let bodies = asked.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (body, stream) = read_request(stream);
                let place = {
                    let mut bodies = bodies.lock().unwrap();
                    bodies.push(body.clone());
                    bodies.len() - 1
                };
                answer(place, body, stream);
            }
        });
        FakeModel { url, asked }
    }

    pub fn url(&self) -> &str {
        &self.url
    }

    /// The configuration that uses it.
    pub fn toml(&self) -> String {
        let url = &self.url;
        format!("[[models.list]]\nid = \"fake\"\nbase_url = \"{url}\"\n")
    }

    pub fn asked(&self) -> usize {
        self.asked.lock().unwrap().len()
    }

    pub fn requests(&self) -> Vec<Json> {
        self.asked.lock().unwrap().clone()
    }
}

fn read_request(stream: TcpStream) -> (Json, TcpStream) {
    let mut reader = BufReader::new(stream);
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        if line.trim().is_empty() {
            break;
        }
        if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    let body = serde_json::from_slice(&body).unwrap_or_default();
    (body, reader.into_inner())
}

fn delta(text: &str) -> String {
    let delta = json!({ "choices": [{ "index": 0, "delta": { "content": text } }] });
    format!("data: {delta}\n\n")
}

fn told(text: &str, reason: &str, usage: Option<Json>) -> String {
    let choices = json!([{"index": 0, "delta": {}, "finish_reason": reason}]);
    let last = json!({"choices": choices, "usage": usage});
    format!("{}data: {last}\n\ndata: [DONE]\n\n", delta(text))
}

fn send(mut stream: TcpStream, body: &str, whole: bool) {
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n";
    let length = body.len() + if whole { 0 } else { 1_000 };
    // A client that has gone is no failure of the test.
    let _ = write!(stream, "{head}Content-Length: {length}\r\n\r\n{body}");
}
