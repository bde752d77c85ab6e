//! The same method from every side: code, a model's tool call, Socket.IO, HTTP, MCP and the command
//! line. Each call is one row of the journal, and one permission holds for all of them.

use std::{
    io::{Read, Write},
    net::TcpStream,
};

use callgate_contract::{JournalId, SessionKey};
use callgate_store::{Ask, Decision};
use serde_json::{Value as Json, json};

use crate::{
    scene::{Scene, wait_until},
    server::Server,
};

const METHOD: &str = "builtin/remember";
const CONFIG: &str = "\
[approval]
ask = [\"remember\"]

[remote]
methods = [\"remember\"]
";
/// As each side names the chat that its calls belong to.
const SESSIONS: [&str; 4] = [
    "cli:FriendMessage:operator",
    "web:FriendMessage:operator",
    "remote:FriendMessage:desk",
    "mcp:FriendMessage:operator",
];
const REFUSED: &str = "was denied by the operator";

struct Stage {
    scene: Scene,
    server: Server,
    key: String,
}

impl Stage {
    /// With a model that calls the method by a tool, twice.
    fn open() -> Self {
        let scene = Scene::new();
        let call = |number: u32| {
            json!({ "tool_calls": [{
                "id": format!("call-{number}"),
                "type": "function",
                "function": { "name": "remember", "arguments": arguments("tool").to_string() },
            }] })
        };
        let done = json!({ "content": "done" });
        let model = scene.script(&[call(1), done.clone(), call(2), done]);
        let toml = format!("{CONFIG}\n[models]\ndefault = \"{model}\"\n");
        std::fs::write(scene.data().join("callgate.toml"), toml).unwrap();
        let made = scene.callgate(&["key", "new", "--scope", "operator", "--json"]);
        let key = made.succeeded().json()["key"].as_str().unwrap().to_owned();
        let server = Server::start(&scene);
        let stage = Stage { scene, server, key };
        wait_until(|| stage.server.api("GET", "/api/models", &stage.key, None).0 == 200);
        stage
    }

    /// The operator's answer in every chat, from now on.
    fn decide(&self, decision: Decision) {
        self.scene.stored(async |store| {
            for session in SESSIONS {
                let ask = Ask {
                    journal: JournalId::fresh(),
                    sequence: 1,
                    session: session.parse::<SessionKey>().unwrap(),
                    user: "operator".to_owned(),
                    method: METHOD.to_owned(),
                    arguments: json!({}),
                };
                let asked = store.approvals().ask(&ask).await.unwrap();
                let answered = store
                    .approvals()
                    .answer(asked.id, decision, true, None)
                    .await;
                answered.unwrap();
            }
        });
    }

    /// Calls of the method on record.
    fn rows(&self) -> usize {
        self.scene.stored(async |store| {
            let calls = store.journal().calls_of(METHOD, 100).await.unwrap();
            calls.len()
        })
    }

    /// What each side was told.
    fn everywhere(&self) -> Vec<(&'static str, String)> {
        let mut told = Vec::new();
        let mut side = |name: &'static str, answer: String| {
            let rows = self.rows();
            told.push((name, answer, rows));
        };
        let before = self.rows();
        side("code", self.code());
        side("tool call", self.tool_call());
        side("Socket.IO", self.socket_io());
        side("HTTP", self.http());
        side("MCP", self.mcp());
        side("MCP over a pipe", self.pipe());
        side("command line", self.command_line());
        for (index, (name, answer, rows)) in told.iter().enumerate() {
            assert_eq!(*rows, before + index + 1, "one row for {name}: {answer}");
        }
        told.into_iter()
            .map(|(name, answer, _)| (name, answer))
            .collect()
    }

    fn code(&self) -> String {
        let said = self.scene.run("print(remember('code', 'x'))", &["--json"]);
        said.stdout
    }

    fn tool_call(&self) -> String {
        self.scene
            .callgate(&["send", "go", "--mode", "tools", "--json"])
            .succeeded();
        // The script answers whatever it is told; the record says what that was.
        self.scene.stored(async |store| {
            let mut calls = store.journal().calls_of(METHOD, 1).await.unwrap();
            let ended = calls.pop().unwrap().ended.unwrap();
            ended.error.unwrap_or_else(|| "Remembered".to_owned())
        })
    }

    fn http(&self) -> String {
        let body = json!({ "arguments": arguments("http") });
        let path = "/api/methods/remember/call";
        let (_, answer) = self.server.api("POST", path, &self.key, Some(&body));
        answer.to_string()
    }

    fn command_line(&self) -> String {
        let arguments = arguments("cli").to_string();
        let said = self
            .scene
            .callgate(&["call", "remember", "--args", &arguments, "--json"]);
        said.stdout
    }

    /// By a request that stands for itself, as the newest version of the protocol has them.
    fn mcp(&self) -> String {
        let version = "2026-07-28";
        let request = json!({
            "jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": {
                "name": "remember", "arguments": arguments("mcp"),
                "_meta": {
                    "io.modelcontextprotocol/protocolVersion": version,
                    "io.modelcontextprotocol/clientCapabilities": {},
                },
            },
        });
        let headers = [
            ("Authorization", format!("Bearer {}", self.key)),
            ("Content-Type", "application/json".to_owned()),
            ("Accept", "application/json, text/event-stream".to_owned()),
            ("Mcp-Protocol-Version", version.to_owned()),
            ("Mcp-Method", "tools/call".to_owned()),
            ("Mcp-Name", "remember".to_owned()),
        ];
        self.exchange("POST", "/mcp", &headers, &request.to_string())
    }

    /// By a client that started `callgate mcp`, which speaks through the server.
    fn pipe(&self) -> String {
        let lines = [
            json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
                "protocolVersion": "2025-11-25", "capabilities": {},
                "clientInfo": { "name": "test", "version": "1" },
            } }),
            json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
            json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
                "name": "remember", "arguments": arguments("pipe"),
            } }),
        ];
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        let said = self.scene.given(&text, &["mcp"]).succeeded();
        let answers = said.lines();
        let answer = answers.iter().find(|line| line["id"] == 1);
        answer.unwrap().to_string()
    }

    /// The long-polling transport, packet by packet.
    fn socket_io(&self) -> String {
        let path = "/socket.io/?EIO=4&transport=polling";
        let opened = self.exchange("GET", path, &[], "");
        let sid = opened.split("\"sid\":\"").nth(1).unwrap();
        let sid = sid.split('"').next().unwrap();
        let path = format!("{path}&sid={sid}");
        let auth = json!({ "clientId": "desk", "key": self.key });
        self.exchange("POST", &path, &[], &format!("40/function_call,{auth}"));
        let call = json!(["FUNCTION_CALL", {
            "requestId": JournalId::fresh().0, "functionName": "remember",
            "args": ["socket", "x"], "target": "server",
        }]);
        self.exchange("POST", &path, &[], &format!("42/function_call,1{call}"));
        loop {
            let heard = self.exchange("GET", &path, &[], "");
            assert!(heard.starts_with("HTTP/1.1 200"), "{heard}");
            if let Some((_, answer)) = heard.split_once("43/function_call,1") {
                return answer.to_owned();
            }
        }
    }

    /// Head and body of the answer.
    fn exchange(&self, verb: &str, path: &str, headers: &[(&str, String)], body: &str) -> String {
        let mut stream = TcpStream::connect(&self.server.address).unwrap();
        let headers: String = headers
            .iter()
            .map(|(name, value)| format!("{name}: {value}\r\n"))
            .collect();
        write!(
            stream,
            "{verb} {path} HTTP/1.1\r\nHost: {}\r\n{headers}Content-Length: {}\r\n\
             Connection: close\r\n\r\n{body}",
            self.server.address,
            body.len(),
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }
}

fn arguments(name: &str) -> Json {
    json!({ "name": name, "text": "x" })
}

#[test]
fn one_permission_and_one_row_on_every_side() {
    let stage = Stage::open();
    stage.decide(Decision::Allow);
    for (side, told) in stage.everywhere() {
        assert!(told.contains("Remembered"), "{side}: {told}");
    }
    stage.decide(Decision::Deny);
    for (side, told) in stage.everywhere() {
        assert!(told.contains(REFUSED), "{side}: {told}");
        assert!(!told.contains("Remembered"), "{side}: {told}");
    }
}
