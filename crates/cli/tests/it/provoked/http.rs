//! Over HTTP, which is also what the page shows: `http.txt`.

use serde_json::{Value as Json, json};

use super::{NEVER_OVER_HTTP, all_hold, holds};
use crate::{scene::Scene, server::Server};

const TABLE: &str = include_str!("http.txt");

struct Row {
    /// Whose key is shown.
    by: &'static str,
    verb: &'static str,
    path: &'static str,
    body: &'static str,
    status: u16,
    error: &'static str,
    hint: &'static str,
}

pub(super) fn count() -> usize {
    rows().len()
}

fn rows() -> Vec<Row> {
    let blocks = TABLE.split("\n\n").skip(1);
    blocks.map(read_row).collect()
}

fn read_row(block: &'static str) -> Row {
    let mut lines = block.lines();
    let mut words = lines.next().unwrap().splitn(3, ' ');
    let [by, verb, path] = std::array::from_fn(|_| words.next().unwrap());
    let rest: Vec<&str> = lines.map(str::trim).collect();
    let body = rest.iter().find_map(|line| line.strip_prefix("< "));
    let (status, told) = rest.last().unwrap().split_once(' ').unwrap();
    let (error, hint) = told.split_once(" | ").unwrap();
    Row {
        by,
        verb,
        path,
        body: body.unwrap_or_default(),
        status: status.parse().unwrap(),
        error,
        hint,
    }
}

struct Site {
    server: Server,
    operator: String,
    chat: String,
}

impl Site {
    fn start(scene: &Scene) -> Self {
        let made = |scope: &str| {
            let made = scene.callgate(&["key", "new", "--scope", scope, "--json"]);
            made.succeeded().json()["key"].as_str().unwrap().to_owned()
        };
        let (operator, chat) = (made("operator"), made("chat"));
        let server = Server::start(scene);
        Site {
            server,
            operator,
            chat,
        }
    }

    /// Why the row does not hold.
    fn check(&self, row: &Row) -> Option<String> {
        let key = match row.by {
            "operator" => Some(self.operator.as_str()),
            "chat" => Some(self.chat.as_str()),
            "wrong" => Some("callgate_wrong"),
            "nobody" => None,
            other => panic!("{other}"),
        };
        let (status, told) = self.server.raw(row.verb, row.path, key, row.body);
        let what = format!("{} {} {} ({status})", row.verb, row.path, row.body);
        if status != row.status {
            return Some(format!("{what}: wanted {}: {told}", row.status));
        }
        let told = serde_json::from_str(&told).unwrap_or(json!({ "title": told }));
        let (error, hint) = read_told(&told, row.path.starts_with("/v1"));
        holds(
            &what,
            (&error, &hint),
            (row.error, row.hint),
            &NEVER_OVER_HTTP,
        )
    }
}

/// As OpenAI's clients read it, one text has to say both.
fn read_told(told: &Json, is_openai: bool) -> (String, String) {
    let text = |value: &Json| value.as_str().unwrap_or_default().to_owned();
    if is_openai {
        let message = text(&told["error"]["message"]);
        return (message.clone(), message);
    }
    (text(&told["title"]), text(&told["hint"]))
}

#[test]
fn over_http() {
    let scene = Scene::new();
    let site = Site::start(&scene);
    all_hold(rows().iter().filter_map(|row| site.check(row)).collect());
}
