//! Before a key is shown, little is taken and nothing is waited for long: on every listener, and
//! whatever is asked for.

use std::time::Duration;

use serde_json::json;

use crate::{
    connection::{Connection, UPGRADE},
    scene::Scene,
    server::Server,
};

/// Ten and twenty seconds are what the server allows; a busy machine may take its time.
const SOON: Duration = Duration::from_secs(40);
/// Long before a connection without a seat is hung up on anyway.
const AT_ONCE: Duration = Duration::from_secs(10);

struct Site {
    server: Server,
    /// The listener for remote clients alone.
    remote: String,
    /// Its data directory, which goes with it.
    _scene: Scene,
}

impl Site {
    fn start() -> Self {
        let scene = Scene::configured("[remote]\nlisten = \"127.0.0.1:0\"\n");
        let server = Server::start(&scene);
        let remote = server.ready["remote"].as_str().unwrap();
        let remote = remote.strip_prefix("http://").unwrap().to_owned();
        Site {
            server,
            remote,
            _scene: scene,
        }
    }

    fn say(&self, what: &'static str, address: &str, request: &str) -> Connection {
        Connection::open(what, address, request, "")
    }

    fn post(&self, path: &str, length: usize, body: &str) -> String {
        let address = &self.server.address;
        format!(
            "POST {path} HTTP/1.1\r\nHost: {address}\r\nOrigin: http://{address}\r\n\
             Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
        )
    }

    /// A web socket of Socket.IO in no namespace.
    fn socket(&self, what: &'static str) -> Connection {
        let address = &self.remote;
        let path = "/socket.io/?EIO=4&transport=websocket";
        let head = format!("GET {path} HTTP/1.1\r\nHost: {address}\r\n{UPGRADE}\r\n");
        Connection::open(what, address, &head, "\"sid\"")
    }

    /// The id of a new connection that polls.
    fn polling(&self) -> String {
        let answer = self.poll("");
        let sid = answer.split("\"sid\":\"").nth(1);
        let sid = sid.unwrap_or_else(|| panic!("{answer}"));
        sid.split('"').next().unwrap().to_owned()
    }

    fn poll(&self, more: &str) -> String {
        let path = format!("/socket.io/?EIO=4&transport=polling{more}");
        self.server
            .at(&self.remote, &path, &[("Host", &self.remote)])
    }

    fn take_seat(&self, sid: &str) {
        self.send(sid, "40/function_call,{}")
            .wait_for("HTTP/1.1 200");
        let mut heard = String::new();
        // Before it there may be a ping.
        for _ in 0..3 {
            heard += &self.poll(&format!("&sid={sid}"));
            if heard.contains("40/function_call") {
                return;
            }
        }
        panic!("no seat: {heard}");
    }

    fn send(&self, sid: &str, body: &str) -> Connection {
        let path = format!("/socket.io/?EIO=4&transport=polling&sid={sid}");
        let request = self.post(&path, body.len(), body);
        let request = request.replace(&self.server.address, &self.remote);
        Connection::open("post", &self.remote, &request, "HTTP/1.1 ")
    }
}

#[test]
fn who_sends_half_a_request_or_joins_nothing_is_hung_up_on() {
    let site = Site::start();
    let half = "GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Slow: ";
    let (main, remote) = (&site.server.address, &site.remote);
    let slow = site.post("/api/login", 80, "{");
    let waiting = [
        site.say("half a head", main, half),
        site.say("nothing", main, ""),
        site.say("half a head for remote clients", remote, half),
        site.say("half a login", main, &slow),
        site.socket("a connection without a namespace"),
    ];
    for connection in &waiting {
        connection.ends_within(SOON);
    }
    let login = waiting[3].heard();
    assert!(login.starts_with("HTTP/1.1 408"), "{login}");
}

#[test]
fn who_has_no_key_is_heard_only_briefly() {
    let site = Site::start();
    let address = &site.server.address;
    let long = json!({ "key": "x".repeat(5_000) }).to_string();
    let login = site.post("/api/login", long.len(), &long);
    Connection::open("a long login", address, &login, "HTTP/1.1 413").ends_within(SOON);
    // Not a byte of the body is waited for.
    for path in [
        "/api/webhook/any",
        "/api/sessions/web:FriendMessage:a/messages",
        "/v1/chat/completions",
        "/mcp",
        "/plugins/any.plugin/",
    ] {
        let large = site.post(path, 8 << 20, "");
        Connection::open("a large body", address, &large, "HTTP/1.1 401").ends_within(SOON);
    }
}

#[test]
fn a_connection_without_a_seat_sends_little() {
    let site = Site::start();
    let mut attached = site.socket("attachments");
    attached.say("451-/function_call,[\"x\",{\"_placeholder\":true,\"num\":0}]");
    attached.ends_within(AT_ONCE);
    let long = "x".repeat(20_000);
    let mut large = site.socket("a large packet");
    large.say(&format!("40/function_call,{{\"clientId\":\"{long}\"}}"));
    large.ends_within(AT_ONCE);
    let sid = site.polling();
    site.send(&sid, &format!("40/function_call,[{}]", long.repeat(4)))
        .wait_for("HTTP/1.1 413");

    // Seated, as a guest of this machine is, it may send what it likes.
    let mut seated = site.socket("a seat");
    seated.say("40/function_call,{}");
    seated.wait_for("40/function_call,{\"sid\"");
    seated.say(&format!("42/function_call,7[\"NONE\",\"{long}\"]"));
    seated.wait_for("43/function_call,7[");
}

#[test]
fn an_address_has_only_so_many_connections_without_a_seat() {
    let site = Site::start();
    let first = site.polling();
    for _ in 1..256 {
        site.polling();
    }
    let many = site.polling();
    let answer = site.poll(&format!("&sid={many}"));
    assert!(answer.starts_with("HTTP/1.1 400"), "{answer}");
    // One that takes a seat makes room.
    site.take_seat(&first);
    let next = site.polling();
    site.take_seat(&next);
}
