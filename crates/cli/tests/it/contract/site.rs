//! [`Site`]: a server whose every answer is held against the document. What does not fit is kept, not
//! fatal: all of it is told at the end.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::{Read, Write},
    net::TcpStream,
};

use serde_json::{Value as Json, json};

use super::document::{Described, Document};
use crate::{
    frozen::redact::{Redact, outline},
    scene::{Scene, wait_until},
    server::Server,
};

pub struct Site {
    pub scene: Scene,
    pub server: Server,
    pub key: String,
    pub document: Document,
    pub called: BTreeSet<String>,
    pub gaps: BTreeSet<String>,
    /// Whether a list was seen with something in it.
    lists: BTreeMap<String, bool>,
    /// The last answer of each route, and the last refusal.
    bodies: BTreeMap<(String, bool), (u16, Json)>,
}

/// Lines of an answer, beyond which only its outline is told.
const LONG: usize = 60;

/// What depends on the machine and the moment, or is mostly our own words: only its outline is told.
const VOLATILE: [&str; 10] = [
    "GET /api/doctor",
    "GET /api/methods",
    "GET /api/methods/{name}",
    "GET /api/models/found",
    "GET /api/overview",
    "GET /api/plugins/{id}/logs",
    "GET /api/sessions/{session}/prompt",
    "GET /api/settings",
    "POST /api/personas/preview",
    "PUT /api/settings",
];

/// Media type and bytes of what is sent.
pub type Body = Option<(&'static str, Vec<u8>)>;

pub fn json_body(body: Json) -> Body {
    Some(("application/json", body.to_string().into_bytes()))
}

pub fn no_body() -> Body {
    None
}

pub struct Answer {
    pub status: u16,
    pub media: String,
    pub body: Vec<u8>,
}

impl Site {
    pub fn start(scene: Scene) -> Self {
        let made = scene.callgate(&["key", "new", "--scope", "operator", "--json"]);
        let key = made.succeeded().json()["key"].as_str().unwrap().to_owned();
        let server = Server::start(&scene);
        wait_until(|| server.api("GET", "/api/models", &key, None).0 == 200);
        Site {
            scene,
            server,
            key,
            document: Document::read(),
            called: BTreeSet::new(),
            gaps: BTreeSet::new(),
            lists: BTreeMap::new(),
            bodies: BTreeMap::new(),
        }
    }

    pub fn get(&mut self, route: &str, given: &[&str]) -> Json {
        self.call("GET", route, given, no_body())
    }

    pub fn post(&mut self, route: &str, given: &[&str], body: Json) -> Json {
        self.call("POST", route, given, json_body(body))
    }

    pub fn delete(&mut self, route: &str, given: &[&str]) -> Json {
        self.call("DELETE", route, given, no_body())
    }

    /// Calls a route of the document, `given` for what it has in braces; what follows a `?` is not
    /// the route's. It succeeds.
    pub fn call(&mut self, verb: &str, route: &str, given: &[&str], body: Body) -> Json {
        let (status, answer) = self.exchange(verb, route, given, body);
        assert!(
            (200..300).contains(&status),
            "{verb} {route}: {status} {answer}"
        );
        let route = route.split('?').next().unwrap();
        let operation = format!("{verb} {route}");
        if let Some(items) = answer["items"].as_array() {
            let filled = self.lists.entry(operation.clone()).or_default();
            *filled |= !items.is_empty();
        }
        self.called.insert(operation);
        answer
    }

    /// The same, where it is to fail.
    pub fn fail(&mut self, verb: &str, route: &str, given: &[&str], body: Body) -> u16 {
        let (status, answer) = self.exchange(verb, route, given, body);
        assert!(
            (400..500).contains(&status),
            "{verb} {route}: {status} {answer}"
        );
        status
    }

    fn exchange(&mut self, verb: &str, route: &str, given: &[&str], body: Body) -> (u16, Json) {
        let mut path = route.to_owned();
        for value in given {
            let (start, end) = (path.find('{').unwrap(), path.find('}').unwrap());
            path.replace_range(start..=end, value);
        }
        assert!(!path.contains('{'), "{path}");
        let answer = self.send(verb, &path, body);
        let operation = format!("{verb} {}", route.split('?').next().unwrap());
        let text = String::from_utf8_lossy(&answer.body).into_owned();
        let value = serde_json::from_str(&text).unwrap_or(json!(text));
        match self
            .document
            .answer(&operation, answer.status, &answer.media)
        {
            Described::Nothing => assert!(answer.body.is_empty(), "{operation}: {text}"),
            Described::File => {}
            Described::Unknown => {
                self.gap(&operation, &format!("{} {}", answer.status, answer.media))
            }
            Described::Json(None) => self.gap(&operation, "no schema"),
            Described::Json(Some(schema)) => {
                let violations = self.document.violations(&schema, &value);
                for what in violations.union(&self.document.untyped(&schema)) {
                    self.gap(&operation, what);
                }
            }
        }
        let body = (answer.status, value.clone());
        self.bodies.insert((operation, answer.status >= 400), body);
        (answer.status, value)
    }

    /// One answer of every route and one refusal, as others may depend on them.
    pub fn bodies(&self) -> String {
        let redact = Redact {
            home: self.scene.home(),
        };
        // Which lines of the log are the newest is chance.
        let bodies = self.bodies.iter();
        let told = bodies.filter(|((operation, _), _)| operation != "GET /api/logs");
        let shown = told.map(|((operation, _), (status, body))| {
            let whole = redact.pretty(body);
            let is_short = whole.lines().count() < LONG && whole.len() < 100 * LONG;
            let body = if is_short && !VOLATILE.contains(&operation.as_str()) {
                whole
            } else {
                redact.pretty(&outline(&abridged(body)))
            };
            format!("{operation}\n{status} {body}\n\n")
        });
        shown.collect()
    }

    /// Routes whose list was always empty, so that nothing is known of its items.
    pub fn empty_lists(&self) -> Vec<&String> {
        let empty = self.lists.iter().filter(|(_, filled)| !**filled);
        empty.map(|(operation, _)| operation).collect()
    }

    pub fn gap(&mut self, operation: &str, what: &str) {
        self.gaps.insert(format!("{operation}: {what}"));
    }

    pub fn send(&self, verb: &str, path: &str, body: Body) -> Answer {
        let (media, body) = body.unwrap_or(("application/json", Vec::new()));
        let mut stream = TcpStream::connect(&self.server.address).unwrap();
        // The older version: its answers come in one piece.
        write!(
            stream,
            "{verb} {path} HTTP/1.0\r\nHost: {}\r\nAuthorization: Bearer {}\r\nContent-Type: {media}\r\n\
             Content-Length: {}\r\n\r\n",
            self.server.address,
            self.key,
            body.len(),
        )
        .unwrap();
        stream.write_all(&body).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        let end = answer.windows(4).position(|it| it == b"\r\n\r\n").unwrap();
        let head = String::from_utf8_lossy(&answer[..end]).to_lowercase();
        let media = head.split("content-type: ").nth(1).unwrap_or_default();
        let media = media.split([';', '\r']).next().unwrap().to_owned();
        Answer {
            status: head.split(' ').nth(1).unwrap().parse().unwrap(),
            media,
            body: answer[end + 4..].to_vec(),
        }
    }
}

/// A list that is longer than anybody reads, by its first items.
fn abridged(body: &Json) -> Json {
    let mut body = body.clone();
    if let Some(items) = body.get_mut("items").and_then(Json::as_array_mut)
        && items.len() > 25
    {
        items.truncate(3);
    }
    body
}
