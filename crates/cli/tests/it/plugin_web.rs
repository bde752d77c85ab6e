//! Routes and webhooks of plugins, over HTTP.

use std::{
    io::{Read, Write},
    net::TcpStream,
};

use serde_json::json;

use crate::{
    sandbox_methods::{with_packages, written},
    server::Server,
};

const ROUTES: &str = r#"
from fastapi import APIRouter, Request, WebSocket

hooked = []


@plugin.mount_router()
def routes() -> APIRouter:
    router = APIRouter()

    @router.get("/hello")
    async def hello(request: Request, name: str = "you"):
        seen = {k: v for k, v in request.headers.items() if k in ("cookie", "authorization")}
        return {"hello": name, "user": request.headers.get("x-callgate-user"), "seen": seen}

    @router.post("/size")
    async def size(request: Request):
        return len(await request.body())

    @router.websocket("/echo")
    async def echo(socket: WebSocket):
        await socket.accept()
        text = await socket.receive_text()
        await socket.send_text(f"{text} {socket.headers['x-callgate-user']}")
        await socket.close()

    @router.get("/hooked")
    async def what():
        return hooked

    return router


@plugin.mount_webhook_method("ping", "ping")
async def ping(_ctx: AgentCtx):
    """Remembers what came."""
    hooked.append(_ctx.webhook_request.body)
"#;

#[test]
fn a_plugin_serves_pages_and_hears_webhooks_of_those_who_hold_a_key() {
    let scene = with_packages();
    let plugin = written(&scene, "pages", ROUTES);
    let made = scene.callgate(&["key", "new", "--scope", "operator", "--json"]);
    let key = made.succeeded().json()["key"].as_str().unwrap().to_owned();
    let server = Server::start_with(&scene, &["--plugin", &plugin]);
    let get = |path: &str| server.api("GET", path, &key, None);

    let (status, answer) = get("/plugins/t.pages/hello?name=ann");
    let expected = json!({ "hello": "ann", "user": "operator", "seen": {} });
    assert_eq!((status, answer), (200, expected));
    let none = server.api("GET", "/plugins/t.pages/hello", "callgate_no", None);
    assert_eq!(none.0, 401);
    let forged = [
        ("Host", server.address.as_str()),
        ("Authorization", &format!("Bearer {key}")),
        ("X-Callgate-User", "root"),
    ];
    let page = server.get("/plugins/t.pages/hello", &forged);
    assert!(page.contains(r#""user":"operator""#), "{page}");
    assert!(page.contains("sandbox allow-scripts"), "{page}");
    assert_eq!(get("/plugins/t.pages/none").0, 404);
    assert_eq!(get("/plugins/nobody.here/").0, 404);

    let made = server.api(
        "POST",
        "/api/plugins/t.pages/ticket",
        &key,
        Some(&json!({})),
    );
    let address = made.1["address"].as_str().unwrap().to_owned();
    // As a page asks that runs as nobody.
    let nobody = [("Host", server.address.as_str()), ("Origin", "null")];
    let page = server.get(&format!("{address}hello"), &nobody);
    assert!(page.contains(r#""user":"operator""#), "{page}");
    assert!(
        page.to_lowercase()
            .contains("access-control-allow-origin: *"),
        "{page}"
    );
    assert!(page.contains("sandbox allow-scripts"), "{page}");
    let elsewhere = address.replace("t.pages", "t.others");
    let forged = format!("{}x", address.trim_end_matches("/t.pages/"));
    let stranger = [("Host", "evil.example"), ("Origin", "null")];
    for (path, headers, status) in [
        (elsewhere, &nobody, "401"),
        (format!("{forged}/t.pages/hello"), &nobody, "401"),
        (format!("{address}hello"), &stranger, "421"),
        ("/plugins/t.pages/hello".to_owned(), &nobody, "403"),
    ] {
        let page = server.get(&path, headers);
        assert!(
            page.starts_with(&format!("HTTP/1.1 {status}")),
            "{path}: {page}"
        );
    }

    assert_eq!(echo(&server, &key), "hi operator");
    assert!(!socket(&server, "callgate_no").1.starts_with("HTTP/1.1 101"));
    let long = "x".repeat(17 << 20);
    let (status, _) = server.api("POST", "/plugins/t.pages/size", &key, Some(&json!(long)));
    assert!(status >= 400, "{status}");

    let body = json!({ "event": "push" });
    let (status, called) = server.api("POST", "/api/webhook/ping", &key, Some(&body));
    assert_eq!((status, &called["called"]), (200, &json!(["t.pages"])));
    assert_eq!(get("/plugins/t.pages/hooked").1, json!([body]));
    let refused = server.api("POST", "/api/webhook/ping", "callgate_no", Some(&body));
    assert_eq!(refused.0, 401);
    assert_eq!(
        server.api("POST", "/api/webhook/none", &key, Some(&body)).0,
        404
    );
    server.end();

    // Each of them is on record as a call by the plugin.
    let counted = scene.stored(async |store| {
        let mut counted = Vec::new();
        for method in ["plugin:t.pages/route", "plugin:t.pages/webhook"] {
            let calls = store.journal().calls_of(method, 100).await.unwrap();
            counted.push(calls.len());
        }
        counted
    });
    assert!(counted[0] >= 5, "{counted:?}");
    assert_eq!(counted[1], 1);
}

/// A connection whose upgrade was asked for, and the head of the answer.
fn socket(server: &Server, key: &str) -> (TcpStream, String) {
    let mut stream = TcpStream::connect(&server.address).unwrap();
    let asked = format!(
        "GET /plugins/t.pages/echo HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {key}\r\n\
         Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
         Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
        server.address
    );
    stream.write_all(asked.as_bytes()).unwrap();
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).unwrap();
        head.push(byte[0]);
    }
    (stream, String::from_utf8(head).unwrap())
}

/// What the plugin says to "hi" on a web socket.
fn echo(server: &Server, key: &str) -> String {
    let (mut stream, head) = socket(server, key);
    assert!(head.starts_with("HTTP/1.1 101"), "{head}");
    stream
        .write_all(&[0x81, 0x82, 0, 0, 0, 0, b'h', b'i'])
        .unwrap();
    let mut frame = [0; 2];
    stream.read_exact(&mut frame).unwrap();
    assert_eq!(frame[0], 0x81);
    let mut text = vec![0; usize::from(frame[1])];
    stream.read_exact(&mut text).unwrap();
    String::from_utf8(text).unwrap()
}
