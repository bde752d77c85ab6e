//! Whoever has a key takes up no more than there is: bodies as large as a route needs, calls as many as a
//! key may make, a journal as large as the operator wants it, and memory for what has really come.

use std::{
    io::{Read, Write},
    net::TcpStream,
};

use serde_json::{Value as Json, json};

use crate::{
    connection::{Connection, UPGRADE},
    scene::{Scene, wait_until},
    server::Server,
};

struct Site {
    scene: Scene,
    server: Server,
    key: String,
}

impl Site {
    fn start(toml: &str) -> Self {
        let scene = Scene::configured(toml);
        let made = scene.callgate(&["key", "new", "--scope", "operator", "--json"]);
        let key = made.succeeded().json()["key"].as_str().unwrap().to_owned();
        let server = Server::start(&scene);
        let site = Site { scene, server, key };
        wait_until(|| site.server.api("GET", "/api/models", &site.key, None).0 == 200);
        site
    }

    fn call(&self, method: &str, arguments: &Json) -> u16 {
        let body = json!({ "arguments": arguments });
        let path = format!("/api/methods/{method}/call");
        self.server.api("POST", &path, &self.key, Some(&body)).0
    }

    /// Bytes that the server has in memory.
    fn memory(&self) -> u64 {
        let id = self.server.child.as_ref().unwrap().id();
        let status = std::fs::read_to_string(format!("/proc/{id}/status")).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kilobytes = line.unwrap().trim().trim_end_matches(" kB");
        kilobytes.parse::<u64>().unwrap() << 10
    }
}

#[test]
fn a_body_is_as_large_as_its_route_needs() {
    let site = Site::start("");
    let put = |path: &str, length: usize| {
        let mut stream = TcpStream::connect(&site.server.address).unwrap();
        let (host, key) = (&site.server.address, &site.key);
        write!(
            stream,
            "PUT {path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {key}\r\n\
             Content-Type: application/json\r\nContent-Length: {length}\r\n\
             Connection: close\r\n\r\n"
        )
        .unwrap();
        // It may be refused before all of it is there.
        let _ = stream.write_all(&vec![b' '; length]);
        let mut answer = String::new();
        let _ = stream.read_to_string(&mut answer);
        answer.split(' ').nth(1).unwrap_or_default().to_owned()
    };
    let file = "/api/sessions/web:FriendMessage:a/files/uploads/a.txt";
    assert_eq!(put(file, 2 << 20), "200");
    assert_eq!(put("/api/settings", 2 << 20), "413");
    assert_eq!(put("/api/settings", 1 << 10), "400");
}

#[test]
fn failing_calls_leave_little_behind() {
    const CALLS: u64 = 100;
    const SENT: u64 = 200_000;
    let site = Site::start("");
    let large = json!({ "nothing": "x".repeat(SENT as usize) });
    for _ in 0..CALLS {
        assert_eq!(site.call("now", &large), 400);
    }
    let (_, listed) = site.server.api("GET", "/api/statistics", &site.key, None);
    assert!(listed.to_string().contains("builtin/now"), "{listed}");
    let Site { scene, server, .. } = site;
    server.end();
    let size = std::fs::metadata(scene.data().join("callgate.db"))
        .unwrap()
        .len();
    assert!(size < CALLS * SENT / 4, "{size} bytes on disk");
}

#[test]
fn the_journal_is_pruned_while_the_server_runs() {
    let site = Site::start("[journal]\nkeep = 3\n");
    for _ in 0..20 {
        assert_eq!(site.call("now", &json!({})), 200);
    }
    let kept = || {
        let path = "/api/statistics";
        let (_, listed) = site.server.api("GET", path, &site.key, None);
        let methods = listed["items"].as_array().cloned().unwrap_or_default();
        let found = methods.iter().find(|it| it["method"] == "builtin/now");
        found.map_or(0, |it| it["calls"].as_u64().unwrap())
    };
    assert_eq!(kept(), 20);
    wait_until(|| kept() == 3);
}

#[test]
fn a_key_makes_so_many_calls_on_all_surfaces_together() {
    let site = Site::start("[remote]\ncalls_per_minute = 6\n");
    let nothing = json!({});
    let post = |headers: &str, body: &Json| {
        let (host, key, body) = (&site.server.address, &site.key, body.to_string());
        let request = format!(
            "POST /mcp HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {key}\r\n{headers}\
             Accept: application/json, text/event-stream\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
            body.len()
        );
        let answer = Connection::open("MCP", host, &request, "HTTP/1.1 2");
        wait_until(|| answer.has_ended());
        answer.heard()
    };
    let hello = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": { "name": "test", "version": "1" },
    } });
    let begun = post("", &hello).to_lowercase();
    let session = begun.split("mcp-session-id: ").nth(1).unwrap();
    let session = format!("Mcp-Session-Id: {}\r\n", session.lines().next().unwrap());
    let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    post(&session, &ready);
    let tool = || {
        let call = json!({ "name": "now", "arguments": nothing });
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call });
        post(&session, &body)
    };
    let engine = format!(
        "GET /socket.io/?EIO=4&transport=websocket HTTP/1.1\r\nHost: {}\r\n{UPGRADE}\r\n",
        site.server.address
    );
    let mut client = Connection::open("client", &site.server.address, &engine, "\"sid\"");
    let auth = json!({ "clientId": "app", "key": site.key });
    client.say(&format!("40/function_call,{auth}"));
    client.wait_for("40/function_call,{\"sid\"");
    let mut ask = |id: u32| {
        let call = json!({ "requestId": id, "functionName": "readJsonFromFile", "args": ["none.json"], "target": "server" });
        client.say(&format!(
            "42/function_call,{id}{}",
            json!(["FUNCTION_CALL", call])
        ));
        client.wait_for(&format!("43/function_call,{id}["));
        client.heard()
    };
    assert_eq!(site.call("now", &nothing), 200);
    // One comes back every ten seconds, on a slow machine more than one while we ask.
    assert!((0..20).any(|_| site.call("now", &nothing) == 429));
    assert!((0..20).any(|_| tool().contains("too many calls")));
    assert!((1..20).any(|id| ask(id).contains("too many calls")));
}

#[test]
fn what_is_withheld_takes_no_memory() {
    const CONNECTIONS: usize = 200;
    let site = Site::start("");
    let (host, key) = (&site.server.address, &site.key);
    let before = site.memory();
    let file = "/api/sessions/web:FriendMessage:a/files/uploads/a.txt";
    let body = format!(
        "PUT {file} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {key}\r\n\
         Content-Length: 67000000\r\n\r\nx"
    );
    let head = format!("GET /healthz HTTP/1.1\r\nHost: {host}\r\nX-Slow: ");
    let mut held = Vec::new();
    for place in 0..CONNECTIONS {
        let mut stream = TcpStream::connect(host).unwrap();
        let said = if place % 2 == 0 { &body } else { &head };
        stream.write_all(said.as_bytes()).unwrap();
        held.push(stream);
    }
    // Somebody who comes after them all has been seen.
    assert!(site.server.asked("/healthz").starts_with("HTTP/1.1 200"));
    let grown = site.memory().saturating_sub(before);
    assert!(
        grown < 64 << 20,
        "{grown} bytes for {CONNECTIONS} connections"
    );
}
