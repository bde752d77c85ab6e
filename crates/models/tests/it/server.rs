//! A server of prepared replies on this machine: it answers the first request with the first
//! reply, and so on, and keeps what it was asked.

use std::sync::{Arc, Mutex};

use callgate_models::{ModelSettings, Remote};
use serde_json::{Value as Json, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::mpsc,
    task::JoinHandle,
};

pub struct Server {
    pub base_url: String,
    /// Requests are recorded by the server's task and read by the test.
    requests: Arc<Mutex<Vec<Request>>>,
    /// One message for each connection that the client closed while the server held it open.
    closed: mpsc::UnboundedReceiver<()>,
    task: JoinHandle<()>,
}

#[derive(Clone, Debug)]
pub struct Request {
    pub line: String,
    headers: Vec<(String, String)>,
    pub body: Json,
}

impl Request {
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(header, _)| header == name);
        found.map(|(_, value)| value.as_str())
    }
}

pub struct Reply {
    bytes: Vec<u8>,
    /// Say nothing more, but do not close either.
    hold: bool,
}

impl Reply {
    pub fn new(status: &str, headers: &str, body: &str) -> Self {
        let head = format!("HTTP/1.1 {status}\r\nconnection: close\r\n{headers}\r\n");
        Reply {
            bytes: format!("{head}{body}").into_bytes(),
            hold: false,
        }
    }

    /// A stream that ends where the text ends.
    pub fn stream(body: &str) -> Self {
        Reply::new("200 OK", "content-type: text/event-stream\r\n", body)
    }

    /// A whole stream that says `text`.
    pub fn saying(text: &str) -> Self {
        let chunk = delta(text);
        Reply::stream(&format!("{chunk}{FINISH}data: [DONE]\n\n"))
    }

    pub fn silence() -> Self {
        Reply {
            bytes: Vec::new(),
            hold: true,
        }
    }

    pub fn held_open(self) -> Self {
        Reply { hold: true, ..self }
    }
}

pub const FINISH: &str =
    "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n";

pub fn delta(text: &str) -> String {
    let chunk = json!({"choices": [{"index": 0, "delta": {"content": text}}]});
    format!("data: {chunk}\n\n")
}

impl Server {
    pub async fn start(replies: Vec<Reply>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base_url = format!("http://{}/v1", listener.local_addr().unwrap());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let recorded = Arc::clone(&requests);
        let (closing, closed) = mpsc::unbounded_channel();
        let task = tokio::spawn(async move {
            for reply in replies {
                let (mut stream, _) = listener.accept().await.unwrap();
                let request = read(&mut stream).await;
                recorded.lock().unwrap().push(request);
                stream.write_all(&reply.bytes).await.unwrap();
                if reply.hold {
                    let closing = closing.clone();
                    tokio::spawn(async move {
                        // Zero bytes or an error: either way the client has gone.
                        let _ = stream.read(&mut [0; 16]).await;
                        let _ = closing.send(());
                    });
                }
            }
        });
        Server {
            base_url,
            requests,
            closed,
            task,
        }
    }

    pub fn settings(&self) -> ModelSettings {
        ModelSettings::new("m", self.base_url.clone())
    }

    pub fn model(&self) -> Remote {
        Remote::new(self.settings()).unwrap()
    }

    pub fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap().clone()
    }

    /// Waits until the client has closed a connection that the server holds open.
    pub async fn client_closes(&mut self) {
        self.closed.recv().await.unwrap();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn read(stream: &mut TcpStream) -> Request {
    let mut bytes = Vec::new();
    let end = loop {
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break end;
        }
        assert!(stream.read_buf(&mut bytes).await.unwrap() > 0);
    };
    let body = bytes.split_off(end + 4);
    let head = String::from_utf8(bytes).unwrap();
    let mut lines = head.lines();
    let line = lines.next().unwrap().to_owned();
    let headers = lines.filter_map(|line| {
        let (name, value) = line.split_once(": ")?;
        Some((name.to_lowercase(), value.to_owned()))
    });
    let mut request = Request {
        line,
        headers: headers.collect(),
        body: Json::Null,
    };
    let length = request
        .header("content-length")
        .map_or(0, |length| length.parse().unwrap());
    let mut body = body;
    while body.len() < length {
        assert!(stream.read_buf(&mut body).await.unwrap() > 0);
    }
    if length > 0 {
        request.body = serde_json::from_slice(&body).unwrap();
    }
    request
}
