//! [`FakeModel`]: a server on this machine that speaks OpenAI's chat completions, and Anthropic's messages
//! in texts, as far as one answer goes. It keeps what it was asked.

use std::{
    collections::VecDeque,
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    sync::{Arc, Mutex},
};

use serde_json::{Value as Json, json};

pub struct FakeModel {
    url: String,
    /// The bodies of requests, in order.
    requests: Arc<Mutex<Vec<Json>>>,
    script: Arc<Mutex<VecDeque<Json>>>,
}

/// A request that waits for its answer.
struct Asked {
    path: String,
    body: Json,
    stream: TcpStream,
}

impl FakeModel {
    /// Leaves the first `silent` requests without an answer, and says `text` to all others.
    pub fn start(silent: usize, text: &str) -> Self {
        let text = text.to_owned();
        let mut held = Vec::new();
        FakeModel::answering(Arc::default(), move |place, asked| {
            if place < silent {
                held.push(asked.stream)
            } else {
                send(asked.stream, &openai(&json!({ "content": &text })), true)
            }
        })
    }

    /// Gives the answers it is told to give, in turn: `{"content"}`, or `{"tool_calls"}`.
    pub fn scripted() -> Self {
        let script: Arc<Mutex<VecDeque<Json>>> = Arc::default();
        FakeModel::answering(script.clone(), move |_, asked| {
            let over = json!({ "content": "the script is over" });
            let delta = script.lock().unwrap().pop_front().unwrap_or(over);
            let events = if asked.path.ends_with("/messages") {
                anthropic(&delta)
            } else {
                openai(&delta)
            };
            send(asked.stream, &events, true);
        })
    }

    /// Reads `input` tokens and writes as many as it may, up to `output`; it counts them.
    pub fn counting(input: u64, output: u64) -> Self {
        FakeModel::answering(Arc::default(), move |_, asked| {
            let most = asked.body["max_tokens"].as_u64().unwrap_or(output);
            let written = most.min(output);
            let reason = if written < output { "length" } else { "stop" };
            let usage = json!({"prompt_tokens": input, "completion_tokens": written});
            let events = told(&json!({ "content": "word" }), reason, &usage);
            send(asked.stream, &events, true);
        })
    }

    /// Says `text` to everybody; before the first answer `happens` comes to pass.
    pub fn first(mut happens: impl FnMut() + Send + 'static, text: &str) -> Self {
        let text = text.to_owned();
        FakeModel::answering(Arc::default(), move |place, asked| {
            if place == 0 {
                happens();
            }
            send(asked.stream, &openai(&json!({ "content": &text })), true);
        })
    }

    /// Hangs up in the middle of each answer.
    pub fn breaking_off() -> Self {
        let half = chunk(&json!({ "content": "Half of" }));
        FakeModel::answering(Arc::default(), move |_, asked| {
            send(asked.stream, &half, false);
        })
    }

    /// `answer` is given how many requests came before, and the request.
    fn answering(
        script: Arc<Mutex<VecDeque<Json>>>,
        mut answer: impl FnMut(usize, Asked) + Send + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let model = FakeModel {
            url: format!("http://{}/v1", listener.local_addr().unwrap()),
            requests: Arc::default(),
            script,
        };
        let requests = model.requests.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let asked = read_request(stream);
                let place = {
                    let mut requests = requests.lock().unwrap();
                    requests.push(asked.body.clone());
                    requests.len() - 1
                };
                answer(place, asked);
            }
        });
        model
    }

    /// Says how each answer begins, and nothing more.
    pub fn that_stalls(beginning: &str) -> Self {
        let beginning = chunk(&json!({ "content": beginning }));
        let mut held = Vec::new();
        FakeModel::answering(Arc::default(), move |_, asked| {
            held.push(asked.stream.try_clone().unwrap());
            send(asked.stream, &beginning, false);
        })
    }

    pub fn url(&self) -> &str {
        &self.url
    }

    /// The configuration that uses it.
    pub fn toml(&self) -> String {
        self.toml_as("fake")
    }

    /// The same, by a name of its own: one server may stand for several models.
    pub fn toml_as(&self, id: &str) -> String {
        let url = &self.url;
        format!("[[models.list]]\nid = \"{id}\"\nbase_url = \"{url}\"\n")
    }

    /// How many requests came since they were last taken.
    pub fn asked(&self) -> usize {
        self.requests.lock().unwrap().len()
    }

    pub fn requests(&self) -> Vec<Json> {
        self.requests.lock().unwrap().clone()
    }

    /// What it says next, in place of what it was to say.
    pub fn will_say(&self, answers: &[Json]) {
        *self.script.lock().unwrap() = answers.to_vec().into();
    }

    /// The bodies of the requests since they were last taken.
    pub fn take_requests(&self) -> Vec<Json> {
        std::mem::take(&mut self.requests.lock().unwrap())
    }
}

/// One round of tool calls, as an answer.
pub fn calls(calls: &[(&str, Json)]) -> Json {
    let call = |(number, (name, arguments)): (usize, &(&str, Json))| {
        let function = json!({"name": name, "arguments": arguments.to_string()});
        json!({"index": number, "id": format!("{name}-{number}"), "type": "function", "function": function})
    };
    json!({ "tool_calls": calls.iter().enumerate().map(call).collect::<Vec<_>>() })
}

fn read_request(stream: TcpStream) -> Asked {
    let mut reader = BufReader::new(stream);
    let mut first = String::new();
    reader.read_line(&mut first).unwrap();
    let path = first.split(' ').nth(1).unwrap_or_default().to_owned();
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
    Asked {
        path,
        body: serde_json::from_slice(&body).unwrap_or_default(),
        stream: reader.into_inner(),
    }
}

fn chunk(delta: &Json) -> String {
    let chunk = json!({ "choices": [{ "index": 0, "delta": delta }] });
    format!("data: {chunk}\n\n")
}

fn told(delta: &Json, reason: &str, usage: &Json) -> String {
    let last = json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": reason }] });
    let usage = json!({ "choices": [], "usage": usage });
    let first = chunk(delta);
    format!("{first}data: {last}\n\ndata: {usage}\n\ndata: [DONE]\n\n")
}

fn openai(delta: &Json) -> String {
    let reason = match delta.get("tool_calls") {
        Some(_) => "tool_calls",
        None => "stop",
    };
    let usage = json!({"prompt_tokens": 10, "completion_tokens": 5});
    told(delta, reason, &usage)
}

fn anthropic(delta: &Json) -> String {
    let events = [
        json!({"type": "message_start", "message": {"id": "m", "usage": {"input_tokens": 10, "output_tokens": 1}}}),
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": delta["content"]}}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 5}}),
        json!({"type": "message_stop"}),
    ];
    let event = |event: &Json| {
        format!(
            "event: {}\ndata: {event}\n\n",
            event["type"].as_str().unwrap()
        )
    };
    events.iter().map(event).collect()
}

/// Not `whole`: it breaks off where more was announced.
fn send(mut stream: TcpStream, body: &str, whole: bool) {
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n";
    let length = body.len() + if whole { 0 } else { 1_000 };
    // A client that has gone is no failure of the test.
    let _ = write!(stream, "{head}Content-Length: {length}\r\n\r\n{body}");
}
