//! What is accepted is on disk: whoever was told so is answered, whatever happens to the process.

use std::{
    io::{BufRead, BufReader},
    process::{Child, Command, Stdio},
    sync::mpsc,
    time::Duration,
};

use serde_json::{Value as Json, json};

use crate::{
    model::FakeModel,
    outages::{fill_disk, limit_files},
    scene::{Scene, finish, wait_until},
    server::Server,
};

const SESSION: &str = "/api/sessions/web:FriendMessage:ann";

struct Site {
    scene: Scene,
    key: String,
}

impl Site {
    fn new(model: &FakeModel) -> Self {
        let scene = Scene::configured(&model.toml());
        let made = scene.callgate(&["key", "new", "--scope", "operator", "--json"]);
        let key = made.succeeded().json()["key"].as_str().unwrap().to_owned();
        Site { scene, key }
    }

    fn configure(&self, toml: &str) {
        std::fs::write(self.scene.data().join("callgate.toml"), toml).unwrap();
    }

    /// Ready to answer.
    fn start(&self) -> Server {
        self.start_killed_at("")
    }

    fn start_killed_at(&self, point: &str) -> Server {
        let server = Server::start_killed_at(point, &self.scene, &[]);
        wait_until(|| server.api("GET", "/api/models", &self.key, None).0 == 200);
        server
    }

    /// `None` if the server ended without an answer.
    fn say(&self, server: &Server, session: &str, name: &str, body: Json) -> Option<(u16, Json)> {
        let path = format!("{session}/messages");
        let headers = [("Idempotency-Key", name)];
        server.try_api("POST", &path, &self.key, &headers, Some(&body))
    }

    /// What was said, oldest first: role and text.
    fn log(&self, server: &Server, session: &str) -> Vec<(String, String)> {
        let path = format!("{session}/log");
        let (status, log) = server.api("GET", &path, &self.key, None);
        assert_eq!(status, 200, "{log}");
        let text = |value: &Json| value.as_str().unwrap().to_owned();
        let row = |row: &Json| (text(&row["role"]), text(&row["parts"][0]["text"]));
        log["items"]
            .as_array()
            .unwrap()
            .iter()
            .rev()
            .map(row)
            .collect()
    }
}

fn row(role: &str, text: &str) -> (String, String) {
    (role.to_owned(), text.to_owned())
}

#[test]
fn a_message_that_was_accepted_outlives_a_kill_and_is_answered_once() {
    const MESSAGES: usize = 15;
    let silent = FakeModel::start(usize::MAX, "");
    let site = Site::new(&silent);
    let server = site.start();
    let session = |number: usize| format!("/api/sessions/web:FriendMessage:p{number}");
    std::thread::scope(|scope| {
        let (site, server) = (&site, &server);
        let post = move |number: usize| {
            let body = json!({ "text": format!("m{number}"), "wait": false });
            let said = site.say(server, &session(number), "one", body);
            let (status, said) = said.unwrap();
            assert_eq!((status, &said["stop"]), (200, &json!("accepted")), "{said}");
        };
        for number in 0..MESSAGES {
            scope.spawn(move || post(number));
        }
    });
    server.kill();

    let answering = FakeModel::start(0, "pong");
    site.configure(&answering.toml());
    let server = site.start();
    for number in 0..MESSAGES {
        let said = [row("user", &format!("m{number}")), row("assistant", "pong")];
        wait_until(|| site.log(&server, &session(number)).len() >= 2);
        assert_eq!(site.log(&server, &session(number)), said);
    }
    assert_eq!(answering.asked(), MESSAGES);
}

#[test]
fn the_same_name_is_the_same_message_and_gets_the_same_answer() {
    let model = FakeModel::start(0, "pong");
    let site = Site::new(&model);
    let server = site.start();
    let hello = |wait: bool| json!({ "text": "hello", "wait": wait });
    let (_, accepted) = site.say(&server, SESSION, "one", hello(false)).unwrap();
    assert_eq!(accepted["stop"], "accepted");
    // Also while the first one is still being answered.
    let (status, answered) = site.say(&server, SESSION, "one", hello(true)).unwrap();
    assert_eq!(
        (status, &answered["text"]),
        (200, &json!("pong")),
        "{answered}"
    );
    assert_eq!(
        site.say(&server, SESSION, "one", hello(true)).unwrap().1,
        answered
    );
    assert_eq!(
        site.say(&server, SESSION, "one", hello(false)).unwrap().1,
        accepted
    );
    let (status, problem) = site
        .say(&server, SESSION, "one", json!({ "text": "other" }))
        .unwrap();
    assert_eq!((status, &problem["type"]), (409, &json!("conflict")));
    assert_eq!(
        site.log(&server, SESSION),
        [row("user", "hello"), row("assistant", "pong")]
    );
    assert_eq!(model.asked(), 1);
    let (status, _) = site
        .say(&server, SESSION, &"x".repeat(256), hello(true))
        .unwrap();
    assert_eq!(status, 400);
}

/// They have it in the response or read the log: it waits for nobody, and no later listener is told of it.
#[test]
fn an_answer_to_somebody_over_http_is_on_its_way_no_longer() {
    let model = FakeModel::start(0, "pong");
    let site = Site::new(&model);
    let server = site.start();
    for (name, wait) in [("one", true), ("two", false)] {
        let body = json!({ "text": "hello", "wait": wait });
        assert_eq!(site.say(&server, SESSION, name, body).unwrap().0, 200);
    }
    wait_until(|| site.log(&server, SESSION).len() == 4);
    server.end();
    assert_eq!(site.scene.outbox(), [""; 0]);
}

/// Who only counts messages is no listener: without plugins no message waits until somebody has dealt with it,
/// which a kill might keep them from.
#[test]
fn without_plugins_a_message_is_put_to_nobody_before_its_turn() {
    let model = FakeModel::start(0, "pong");
    let site = Site::new(&model);
    let server = site.start_killed_at("log.before_settle");
    let body = json!({ "text": "hello" });
    let said = site.say(&server, SESSION, "one", body);
    assert_eq!(said.unwrap().1["text"], "pong");
}

/// Holds the database's write lock until it is ended.
#[allow(
    clippy::disallowed_methods,
    reason = "another program that uses the database"
)]
fn lock(scene: &Scene) -> Child {
    let code = "import sqlite3, sys\n\
                database = sqlite3.connect(sys.argv[1], isolation_level=None)\n\
                database.execute('BEGIN IMMEDIATE')\n\
                print('locked', flush=True)\n\
                sys.stdin.read()\n";
    let mut child = Command::new("python3")
        .args(["-c", code])
        .arg(scene.data().join("callgate.db"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    let mut stdout = BufReader::new(child.stdout.as_mut().unwrap());
    stdout.read_line(&mut line).unwrap();
    assert_eq!(line, "locked\n");
    child
}

#[test]
fn a_message_that_cannot_be_stored_is_refused_and_says_what_to_do() {
    let model = FakeModel::start(0, "pong");
    let site = Site::new(&model);
    let server = site.start();
    let hello = json!({ "text": "hello", "wait": false });
    let locked = lock(&site.scene);
    let (status, problem) = site.say(&server, SESSION, "one", hello.clone()).unwrap();
    assert_eq!(
        (status, &problem["type"]),
        (503, &json!("storage")),
        "{problem}"
    );
    assert!(
        problem["hint"].as_str().unwrap().contains("send it again"),
        "{problem}"
    );
    assert!(finish(locked).code.is_some());
    assert_eq!(site.log(&server, SESSION), []);
    let (status, said) = site.say(&server, SESSION, "one", hello).unwrap();
    assert_eq!((status, &said["stop"]), (200, &json!("accepted")));
    wait_until(|| site.log(&server, SESSION).len() == 2);
}

/// The reply is there and cannot be written; once it can be, the turn goes on with it.
#[test]
fn a_reply_that_cannot_be_stored_at_once_is_not_asked_for_again() {
    let (asked, is_asked) = mpsc::channel();
    let (go_on, goes_on) = mpsc::channel::<()>();
    let happens = move || {
        asked.send(()).unwrap();
        goes_on.recv().unwrap();
    };
    let model = FakeModel::first(happens, "pong");
    let site = Site::new(&model);
    let server = site.start();
    let hello = json!({ "text": "hello", "wait": false, "mode": "tools" });
    assert_eq!(site.say(&server, SESSION, "one", hello).unwrap().0, 200);
    is_asked.recv().unwrap();
    fill_disk(&server);
    go_on.send(()).unwrap();
    // The reply has met the disk by then.
    std::thread::sleep(Duration::from_secs(2));
    limit_files(&server, None);
    wait_until(|| site.log(&server, SESSION).len() == 2);
    let said = [row("user", "hello"), row("assistant", "pong")];
    assert_eq!(site.log(&server, SESSION), said);
    assert_eq!(model.asked(), 1);
}

#[test]
fn the_mode_and_model_asked_for_outlive_a_kill() {
    let (usual, chosen) = (FakeModel::start(0, "usual"), FakeModel::start(0, "chosen"));
    let second = chosen.toml().replace("\"fake\"", "\"second\"");
    let toml = format!("{}{second}[models]\ndefault = \"fake\"\n", usual.toml());
    // Before anybody was told, and after that and before the turn.
    for point in ["log.after_incoming", "turn.before_begin_commit"] {
        let site = Site::new(&usual);
        site.configure(&toml);
        let mut server = site.start_killed_at(point);
        let body = json!({ "text": "hi", "wait": false, "mode": "tools", "model": "second" });
        let said = site.say(&server, SESSION, "one", body);
        assert!(said.is_none_or(|(status, _)| status == 200), "{point}");
        let died = server.child.take().unwrap().wait().unwrap();
        assert_eq!(died.code(), None, "{point}");

        let server = site.start();
        wait_until(|| site.log(&server, SESSION).len() >= 2);
        assert_eq!(
            site.log(&server, SESSION)[1],
            row("assistant", "chosen"),
            "{point}"
        );
        let (_, turns) = server.api("GET", "/api/turns", &site.key, None);
        let turn = &turns["items"][0];
        assert_eq!(
            (&turn["mode"], &turn["model"]),
            (&json!("tools"), &json!("second")),
            "{point}: {turns}"
        );
    }
}
