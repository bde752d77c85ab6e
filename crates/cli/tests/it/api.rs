//! The HTTP API, asked as a program asks it.

use std::{
    io::{BufRead, BufReader, Write},
    net::TcpStream,
};

use serde_json::{Value as Json, json};

use crate::{
    scene::{Scene, wait_until},
    server::Server,
};

const SESSION: &str = "/api/sessions/web:FriendMessage:ann";

struct Site {
    scene: Scene,
    server: Server,
    key: String,
}

impl Site {
    /// With a model that gives these answers, ready to answer.
    fn start(toml: &str, answers: &[Json]) -> Self {
        let scene = Scene::new();
        let model = scene.script(answers);
        let toml = format!("{toml}\n[models]\ndefault = \"{model}\"\n");
        std::fs::write(scene.data().join("callgate.toml"), toml).unwrap();
        let made = scene.callgate(&["key", "new", "--scope", "operator", "--json"]);
        let key = made.succeeded().json()["key"].as_str().unwrap().to_owned();
        let server = Server::start(&scene);
        let site = Site { scene, server, key };
        wait_until(|| site.get("/api/models").0 == 200);
        site
    }

    fn get(&self, path: &str) -> (u16, Json) {
        self.server.api("GET", path, &self.key, None)
    }

    fn post(&self, path: &str, body: Json) -> Json {
        let (status, answer) = self.server.api("POST", path, &self.key, Some(&body));
        assert_eq!(status, 200, "{path}: {answer}");
        answer
    }

    fn read(&self, path: &str) -> Json {
        let (status, answer) = self.get(path);
        assert_eq!(status, 200, "{path}: {answer}");
        answer
    }
}

/// What happens, as it is told.
struct Events(BufReader<TcpStream>);

impl Events {
    /// Heard from when this returns.
    fn open(site: &Site, path: &str) -> Self {
        let mut stream = TcpStream::connect(&site.server.address).unwrap();
        write!(
            stream,
            "GET {path} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\n\r\n",
            site.server.address, site.key
        )
        .unwrap();
        let mut events = Events(BufReader::new(stream));
        while !events.line().trim().is_empty() {}
        events
    }

    fn next(&mut self) -> Json {
        loop {
            let line = self.line();
            if let Some(data) = line.strip_prefix("data: ") {
                return serde_json::from_str(data).unwrap();
            }
        }
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        assert_ne!(self.0.read_line(&mut line).unwrap(), 0, "it goes on");
        line
    }
}

#[test]
fn without_a_fitting_key_nothing_is_told() {
    let site = Site::start("", &[]);
    let ask = |key: &str| site.server.api("GET", "/api/sessions", key, None);
    let (status, problem) = ask("callgate_wrong");
    assert_eq!((status, &problem["type"]), (401, &json!("no_key")));
    let made = site.scene.callgate(&["key", "new", "--json"]).succeeded();
    let made = made.json();
    let key = made["key"].as_str().unwrap();
    let (status, problem) = ask(key);
    assert_eq!((status, &problem["type"]), (403, &json!("scope")));
    let hint = problem["hint"].as_str().unwrap();
    assert!(hint.contains("--scope read"), "{hint}");
    let (status, methods) = site.server.api("GET", "/api/methods", key, None);
    assert_eq!(status, 200);
    let remote = |method: &Json| method["exposure"]["remote"] == true;
    let methods = methods["items"].as_array().unwrap();
    assert!(!methods.is_empty() && methods.iter().all(remote));
    let id = made["id"].as_str().unwrap();
    site.scene.callgate(&["key", "revoke", id]).succeeded();
    assert_eq!(ask(key).0, 401);
}

#[test]
fn a_message_goes_through_the_whole_pipeline() {
    let answers = [
        json!({ "content": "```python\nremember('colour', 'blue')\nsend_message('noted')\n```" }),
        json!({ "content": "It is blue." }),
    ];
    let site = Site::start("", &answers);
    let messages = format!("{SESSION}/messages");
    let said = site.post(
        &messages,
        json!({ "text": "My colour is blue", "user": "ann" }),
    );
    assert_eq!(
        (&said["stop"], &said["calls"]),
        (&json!("answered"), &json!(2))
    );
    let said = site.post(&messages, json!({ "text": "Which colour?", "user": "ann" }));
    assert_eq!(said["text"], "It is blue.");

    let log = site.read(&format!("{SESSION}/log?limit=2"));
    assert_eq!(log["items"][0]["parts"][0]["text"], "It is blue.");
    let older = log["next"].as_str().unwrap();
    let older = site.read(&format!("{SESSION}/log?cursor={older}"));
    assert_eq!(older["items"].as_array().unwrap().len(), 3);
    assert_eq!(older["next"], Json::Null);

    let turns = site.read("/api/turns?session=web:FriendMessage:ann");
    let first = turns["items"][1]["id"].as_str().unwrap();
    let turn = site.read(&format!("/api/turns/{first}"));
    assert_eq!(turn["stop"], "answered");
    assert!(
        turn["runs"][0]["code"]
            .as_str()
            .unwrap()
            .contains("remember")
    );
    let call = &turn["runs"][0]["calls"][0];
    assert_eq!(call["method"], "builtin/remember");
    assert_eq!(call["arguments"], json!(["colour", "blue"]));

    let found = site.read("/api/conversations?query=WHICH");
    let id = found["items"][0]["id"].as_str().unwrap().to_owned();
    assert_eq!(
        site.read("/api/conversations?query=nowhere")["items"],
        json!([])
    );
    let copy = site.post(&format!("/api/conversations/{id}/fork"), json!({}));
    assert_eq!(copy["current"], true);
    let path = format!("/api/conversations/{id}");
    let named = json!({ "title": "Colours" });
    let (status, named) = site.server.api("PATCH", &path, &site.key, Some(&named));
    assert_eq!((status, &named["title"]), (200, &json!("Colours")));
    assert_eq!(site.server.api("DELETE", &path, &site.key, None).0, 200);
    assert_eq!(site.get(&path).0, 404);
}

#[test]
fn code_and_calls_pass_the_gate() {
    let site = Site::start("", &[]);
    let run = site.post(
        "/api/runs",
        json!({ "code": "print(now('UTC').utcoffset())" }),
    );
    assert_eq!(
        (&run["stop"], &run["stdout"]),
        (&json!("finished"), &json!("0:00:00\n"))
    );
    assert_eq!(run["calls"][0]["method"], "now");
    let called = site.post("/api/methods/now/call", json!({ "arguments": ["UTC"] }));
    assert!(
        called["value"].as_str().unwrap().starts_with("20"),
        "{called}"
    );
    let bad = json!({ "arguments": { "zone": 3 } });
    let (status, problem) = site
        .server
        .api("POST", "/api/methods/now/call", &site.key, Some(&bad));
    assert_eq!(status, 400, "{problem}");
    let hint = problem["hint"].as_str().unwrap();
    assert!(
        hint.contains("`arguments`") && !hint.contains("--args"),
        "{hint}"
    );
    let (status, problem) =
        site.server
            .api("POST", "/api/methods/nwo/call", &site.key, Some(&json!({})));
    assert_eq!(
        (status, &problem["type"]),
        (404, &json!("not_found")),
        "{problem}"
    );
    assert_eq!(problem["hint"], "GET /api/methods lists them");
}

#[test]
fn an_approval_is_answered_and_the_turn_goes_on() {
    let answers = [json!({ "content": "```python\nsend_message('may I?')\n```" })];
    let site = Site::start("[approval]\nask = [\"send_message\"]\n", &answers);
    let saying = json!({ "text": "Say it", "wait": false });
    let said = site.post(&format!("{SESSION}/messages"), saying);
    assert_eq!(said["stop"], "accepted");
    let waiting = || {
        site.read("/api/approvals")["items"]
            .as_array()
            .unwrap()
            .clone()
    };
    wait_until(|| waiting().len() == 1);
    let asked = waiting().remove(0);
    assert_eq!(asked["method"], "builtin/send_message");
    site.post(
        &format!("/api/approvals/{}", asked["id"]),
        json!({ "allow": true }),
    );
    let sent = || site.read(&format!("{SESSION}/log"))["items"][0]["parts"][0]["text"] == "may I?";
    wait_until(sent);
}

#[test]
fn a_session_tells_what_waits_there_and_rules_are_revoked() {
    let code = "```python\nsend_message('may I?')\n```";
    let answers = [json!({ "content": code }), json!({ "content": code })];
    let site = Site::start("[approval]\nask = [\"send_message\"]\n", &answers);
    let mut events = Events::open(&site, "/api/events?topics=approvals,changes");
    let say = |text: &str| {
        let saying = json!({ "text": text, "wait": false });
        site.post(&format!("{SESSION}/messages"), saying)
    };
    let waiting = || {
        let session = site.read(SESSION);
        session["approvals"].as_array().unwrap().clone()
    };
    say("Say it");
    wait_until(|| waiting().len() == 1);
    let asked = waiting().remove(0);
    assert_eq!(asked["method"], "builtin/send_message");
    assert_eq!(asked["arguments"], json!({ "text": "may I?" }));
    let elsewhere = site.read("/api/sessions/web:FriendMessage:bob");
    assert_eq!(elsewhere["approvals"], json!([]));
    let answer = json!({ "allow": true, "always": true });
    site.post(&format!("/api/approvals/{}", asked["id"]), answer);
    wait_until(|| waiting().is_empty());
    let told = |event: &Json| event["event"]["approval"]["state"].clone();
    assert_eq!(told(&events.next()), "pending");
    assert_eq!(told(&events.next()), "allowed");

    let rules = site.read("/api/approvals/rules")["items"].clone();
    let rule = &rules[0];
    assert_eq!(
        (&rule["decision"], &rule["method"]),
        (&json!("always"), &json!("builtin/send_message"))
    );
    assert!(rule["made_by"].as_str().unwrap().starts_with("key "));
    let path = format!("/api/approvals/rules/{}", rule["id"]);
    let (status, revoked) = site.server.api("DELETE", &path, &site.key, None);
    assert_eq!((status, &revoked), (200, rule));
    assert_eq!(events.next()["event"], json!({ "rules": {} }));
    let (status, _) = site.server.api("DELETE", &path, &site.key, None);
    assert_eq!(status, 404);
    say("Say it again");
    wait_until(|| waiting().len() == 1);
}

#[test]
fn a_turn_tells_by_whose_word_its_calls_were_made() {
    let code = "```python\nsend_message('may I?')\n```";
    let answers = [json!({ "content": code }), json!({ "content": code })];
    let site = Site::start("[approval]\nask = [\"send_message\"]\n", &answers);
    let say = |text: &str| {
        let saying = json!({ "text": text, "wait": false });
        site.post(&format!("{SESSION}/messages"), saying)
    };
    let decided_by = |turns: usize| {
        let ended = || {
            let listed = site.read("/api/turns");
            let turns_of = listed["items"].as_array().unwrap();
            let is_done = turns_of.iter().all(|turn| !turn["stop"].is_null());
            (turns_of.len() == turns && is_done).then(|| turns_of[0]["id"].clone())
        };
        wait_until(|| ended().is_some());
        let turn = site.read(&format!(
            "/api/turns/{}",
            ended().unwrap().as_str().unwrap()
        ));
        turn["runs"][0]["calls"][0]["decided_by"].clone()
    };
    say("Say it");
    wait_until(|| site.read(SESSION)["approvals"][0].is_object());
    let asked = site.read(SESSION)["approvals"][0]["id"].clone();
    let answer = json!({ "allow": true, "always": true });
    site.post(&format!("/api/approvals/{asked}"), answer);
    let first = decided_by(1);
    assert_eq!(
        (&first["by"], &first["state"], &first["approval"]),
        (&json!("approval"), &json!("allowed"), &asked)
    );

    say("Say it again");
    let second = decided_by(2);
    let rule = site.read("/api/approvals/rules")["items"][0].clone();
    assert_eq!(
        (&second["by"], &second["rule"]),
        (&json!("rule"), &rule["id"])
    );
    assert_eq!(second["who"], rule["made_by"]);
    let text = second["text"].as_str().unwrap();
    assert!(text.contains("send_message"), "{text}");

    let path = format!("/api/approvals/rules/{}", rule["id"]);
    assert_eq!(site.server.api("DELETE", &path, &site.key, None).0, 200);
    let removed = decided_by(2);
    assert_eq!(
        (&removed["rule"], &removed["text"]),
        (&rule["id"], &Json::Null)
    );
}

#[test]
fn personas_models_and_settings_are_chosen() {
    let site = Site::start("", &[json!({ "content": "arr" })]);
    let persona = json!({ "system_prompt": "You are a pirate.", "mode": "tools" });
    let path = "/api/personas/pirate";
    let (status, made) = site.server.api("PUT", path, &site.key, Some(&persona));
    assert_eq!((status, &made["mode"]), (200, &json!("tools")), "{made}");
    for (change, methods) in [
        (json!({ "methods": ["now"] }), json!(["now"])),
        (json!({}), json!(["now"])),
        (json!({ "methods": null }), Json::Null),
    ] {
        let (status, changed) = site.server.api("PUT", path, &site.key, Some(&change));
        assert_eq!((status, &changed["methods"]), (200, &methods), "{change}");
        assert_eq!(changed["mode"], "tools", "what is left out stays");
    }
    let choice = json!({ "persona": "pirate" });
    let (status, session) = site.server.api("PATCH", SESSION, &site.key, Some(&choice));
    assert_eq!((status, &session["persona"]), (200, &json!("pirate")));
    let prompt = site.read(&format!("{SESSION}/prompt"));
    assert!(prompt.to_string().contains("You are a pirate."));
    let back = json!({ "persona": "default" });
    let (status, session) = site.server.api("PATCH", SESSION, &site.key, Some(&back));
    assert_eq!((status, &session["persona"]), (200, &json!("default")));

    let names = || -> Vec<(Json, Json)> {
        let all = site.read("/api/personas")["items"].clone();
        let all = all.as_array().unwrap().iter();
        all.map(|it| (it["name"].clone(), it["default"].clone()))
            .collect()
    };
    let put = |default: bool| {
        let mut body = persona.clone();
        body["default"] = json!(default);
        let (status, _) = site.server.api("PUT", path, &site.key, Some(&body));
        assert_eq!(status, 200);
        names()
    };
    let told = |built_in: bool| {
        vec![
            (json!("default"), json!(built_in)),
            (json!("pirate"), json!(!built_in)),
        ]
    };
    assert_eq!(names(), told(true));
    assert_eq!(put(true), told(false), "the built-in one is still there");
    assert_eq!(site.read("/api/personas/default")["default"], false);
    assert_eq!(put(false), told(true), "and answers again");
    let none = json!({ "model": "none" });
    let (status, problem) = site.server.api("PATCH", SESSION, &site.key, Some(&none));
    assert_eq!(status, 400, "{problem}");
    assert_eq!(site.get("/api/methods/ask_pirate").0, 200);
    assert_eq!(site.server.api("DELETE", path, &site.key, None).0, 200);
    assert_eq!(site.get(path).0, 404);
    assert_eq!(site.get("/api/methods/ask_pirate").0, 404);
}

#[test]
fn what_happens_is_heard_live_and_again_after_a_break() {
    let site = Site::start(
        "",
        &[json!({ "content": "one" }), json!({ "content": "two" })],
    );
    let listen = |last: &str| {
        let mut stream = TcpStream::connect(&site.server.address).unwrap();
        write!(
            stream,
            "GET /api/events HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\n{last}\r\n",
            site.server.address, site.key
        )
        .unwrap();
        BufReader::new(stream)
    };
    let until_message = |reader: &mut BufReader<TcpStream>| {
        let (mut id, mut line) = (String::new(), String::new());
        loop {
            line.clear();
            assert_ne!(reader.read_line(&mut line).unwrap(), 0, "it ended");
            if let Some(text) = line.strip_prefix("id: ") {
                id = text.trim().to_owned();
            }
            let Some(text) = line.strip_prefix("data: ") else {
                continue;
            };
            let event: Json = serde_json::from_str(text).unwrap();
            if let Some(message) = event["event"].get("message") {
                assert!(event["id"].is_number(), "it can be known again: {event}");
                return (id, message["parts"][0]["text"].as_str().unwrap().to_owned());
            }
        }
    };
    let mut first = listen("");
    // The head of the answer: from now on it hears.
    let mut line = String::new();
    first.read_line(&mut line).unwrap();
    assert!(line.contains("200"), "{line}");
    let messages = format!("{SESSION}/messages");
    site.post(&messages, json!({ "text": "1" }));
    let (id, text) = until_message(&mut first);
    assert_eq!(text, "one");
    drop(first);
    site.post(&messages, json!({ "text": "2" }));
    let mut second = listen(&format!("Last-Event-ID: {id}\r\n"));
    assert_eq!(until_message(&mut second).1, "two");
}

#[test]
fn files_are_handed_in_and_out() {
    let site = Site::start("", &[]);
    let code = "open('/app/shared/a.txt', 'w').write('hello')";
    let run = json!({ "code": code, "session": "web:FriendMessage:ann" });
    assert_eq!(site.post("/api/runs", run)["stop"], "finished");
    let files = site.read(&format!("{SESSION}/files"));
    assert_eq!(
        files["items"],
        json!([{ "path": "/app/shared/a.txt", "size": 5 }])
    );
    let host = site.server.address.clone();
    let bearer = format!("Bearer {}", site.key);
    let headers = [("Host", host.as_str()), ("Authorization", &bearer)];
    let file = site
        .server
        .get(&format!("{SESSION}/files/shared/a.txt"), &headers);
    assert!(
        file.ends_with("hello") && file.contains("sandbox"),
        "{file}"
    );
    for outside in ["shared/../../x", "..%2f..%2fx", "other/a.txt"] {
        let (status, problem) = site.get(&format!("{SESSION}/files/{outside}"));
        assert!((400..500).contains(&status), "{outside}: {problem}");
    }
}

#[test]
fn keys_are_made_and_revoked() {
    let site = Site::start("", &[]);
    let made = site.post("/api/keys", json!({ "scopes": ["methods"] }));
    let key = made["key"].as_str().unwrap();
    assert_eq!(site.server.api("GET", "/api/methods", key, None).0, 200);
    let listed = site.read("/api/keys").to_string();
    assert!(!listed.contains(key), "a key's text is shown once");
    let path = format!("/api/keys/{}", made["id"].as_str().unwrap());
    assert_eq!(site.server.api("DELETE", &path, &site.key, None).0, 200);
    assert_eq!(site.server.api("GET", "/api/methods", key, None).0, 401);
    let own = site.post("/api/keys", json!({ "scopes": ["operator"] }));
    let (path, key) = (
        format!("/api/keys/{}", own["id"].as_str().unwrap()),
        &own["key"],
    );
    let revoke = || {
        site.server
            .api("DELETE", &path, key.as_str().unwrap(), None)
            .0
    };
    assert_eq!(
        (revoke(), revoke()),
        (200, 401),
        "who revokes its own key is told so"
    );
    let odd = json!({ "scopes": ["all"] });
    assert_eq!(
        site.server
            .api("POST", "/api/keys", &site.key, Some(&odd))
            .0,
        400
    );
}

/// Counted where a person meets it: keys, events and delivery are part of it.
#[test]
fn a_message_over_http_costs_few_statements_and_commits() {
    const MESSAGES: u64 = 40;
    let answer = json!({ "content": "Well." });
    let answers = vec![answer; 1 + MESSAGES as usize];
    let site = Site::start("[serve]\nlocal_metrics = true", &answers);
    let post = || {
        let saying = json!({ "text": "hello", "wait": true });
        site.post(&format!("{SESSION}/messages"), saying)
    };
    post();
    let counted = |name: &str| -> u64 {
        let page = site.server.asked("/metrics");
        let line = page.lines().find(|line| line.starts_with(name)).unwrap();
        line.rsplit_once(' ').unwrap().1.parse().unwrap()
    };
    let counts = || {
        (
            counted("callgate_store_statements_total"),
            counted("callgate_store_commits_total"),
        )
    };
    let before = counts();
    for _ in 0..MESSAGES {
        post();
    }
    let after = counts();
    // The check of the key, and what is flushed in between, come on top of the message's own 15 and 3.
    let (statements, commits) = (after.0 - before.0, after.1 - before.1);
    assert!(statements <= 17 * MESSAGES, "{statements} statements");
    assert!(commits <= 4 * MESSAGES, "{commits} commits");
}

#[test]
fn what_code_says_is_heard_while_it_goes_on() {
    let code = "send_message('early')\nimport time\ntime.sleep(2)\nsend_message('late')";
    let site = Site::start(
        "",
        &[json!({ "content": format!("```python\n{code}\n```") })],
    );
    let mut events = Events::open(
        &site,
        "/api/events?topics=turns&session=web:FriendMessage:ann",
    );
    let saying = json!({ "text": "go on", "wait": false });
    site.post(&format!("{SESSION}/messages"), saying);
    let mut heard = Vec::new();
    while heard.len() < 2 {
        let said = events.next()["event"]["message"].take();
        if !said.is_null() {
            let said = said.to_string();
            let turns = site.read("/api/turns?limit=1");
            heard.push((said.contains("early"), turns["items"][0]["stop"].is_null()));
        }
    }
    assert_eq!(heard[0], (true, true), "it was said while the turn ran");
}
