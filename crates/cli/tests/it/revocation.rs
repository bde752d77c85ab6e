//! A key that is revoked: everything that was opened with it ends, whatever it is, and what others
//! opened stays.

use std::{
    thread,
    time::{Duration, Instant},
};

use serde_json::{Value as Json, json};

use crate::{
    connection::{Connection, UPGRADE},
    sandbox_methods::{with_packages, written},
    scene::{Scene, wait_until},
    server::Server,
};

/// A second is promised; a busy machine may take its time.
const SOON: Duration = Duration::from_secs(3);

const ROUTES: &str = r#"
import asyncio
from fastapi import APIRouter, WebSocket
from fastapi.responses import StreamingResponse


async def ticks():
    while True:
        yield "tick\n"
        await asyncio.sleep(0.1)


@plugin.mount_router()
def routes() -> APIRouter:
    router = APIRouter()

    @router.get("/ticks")
    async def stream():
        return StreamingResponse(ticks(), media_type="text/plain")

    @router.websocket("/talk")
    async def talk(socket: WebSocket):
        await socket.accept()
        async for tick in ticks():
            await socket.send_text(tick)

    return router
"#;

struct Key {
    id: String,
    text: String,
}

impl Key {
    fn new(scene: &Scene) -> Self {
        let made = scene.callgate(&["key", "new", "--scope", "operator", "--json"]);
        let made = made.succeeded().json();
        let text = |field: &str| made[field].as_str().unwrap().to_owned();
        Key {
            id: text("id"),
            text: text("key"),
        }
    }

    fn get(&self, server: &Server, path: &str, more: &str) -> String {
        format!(
            "GET {path} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\n{more}\r\n",
            server.address, self.text
        )
    }

    fn post(&self, server: &Server, path: &str, body: &Json) -> String {
        let body = body.to_string();
        let head = self.get(
            server,
            path,
            "Accept: application/json, text/event-stream\r\n",
        );
        let head = head.replacen("GET", "POST", 1);
        let head = head.trim_end();
        let length = body.len();
        format!(
            "{head}\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
        )
    }

    fn ticket(&self, server: &Server) -> String {
        let path = "/api/plugins/t.ticks/ticket";
        let (status, made) = server.api("POST", path, &self.text, Some(&json!({})));
        assert_eq!(status, 200, "{made}");
        made["address"].as_str().unwrap().to_owned()
    }

    /// Everything that stays open.
    fn open_all(&self, server: &Server, ticket: &str) -> Vec<Connection> {
        let get = |path: &str, more: &str| self.get(server, path, more);
        let hello = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": { "name": "test", "version": "1" },
        } });
        let begun = Connection::open(
            "begin",
            &server.address,
            &self.post(server, "/mcp", &hello),
            "serverInfo",
        );
        let said = begun.heard().to_lowercase();
        let session = said.split("mcp-session-id: ").nth(1).unwrap();
        let session = session.lines().next().unwrap();
        let session = format!("Mcp-Session-Id: {session}\r\nAccept: text/event-stream\r\n");
        let asked = json!({
            "model": "coder", "stream": true,
            "messages": [{ "role": "user", "content": "go" }],
        });
        let asked = self.post(server, "/v1/chat/completions", &asked);
        let nobody = |path: &str, more: &str| {
            let path = format!("{ticket}{path}");
            let address = &server.address;
            format!("GET {path} HTTP/1.1\r\nHost: {address}\r\nOrigin: null\r\n{more}\r\n")
        };
        let socket = UPGRADE;
        let engine = get("/socket.io/?EIO=4&transport=websocket", socket);
        let mut seated = Connection::open("a seat", &server.address, &engine, "\"sid\"");
        let auth = json!({ "clientId": format!("of-{}", self.id), "key": self.text });
        seated.say(&format!("40/function_call,{auth}"));
        seated.wait_for("40/function_call,{\"sid\"");
        let talk = get("/plugins/t.ticks/talk", socket);
        vec![
            seated,
            Connection::open(
                "events",
                &server.address,
                &get("/api/events", ""),
                "HTTP/1.1 200",
            ),
            Connection::open(
                "MCP",
                &server.address,
                &get("/mcp", &session),
                "HTTP/1.1 200",
            ),
            Connection::open("/v1", &server.address, &asked, "chat.completion.chunk"),
            Connection::open(
                "route",
                &server.address,
                &get("/plugins/t.ticks/ticks", ""),
                "tick",
            ),
            Connection::open("socket", &server.address, &talk, "tick"),
            Connection::open("ticket", &server.address, &nobody("ticks", ""), "tick"),
            Connection::open(
                "ticket's socket",
                &server.address,
                &nobody("talk", socket),
                "tick",
            ),
        ]
    }
}

/// Over, or told that its seat is taken away.
fn is_over(open: &Connection) -> bool {
    open.has_ended() || open.heard().contains("41/function_call,")
}

#[test]
fn whatever_was_opened_with_a_revoked_key_ends() {
    let scene = with_packages();
    let plugin = written(&scene, "ticks", ROUTES);
    let code = "import time\nsend_message('begun')\nwhile True:\n    time.sleep(0.1)";
    let answer = json!({ "content": format!("```python\n{code}\n```") });
    let model = scene.script(&[answer.clone(), answer]);
    let toml = format!("[models]\ndefault = \"{model}\"\n");
    std::fs::write(scene.data().join("callgate.toml"), toml).unwrap();
    let coder = [
        "persona",
        "set",
        "coder",
        "--prompt",
        "You code.",
        "--mode",
        "code",
    ];
    scene.callgate(&coder).succeeded();
    let (revoked, other) = (Key::new(&scene), Key::new(&scene));
    let server = Server::start_with(&scene, &["--plugin", &plugin]);
    wait_until(|| server.api("GET", "/api/models", &other.text, None).0 == 200);
    let (ticket, others) = (revoked.ticket(&server), other.ticket(&server));
    let ending = revoked.open_all(&server, &ticket);
    let staying = other.open_all(&server, &others);

    scene.callgate(&["key", "revoke", &revoked.id]).succeeded();
    let until = Instant::now() + SOON;
    let open = || -> Vec<&str> {
        let open = ending.iter().filter(|open| !is_over(open));
        open.map(|open| open.what).collect()
    };
    while !open().is_empty() {
        assert!(Instant::now() < until, "still open: {:?}", open());
        thread::sleep(Duration::from_millis(10));
    }
    let nobody = [("Host", server.address.as_str()), ("Origin", "null")];
    let page = server.get(&format!("{ticket}ticks"), &nobody);
    assert!(page.starts_with("HTTP/1.1 401"), "{page}");

    for open in &staying {
        assert!(!is_over(open), "{} of another key ended", open.what);
    }
    // Whoever revokes their own key is told that it is done.
    let path = format!("/api/keys/{}", other.id);
    assert_eq!(server.api("DELETE", &path, &other.text, None).0, 200);
    let until = Instant::now() + SOON;
    while staying.iter().any(|open| !is_over(open)) {
        assert!(Instant::now() < until, "revoked over HTTP: still open");
        thread::sleep(Duration::from_millis(10));
    }
}
