//! The same method from every side: code, a model's tool call, Socket.IO, HTTP, MCP and the command
//! line. Each call is one row of the journal, and one permission holds for all of them.

use std::{
    cell::Cell,
    io::{Read, Write},
    net::TcpStream,
};

use callgate_contract::{JournalId, SessionKey, json as value_json};
use callgate_gate::recorded_arguments;
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
const CLI: &str = "cli:FriendMessage:operator";
const WEB: &str = "web:FriendMessage:operator";
const REMOTE: &str = "remote:FriendMessage:desk";
const MCP: &str = "mcp:FriendMessage:operator";
const SESSIONS: [&str; 4] = [CLI, WEB, REMOTE, MCP];
const REFUSED: &str = "was denied by the operator";

/// A side: what its calls name the note, how it is made, and what the record is to say of it.
struct Side {
    name: &'static str,
    call: fn(&Stage) -> String,
    session: &'static str,
    journal: &'static str,
}

const fn side(
    name: &'static str,
    session: &'static str,
    journal: &'static str,
    call: fn(&Stage) -> String,
) -> Side {
    Side {
        name,
        call,
        session,
        journal,
    }
}

const SIDES: [Side; 7] = [
    side("code", CLI, "run", Stage::code),
    side("tool", CLI, "turn", Stage::tool_call),
    side("socket", REMOTE, "alone", Stage::socket_io),
    side("http", WEB, "alone", Stage::http),
    side("mcp", MCP, "alone", Stage::mcp),
    side("pipe", MCP, "alone", Stage::pipe),
    side("cli", CLI, "alone", Stage::command_line),
];

struct Stage {
    scene: Scene,
    server: Server,
    /// With which remote callers come.
    key: String,
    /// Under which id they come by Socket.IO, which is that key's own.
    client: &'static str,
    /// What is to be remembered.
    text: Cell<&'static str>,
}

/// The newest call on record: its chat, what its journal is of, what it was to remember, and how it
/// ended.
#[derive(Debug)]
struct Row {
    session: String,
    journal: &'static str,
    name: Json,
    error: Option<String>,
}

impl Stage {
    /// With a model that calls the method by a tool, twice.
    fn open() -> Self {
        let scene = Scene::new();
        let call = |number: u32| {
            json!({ "tool_calls": [{
                "id": format!("call-{number}"),
                "type": "function",
                "function": {
                    "name": "remember",
                    "arguments": json!({ "name": "tool", "text": "x" }).to_string(),
                },
            }] })
        };
        let done = json!({ "content": "done" });
        let model = scene.script(&[call(1), done.clone(), call(2), done]);
        let toml = format!("{CONFIG}\n[models]\ndefault = \"{model}\"\n");
        std::fs::write(scene.data().join("callgate.toml"), toml).unwrap();
        let made = scene.callgate(&["key", "new", "--scope", "operator", "--json"]);
        let key = made.succeeded().json()["key"].as_str().unwrap().to_owned();
        let server = Server::start(&scene);
        let stage = Stage {
            scene,
            server,
            key,
            client: "desk",
            text: Cell::new("x"),
        };
        wait_until(|| stage.server.api("GET", "/api/models", &stage.key, None).0 == 200);
        stage
    }

    /// The operator's word in every chat, from now on.
    fn decide(&self, then: &str) {
        let add = ["rule", "add", then, "--method", "remember"];
        self.scene.callgate(&add).succeeded();
    }

    /// Calls of the method on record.
    fn rows(&self) -> usize {
        self.scene.stored(async |store| {
            let calls = store.journal().calls_of(METHOD, 100).await.unwrap();
            calls.len()
        })
    }

    fn newest(&self) -> Row {
        self.scene.stored(async |store| {
            let journal = store.journal();
            let call = journal.calls_of(METHOD, 1).await.unwrap().pop().unwrap();
            let of = if call.turn == Some(call.journal) {
                "turn"
            } else {
                match journal.run(call.journal).await.unwrap().start.code {
                    Some(_) => "run",
                    None => "alone",
                }
            };
            let recorded = journal.recorded(call.journal).await.unwrap();
            let recorded = recorded
                .into_iter()
                .find(|it| it.intent.sequence == call.sequence);
            let given = recorded_arguments(&recorded.unwrap().intent.arguments).unwrap();
            let named = given.named.iter().find(|(name, _)| name == "name");
            let name = given.positional.first().or(named.map(|(_, value)| value));
            Row {
                session: call.session.unwrap().to_string(),
                journal: of,
                name: value_json::to_json(name.unwrap()),
                error: call.ended.unwrap().error,
            }
        })
    }

    /// What is remembered in all chats: name and text.
    fn notes(&self) -> Vec<(String, String)> {
        self.scene.stored(async |store| {
            let mut notes = Vec::new();
            for session in SESSIONS {
                let session = session.parse::<SessionKey>().unwrap();
                let of_session = store.notes().list(&session).await.unwrap();
                notes.extend(of_session.into_iter().map(|note| (note.name, note.text)));
            }
            notes
        })
    }

    /// Calls from every side; `refused` is what each is to be told, or nothing.
    fn everywhere(&self, refused: Option<&str>) {
        for side in SIDES {
            let before = self.rows();
            let told = (side.call)(self);
            assert_eq!(self.rows(), before + 1, "one row for {}: {told}", side.name);
            let row = self.newest();
            assert_eq!(row.session, side.session, "{}: {row:?}", side.name);
            assert_eq!(row.journal, side.journal, "{}: {row:?}", side.name);
            assert_eq!(row.name, side.name, "{row:?}");
            match (refused, &row.error) {
                (None, None) => assert!(told.contains("Remembered"), "{}: {told}", side.name),
                (Some(why), Some(error)) => {
                    assert!(
                        told.contains(why) && error.contains(why),
                        "{}: {told}",
                        side.name
                    );
                    assert!(!told.contains("Remembered"), "{}: {told}", side.name);
                }
                _ => panic!("{}: {row:?} {told}", side.name),
            }
        }
    }

    fn arguments(&self, name: &str) -> Json {
        json!({ "name": name, "text": self.text.get() })
    }

    fn code(&self) -> String {
        let code = format!("print(remember('code', '{}'))", self.text.get());
        self.scene.run(&code, &["--json"]).stdout
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
        let body = json!({ "arguments": self.arguments("http") });
        let path = "/api/methods/remember/call";
        let (_, answer) = self.server.api("POST", path, &self.key, Some(&body));
        answer.to_string()
    }

    fn command_line(&self) -> String {
        let arguments = self.arguments("cli").to_string();
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
                "name": "remember", "arguments": self.arguments("mcp"),
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
                "name": "remember", "arguments": self.arguments("pipe"),
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
        let auth = json!({ "clientId": self.client, "key": self.key });
        self.exchange("POST", &path, &[], &format!("40/function_call,{auth}"));
        let call = json!(["FUNCTION_CALL", {
            "requestId": JournalId::fresh().0, "functionName": "remember",
            "args": ["socket", self.text.get()], "target": "server",
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

#[test]
fn one_permission_and_one_row_on_every_side() {
    let mut stage = Stage::open();
    stage.decide("allow");
    stage.everywhere(None);
    let mut done = stage.notes();
    let expected = SIDES.map(|side| (side.name.to_owned(), "x".to_owned()));
    done.sort();
    let mut expected = Vec::from(expected);
    expected.sort();
    assert_eq!(done, expected, "each did it, once");

    stage.decide("deny");
    stage.text.set("y");
    stage.everywhere(Some(REFUSED));

    // What a key does not hold is refused before anybody's permission is looked for.
    stage.decide("allow");
    let made = stage
        .scene
        .callgate(&["key", "new", "--scope", "method:now", "--json"]);
    stage.key = made.succeeded().json()["key"].as_str().unwrap().to_owned();
    stage.client = "clock";
    for (told, why) in [
        (stage.socket_io(), "needs a key that may call it"),
        (stage.http(), "this key does not hold the scope"),
        (stage.mcp(), "no tool 'remember' is for this key"),
    ] {
        assert!(told.contains(why), "{told}");
    }
    let mut undone = stage.notes();
    undone.sort();
    assert_eq!(undone, expected, "nobody did what was refused");
}
