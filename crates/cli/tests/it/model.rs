//! [`FakeModel`]: a server on this machine that speaks OpenAI's chat completions, as far as one
//! answer goes.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

pub struct FakeModel {
    url: String,
    asked: Arc<AtomicUsize>,
}

impl FakeModel {
    /// Leaves the first `silent` requests without an answer, and says `text` to all others.
    pub fn start(silent: usize, text: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let asked = Arc::new(AtomicUsize::new(0));
        let (count, text) = (asked.clone(), text.to_owned());
        std::thread::spawn(move || {
            let mut held = Vec::new();
            for stream in listener.incoming().map_while(Result::ok) {
                let stream = read_request(stream);
                match count.fetch_add(1, Ordering::SeqCst) < silent {
                    true => held.push(stream),
                    false => answer(stream, &text),
                }
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
        self.asked.load(Ordering::SeqCst)
    }
}

fn read_request(stream: TcpStream) -> TcpStream {
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
    reader.into_inner()
}

fn answer(mut stream: TcpStream, text: &str) {
    let delta = serde_json::json!({ "choices": [{ "index": 0, "delta": { "content": text } }] });
    let last = r#"{"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}"#;
    let body = format!("data: {delta}\n\ndata: {last}\n\ndata: [DONE]\n\n");
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n";
    // A client that has gone is no failure of the test.
    let _ = write!(stream, "{head}Content-Length: {}\r\n\r\n{body}", body.len());
}
