//! Words of AstrBot plugins and of the model while they come, through the real binary: at the
//! terminal, to the page, and to remote clients. What is sent in the end is kept once.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    process::Stdio,
};

use serde_json::{Value as Json, json};

use crate::{
    astrbot::example,
    environments::equipped,
    remote,
    scene::{Scene, finish, wait_until},
    server::Server,
};

const ANN: &str = "/api/sessions/web:FriendMessage:ann";
const BOB: &str = "/api/sessions/web:FriendMessage:bob";

/// A server with the plugin, and somebody who hears all that happens.
struct Site {
    server: Server,
    key: String,
    events: BufReader<TcpStream>,
    #[allow(dead_code, reason = "its folder is there as long as the server")]
    scene: Scene,
}

impl Site {
    fn start(answers: &[Json]) -> Self {
        let plugin = example("streamer");
        let scene = equipped(&plugin);
        let model = scene.script(answers);
        let toml = format!("[models]\ndefault = \"{model}\"\n");
        std::fs::write(scene.data().join("callgate.toml"), toml).unwrap();
        let made = scene.callgate(&["key", "new", "--scope", "operator", "--json"]);
        let key = made.succeeded().json()["key"].as_str().unwrap().to_owned();
        let server = Server::start_with(&scene, &["--plugin", &plugin]);
        wait_until(|| server.api("GET", "/api/plugins", &key, None).0 == 200);
        let mut stream = TcpStream::connect(&server.address).unwrap();
        write!(
            stream,
            "GET /api/events?topics=turns HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {key}\r\n\r\n",
            server.address
        )
        .unwrap();
        let mut events = BufReader::new(stream);
        // The head of the answer: from now on it hears.
        let mut line = String::new();
        events.read_line(&mut line).unwrap();
        assert!(line.contains("200"), "{line}");
        Site {
            server,
            key,
            events,
            scene,
        }
    }

    fn says(&self, session: &str, body: &Json) {
        let path = format!("{session}/messages");
        let (status, answer) = self.server.api("POST", &path, &self.key, Some(body));
        assert_eq!(status, 200, "{answer}");
    }

    /// What is heard until `last` is: pieces with a plus, messages as they are.
    fn heard_until(&mut self, last: &str) -> Vec<String> {
        let mut heard = Vec::new();
        while heard.last().is_none_or(|text| text != last) {
            let mut line = String::new();
            let read = self.events.read_line(&mut line).unwrap();
            assert_ne!(read, 0, "it ended after {heard:?}");
            let Some(text) = line.strip_prefix("data: ") else {
                continue;
            };
            let event: Json = serde_json::from_str(text).unwrap();
            let event = &event["event"];
            if event["turn"]["event"] == "text" {
                let text = event["turn"]["text"].as_str().unwrap();
                heard.push(format!("+{text}"));
            }
            if let Some(parts) = event["message"]["parts"].as_array() {
                let texts = parts.iter().map(|part| part["text"].as_str().unwrap());
                heard.push(texts.collect());
            }
        }
        heard
    }

    /// What the session's log keeps of what was said to people, oldest first.
    fn kept(&self, session: &str) -> Vec<String> {
        let path = format!("{session}/log");
        let (_, log) = self.server.api("GET", &path, &self.key, None);
        let rows = log["items"].as_array().unwrap().iter().rev();
        let said = rows.filter(|row| row["role"] == "assistant");
        let text = |row: &Json| {
            let parts = row["parts"].as_array().unwrap().iter();
            parts.map(|part| part["text"].as_str().unwrap()).collect()
        };
        said.map(text).collect()
    }
}

#[test]
fn a_plugins_words_are_heard_before_it_has_said_them_all() {
    let mut site = Site::start(&[]);
    site.says(ANN, &json!({ "text": "/count", "wait": false }));
    assert_eq!(site.heard_until("+one "), ["+one "]);
    assert_eq!(site.kept(ANN), [""; 0], "it is no message yet");
    site.says(BOB, &json!({ "text": "/go" }));
    let rest = site.heard_until("three");
    assert_eq!(rest, ["+two", "one two", "+three", "three"]);
    assert_eq!(site.kept(ANN), ["one two", "three"]);
}

#[test]
fn a_plugin_cannot_name_the_message_of_another_chat() {
    let mut site = Site::start(&[]);
    site.says(ANN, &json!({ "text": "/count", "wait": false }));
    assert_eq!(site.heard_until("+one "), ["+one "]);
    let (_, log) = site
        .server
        .api("GET", &format!("{ANN}/log"), &site.key, None);
    let row = log["items"][0]["id"].as_i64().unwrap();
    site.says(BOB, &json!({ "text": format!("/meddle {row}") }));
    let refusals = site.kept(BOB).concat();
    let refusal = format!("there is no row {row} in web:FriendMessage:bob");
    assert_eq!(refusals.matches(&refusal).count(), 2, "{refusals}");
    site.says(BOB, &json!({ "text": "/go" }));
    let heard = site.heard_until("three");
    assert!(!heard.contains(&"+forged".to_owned()), "{heard:?}");
    assert_eq!(site.kept(ANN), ["one two", "three"]);
}

#[test]
fn the_models_words_are_heard_raw_and_its_message_with_what_hooks_made_of_it() {
    let mut site = Site::start(&[json!({ "content": "Some tea for you." })]);
    site.says(ANN, &json!({ "text": "hello", "mode": "tools" }));
    let decorated = "Some TEA for you. [signed]";
    let heard = site.heard_until(decorated);
    let (message, pieces) = heard.split_last().unwrap();
    let raw: String = pieces
        .iter()
        .map(|piece| piece.strip_prefix('+').unwrap())
        .collect();
    assert_eq!(raw, "Some tea for you.");
    assert_eq!(message, decorated);
    assert_eq!(site.kept(ANN), [decorated]);
}

#[test]
fn the_terminal_shows_a_plugins_words_as_they_come_and_once() {
    let plugin = example("streamer");
    let scene = equipped(&plugin);
    let model = scene.script(&[]);
    let arguments = ["chat", "--plugin", &plugin, "--model", &model];
    let mut command = scene.command(&arguments);
    let mut chat = command.stdin(Stdio::piped()).spawn().unwrap();
    let mut typed = chat.stdin.take().unwrap();
    let mut shown = chat.stdout.take().unwrap();
    typed.write_all(b"/count\n").unwrap();
    let mut begun = [0; 4];
    shown.read_exact(&mut begun).unwrap();
    assert_eq!(&begun, b"one ");
    let elsewhere = "cli:FriendMessage:bob";
    let go = ["send", "/go", "--session", elsewhere, "--user", "bob"];
    scene.callgate(&go).succeeded();
    drop(typed);
    let mut rest = String::new();
    shown.read_to_string(&mut rest).unwrap();
    assert_eq!(rest, "two\nthree\n");
    finish(chat).succeeded();
}

#[test]
fn remote_clients_hear_a_plugins_words_as_they_come() {
    // Installs the flavour's packages where the server of the test finds them.
    drop(equipped(&example("streamer")));
    remote::clients("streams");
}
