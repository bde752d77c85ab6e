//! Keys for as long as they last: what is known of each, the page's own sessions, and what was begun with
//! a key that is over.

use serde_json::{Value as Json, json};

use crate::{
    connection::{Connection, UPGRADE},
    model::FakeModel,
    scene::{Scene, wait_until},
    server::Server,
};

struct Key {
    id: String,
    text: String,
}

fn new_key(scene: &Scene, options: &[&str]) -> Key {
    let made = scene.callgate(&[&["key", "new", "--json"], options].concat());
    let made = made.succeeded().json();
    let text = |field: &str| made[field].as_str().unwrap().to_owned();
    Key {
        id: text("id"),
        text: text("key"),
    }
}

fn listed(scene: &Scene, id: &str) -> Json {
    let keys = scene.callgate(&["key", "list", "--json"]).succeeded();
    let keys = keys.json();
    let found = keys.as_array().unwrap().iter().find(|key| key["id"] == id);
    found.unwrap().clone()
}

#[test]
fn a_key_has_a_name_an_expiry_and_a_last_use() {
    let scene = Scene::new();
    let options = ["--scope", "read", "--name", "phone", "--expires", "30d"];
    let key = new_key(&scene, &options);
    let before = listed(&scene, &key.id);
    assert_eq!(before["name"], "phone");
    assert!(before["expires_at"].is_string() && before["last_used_at"].is_null());
    let server = Server::start(&scene);
    let ask = || server.api("GET", "/api/sessions", &key.text, None).0;
    assert_eq!(ask(), 200);
    wait_until(|| listed(&scene, &key.id)["last_used_at"].is_string());
    let shown = scene.callgate(&["key", "list"]).succeeded().stdout;
    assert!(
        shown.contains("phone") && shown.contains("valid until"),
        "{shown}"
    );
    for wrong in ["yesterday", "2020-01-01", "-3d", ""] {
        let refused = scene.callgate(&["key", "new", &format!("--expires={wrong}")]);
        assert_eq!(refused.code, Some(1), "{wrong}: {}", refused.stderr);
        assert!(
            refused.stderr.contains("is no time to come"),
            "{}",
            refused.stderr
        );
    }
    server.end();
}

/// A statement for each request would cost more than it tells.
#[test]
fn a_use_is_written_once_a_minute() {
    let scene = Scene::configured("[serve]\nlocal_metrics = true\n");
    let key = new_key(&scene, &["--scope", "read"]);
    let server = Server::start(&scene);
    let ask = || assert_eq!(server.api("GET", "/api/keys", &key.text, None).0, 403);
    let commits = || -> u64 {
        let page = server.asked("/metrics");
        let name = "callgate_store_commits_total ";
        let line = page.lines().find_map(|line| line.strip_prefix(name));
        line.unwrap().parse().unwrap()
    };
    ask();
    wait_until(|| listed(&scene, &key.id)["last_used_at"].is_string());
    let before = commits();
    for _ in 0..100 {
        ask();
    }
    // Of others, such as the sign of life of this process, there may be a few.
    let written = commits() - before;
    assert!(written < 20, "{written} commits for 100 requests");
}

/// A browser that has logged in.
struct Page<'a> {
    server: &'a Server,
    cookie: String,
}

impl<'a> Page<'a> {
    fn login(server: &'a Server, key: &str) -> Self {
        let body = json!({ "key": key }).to_string();
        let head = post(server, "/api/login", "", &body);
        let said = Connection::open("login", &server.address, &head, "HTTP/1.1 200").heard();
        let said = said.to_lowercase();
        let cookie = said.split("set-cookie: ").nth(1).unwrap();
        let cookie = cookie.split(';').next().unwrap().to_owned();
        Page { server, cookie }
    }

    fn get(&self, path: &str) -> String {
        let host = &self.server.address;
        let cookie = &self.cookie;
        format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nCookie: {cookie}\r\n\r\n")
    }

    fn status(&self, path: &str) -> String {
        let heard = Connection::open("page", &self.server.address, &self.get(path), "\r\n").heard();
        heard.split(' ').nth(1).unwrap().to_owned()
    }

    fn events(&self) -> Connection {
        let request = self.get("/api/events");
        Connection::open("events", &self.server.address, &request, "HTTP/1.1 200")
    }
}

fn post(server: &Server, path: &str, headers: &str, body: &str) -> String {
    let (host, length) = (&server.address, body.len());
    format!(
        "POST {path} HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\n{headers}\
         Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
    )
}

#[test]
fn the_page_has_a_session_of_its_own() {
    let scene = Scene::new();
    let key = new_key(&scene, &["--scope", "operator"]);
    let server = Server::start(&scene);
    let (page, other) = (
        Page::login(&server, &key.text),
        Page::login(&server, &key.text),
    );
    assert_eq!(page.status("/api/keys"), "200");
    let (_, text) = page.cookie.split_once('=').unwrap();
    assert_ne!(text, key.text);
    // Neither opens anything in the other's place.
    assert_eq!(server.api("GET", "/api/keys", text, None).0, 401);
    assert_eq!(server.api("GET", "/v1/models", text, None).0, 401);
    let forged = Page {
        server: &server,
        cookie: format!("callgate_login={}", key.text),
    };
    assert_eq!(forged.status("/api/keys"), "401");

    let (ending, staying) = (page.events(), other.events());
    let cookie = format!("Cookie: {}\r\n", page.cookie);
    let logout = post(&server, "/api/logout", &cookie, "");
    // Another's page logs nobody out, nor a request that no page of ours made.
    let foreign = logout.replace(&format!("Origin: http://{}\r\n", server.address), "");
    Connection::open("foreign", &server.address, &foreign, "HTTP/1.1 200");
    assert_eq!(page.status("/api/keys"), "200");
    Connection::open("logout", &server.address, &logout, "HTTP/1.1 200");
    wait_until(|| ending.has_ended());
    assert_eq!(page.status("/api/keys"), "401");
    assert_eq!(server.api("GET", "/api/keys", &key.text, None).0, 200);
    assert!(!staying.has_ended(), "another session goes on");
    assert_eq!(other.status("/api/keys"), "200");

    scene.callgate(&["key", "revoke", &key.id]).succeeded();
    wait_until(|| staying.has_ended());
    assert_eq!(other.status("/api/keys"), "401");
}

/// The stops of all turns, the newest first.
fn stops(server: &Server, key: &Key) -> Vec<Json> {
    let (status, turns) = server.api("GET", "/api/turns", &key.text, None);
    assert_eq!(status, 200, "{turns}");
    let turns = turns["items"].as_array().unwrap();
    turns.iter().map(|turn| turn["stop"].clone()).collect()
}

#[test]
fn what_runs_for_a_key_ends_with_it() {
    let model = FakeModel::start(5, "fine");
    let scene = Scene::configured(&model.toml());
    let (key, watcher) = (
        new_key(&scene, &["--scope", "operator"]),
        new_key(&scene, &["--scope", "read"]),
    );
    let server = Server::start(&scene);
    wait_until(|| server.api("GET", "/api/models", &watcher.text, None).0 == 200);
    // A message that is waited for, one that is not, /v1, and Socket.IO.
    let bearer = format!("Authorization: Bearer {}\r\n", key.text);
    let sending = |session: &str, wait: bool| {
        let path = format!("/api/sessions/web:FriendMessage:{session}/messages");
        post(
            &server,
            &path,
            &bearer,
            &json!({ "text": "hi", "wait": wait }).to_string(),
        )
    };
    let waiting = Connection::open("waiting", &server.address, &sending("a", true), "");
    Connection::open("sent", &server.address, &sending("b", false), "accepted");
    let asked = json!({ "model": "bare", "messages": [{ "role": "user", "content": "hi" }] });
    let asked = post(&server, "/v1/chat/completions", &bearer, &asked.to_string());
    let completion = Connection::open("/v1", &server.address, &asked, "");
    let engine = format!(
        "GET /socket.io/?EIO=4&transport=websocket HTTP/1.1\r\nHost: {}\r\n{UPGRADE}\r\n",
        server.address
    );
    let mut client = Connection::open("client", &server.address, &engine, "\"sid\"");
    let auth = json!({ "clientId": "app", "key": key.text });
    client.say(&format!("40/llm,{auth}"));
    client.wait_for("40/llm,{\"sid\"");
    let request = json!(["LLM_REQUEST", { "requestId": "r", "message": "hi", "target": "server" }]);
    client.say(&format!("42/llm,1{request}"));
    client.wait_for("43/llm,1");
    wait_until(|| model.requests().len() == 4);
    assert_eq!(stops(&server, &watcher), vec![Json::Null; 4]);

    scene.callgate(&["key", "revoke", &key.id]).succeeded();
    wait_until(|| stops(&server, &watcher).iter().all(Json::is_string));
    assert_eq!(stops(&server, &watcher), vec![json!("cancelled"); 4]);
    waiting.wait_for("HTTP/1.1 401");
    waiting.wait_for("revoked or has expired");
    completion.wait_for("HTTP/1.1 401");
    completion.wait_for("revoked or has expired");
}

/// The model never answers, so that each of them is still under way when the server is killed.
#[test]
fn a_turn_that_is_taken_up_again_ends_with_its_key() {
    let model = FakeModel::start(100, "never");
    let scene = Scene::configured(&model.toml());
    let [early, late, other] = [(); 3].map(|()| new_key(&scene, &["--scope", "operator"]));
    let watcher = new_key(&scene, &["--scope", "read"]);
    let mut server = Server::start(&scene);
    for (session, key) in [("early", &early), ("late", &late), ("other", &other)] {
        let path = format!("/api/sessions/web:FriendMessage:{session}/messages");
        let message = json!({ "text": "hi", "wait": false });
        let (status, said) = server.api("POST", &path, &key.text, Some(&message));
        assert_eq!((status, &said["stop"]), (200, &json!("accepted")));
    }
    wait_until(|| model.requests().len() == 3);
    let mut child = server.child.take().unwrap();
    child.kill().unwrap();
    child.wait().unwrap();

    // One key is over before anybody goes on with its turn, one afterwards, one stays.
    scene.callgate(&["key", "revoke", &early.id]).succeeded();
    let server = Server::start(&scene);
    wait_until(|| model.requests().len() >= 5);
    wait_until(|| stops(&server, &watcher).contains(&json!("cancelled")));
    let over = |server: &Server| {
        let stops = stops(server, &watcher);
        stops.iter().filter(|stop| stop.is_string()).count()
    };
    assert_eq!(over(&server), 1);
    scene.callgate(&["key", "revoke", &late.id]).succeeded();
    wait_until(|| over(&server) == 2);
    assert_eq!(server.api("GET", "/api/sessions", &other.text, None).0, 200);
    assert_eq!(over(&server), 2, "nobody ended the third");
}

#[test]
fn what_runs_for_a_key_ends_when_it_expires() {
    let model = FakeModel::start(1, "fine");
    let scene = Scene::configured(&model.toml());
    let watcher = new_key(&scene, &["--scope", "read"]);
    let server = Server::start(&scene);
    wait_until(|| server.api("GET", "/api/models", &watcher.text, None).0 == 200);
    let key = new_key(&scene, &["--scope", "operator", "--expires", "3s"]);
    let bearer = format!("Authorization: Bearer {}\r\n", key.text);
    let events = format!(
        "GET /api/events HTTP/1.1\r\nHost: {}\r\n{bearer}\r\n",
        server.address
    );
    let events = Connection::open("events", &server.address, &events, "HTTP/1.1 200");
    let path = "/api/sessions/web:FriendMessage:a/messages";
    let message = json!({ "text": "hi", "wait": false }).to_string();
    let message = post(&server, path, &bearer, &message);
    Connection::open("sent", &server.address, &message, "accepted");
    wait_until(|| events.has_ended());
    wait_until(|| stops(&server, &watcher) == [json!("cancelled")]);
    assert_eq!(server.api("GET", "/api/sessions", &key.text, None).0, 401);
    let shown = scene.callgate(&["key", "list"]).succeeded().stdout;
    assert!(shown.contains("expired"), "{shown}");
}

#[test]
fn an_address_shows_only_so_many_wrong_keys() {
    let scene = Scene::new();
    let key = new_key(&scene, &["--scope", "operator"]);
    let server = Server::start(&scene);
    let ask = |path: &str, key: &str| server.api("GET", path, key, None).0;
    assert_eq!(ask("/api/keys", &key.text), 200);
    // Over Socket.IO as over the API, and what was shown to one counts for all.
    assert_eq!(ask("/v1/models", "callgate_wrong"), 401);
    let engine = format!(
        "GET /socket.io/?EIO=4&transport=websocket HTTP/1.1\r\nHost: {}\r\n{UPGRADE}\r\n",
        server.address
    );
    // What came of each; one connection is refused only so often.
    let show = |keys: &[String]| -> Vec<String> {
        let mut client = Connection::open("client", &server.address, &engine, "\"sid\"");
        for (shown, key) in keys.iter().enumerate() {
            let auth = json!({ "clientId": "app", "key": key });
            client.say(&format!("40/llm,{auth}"));
            wait_until(|| client.heard().matches("/llm,{").count() == shown + 1);
        }
        let heard = client.heard();
        heard.split("/llm,").skip(1).map(str::to_owned).collect()
    };
    let wrong: Vec<String> = (0..300).map(|n| format!("callgate_{n}")).collect();
    let refused: Vec<String> = wrong.chunks(50).flat_map(show).collect();
    assert!(refused[0].contains("Invalid key."), "{}", refused[0]);
    assert!(
        refused[299].contains("Too many wrong keys"),
        "{}",
        refused[299]
    );
    for path in ["/api/keys", "/v1/models"] {
        assert_eq!(ask(path, "callgate_another"), 429, "{path}");
    }
    let seated = show(std::slice::from_ref(&key.text));
    assert!(seated[0].contains("sid"), "{seated:?}");
    assert_eq!(
        ask("/api/keys", &key.text),
        200,
        "a key that is in use goes on"
    );
}
