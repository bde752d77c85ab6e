//! What an operator does over HTTP: plugins, models, settings, logs, and how all of it is.

mod machine;
mod models;
mod plugins;

use std::{
    io::{BufRead, BufReader, Write},
    net::TcpStream,
    time::{Duration, Instant},
};

use serde_json::Value as Json;

use crate::{
    scene::{Scene, wait_until},
    server::Server,
};

const PATIENCE: Duration = Duration::from_secs(60);

struct Site {
    scene: Scene,
    server: Server,
    key: String,
}

impl Site {
    fn start(scene: Scene, options: &[&str]) -> Self {
        let made = scene.callgate(&["key", "new", "--scope", "operator", "--json"]);
        let key = made.succeeded().json()["key"].as_str().unwrap().to_owned();
        let server = Server::start_with(&scene, options);
        let site = Site { scene, server, key };
        wait_until(|| site.ask("GET", "/api/models", None).0 == 200);
        site
    }

    fn ask(&self, verb: &str, path: &str, body: Option<Json>) -> (u16, Json) {
        self.server.api(verb, path, &self.key, body.as_ref())
    }

    fn done(&self, verb: &str, path: &str, body: Option<Json>) -> Json {
        let (status, answer) = self.ask(verb, path, body);
        assert_eq!(status, 200, "{verb} {path}: {answer}");
        answer
    }

    fn get(&self, path: &str) -> Json {
        self.done("GET", path, None)
    }

    /// Listens from now on; the first line of the answer is read.
    fn listen(&self, query: &str, more: &str) -> BufReader<TcpStream> {
        let mut stream = TcpStream::connect(&self.server.address).unwrap();
        // Signs of life come every 15 seconds: this long without any, it has hung.
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        write!(
            stream,
            "GET /api/events{query} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\n{more}\r\n",
            self.server.address, self.key
        )
        .unwrap();
        let mut reader = BufReader::new(stream);
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        assert!(line.contains("200"), "{line}");
        reader
    }
}

/// The next event that `wanted` finds something in, with its id.
fn heard<T>(reader: &mut BufReader<TcpStream>, wanted: impl Fn(&Json) -> Option<T>) -> (String, T) {
    let (mut id, mut line) = (String::new(), String::new());
    let until = Instant::now() + PATIENCE;
    loop {
        assert!(Instant::now() < until, "it was never told");
        line.clear();
        assert_ne!(reader.read_line(&mut line).unwrap(), 0, "it ended");
        if let Some(text) = line.strip_prefix("id: ") {
            id = text.trim().to_owned();
        }
        let Some(text) = line.strip_prefix("data: ") else {
            continue;
        };
        let event: Json = serde_json::from_str(text).unwrap();
        if let Some(found) = wanted(&event["event"]) {
            return (id, found);
        }
    }
}
