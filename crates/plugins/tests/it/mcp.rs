//! Servers of the Model Context Protocol: a real process that comes, changes, dies and comes back.

use std::{collections::BTreeMap, path::PathBuf, time::Duration};

use callgate_contract::{Effect, Value, json as value_json};
use callgate_gate::CallError;
use callgate_plugins::mcp::{McpServers, McpSettings, Reach, Standing};
use serde_json::{Value as Json, json};

use crate::scene::Scene;

/// Speaks the protocol with nothing but the standard library.
const SERVER: &str = r#"
import json, os, sys

folder = os.environ["FOLDER"]
tools = ["plain", "look", "again", "env", "grow", "slow", "die", "fail", "my-tool"]
hints = {"look": {"readOnlyHint": True}, "again": {"idempotentHint": True}}

def say(message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)

def described(name):
    schema = {"type": "object", "properties": {"text": {"type": "string"}}}
    return {"name": name, "description": name, "inputSchema": schema, "annotations": hints.get(name, {})}

def text(value):
    return {"content": [{"type": "text", "text": value}]}

def call(name, arguments):
    if name == "env":
        return {"content": [], "structuredContent": dict(os.environ)}
    if name == "grow":
        tools.append("grown")
        say({"method": "notifications/tools/list_changed"})
    if name == "die":
        print("the last words", file=sys.stderr, flush=True)
        sys.exit(3)
    if name == "slow":
        return None
    if name == "fail":
        return {**text("it did not work"), "isError": True}
    return text(arguments.get("text", name))

def answer(method, params):
    if method == "initialize":
        return {"protocolVersion": "2025-11-25", "capabilities": {"tools": {"listChanged": True}},
                "serverInfo": {"name": "test", "version": "1"}}
    if method == "tools/list":
        return {"tools": [described(name) for name in tools]}
    if method == "tools/call":
        return call(params["name"], params.get("arguments", {}))
    raise LookupError(method)

if os.path.exists(folder + "/closed"):
    sys.exit("closed today")
for line in sys.stdin:
    message = json.loads(line)
    if message.get("method") == "notifications/cancelled":
        open(folder + "/cancelled", "w").close()
    if "id" not in message:
        continue
    try:
        result = answer(message["method"], message.get("params", {}))
    except LookupError as error:
        say({"id": message["id"], "error": {"code": -32601, "message": str(error)}})
        continue
    if result is not None:
        say({"id": message["id"], "result": result})
open(folder + "/ended", "w").close()
"#;

struct Stage {
    scene: Scene,
    servers: McpServers,
}

impl Stage {
    async fn open() -> Stage {
        let scene = Scene::new().await;
        let program = scene.folder.path().join("server.py");
        std::fs::write(&program, SERVER).unwrap();
        let folder = scene.folder.path().to_str().unwrap().to_owned();
        let settings = McpSettings {
            name: "probe".to_owned(),
            reach: Reach::Command {
                // A wrapper of that name would bring variables of its own.
                program: "/usr/bin/python3".to_owned(),
                arguments: vec![program.to_str().unwrap().to_owned()],
                environment: BTreeMap::from([("FOLDER".to_owned(), folder)]),
            },
            deadline: Duration::from_secs(1),
            remote: false,
            shown: Vec::new(),
            grace: Duration::from_millis(1500),
        };
        let servers = McpServers::new(&scene.gate, vec![settings]);
        servers.start(true).await;
        let stage = Stage { scene, servers };
        stage
            .until(|stage| stage.standing() == Standing::Connected)
            .await;
        stage
    }

    fn standing(&self) -> Standing {
        self.servers.states()[0].state
    }

    fn file(&self, name: &str) -> PathBuf {
        self.scene.folder.path().join(name)
    }

    fn has(&self, name: &str) -> bool {
        self.scene.gate.find(&format!("mcp:probe/{name}")).is_some()
    }

    /// Asks again until it holds.
    async fn until(&self, holds: impl Fn(&Stage) -> bool) {
        let waiting = async {
            while !holds(self) {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        let in_time = tokio::time::timeout(Duration::from_secs(60), waiting).await;
        in_time.unwrap_or_else(|_| panic!("it never came true: {:?}", self.servers.states()));
    }

    async fn json(&self, name: &str) -> Json {
        value_json::to_json(&self.scene.value(&format!("mcp:probe/{name}"), vec![]).await)
    }
}

#[tokio::test]
async fn tools_are_methods_with_the_effects_they_declare() {
    let stage = Stage::open().await;
    for (name, effect) in [
        ("plain", Effect::Effectful),
        ("look", Effect::Pure),
        ("again", Effect::Idempotent),
        ("my_tool", Effect::Effectful),
    ] {
        let method = stage.scene.gate.find(&format!("mcp:probe/{name}")).unwrap();
        assert_eq!(method.info().effect, effect, "{name}");
    }
    let said = stage.scene.value("plain", vec![Value::from("hello")]).await;
    assert_eq!(said, Value::from("hello"));
    let refused = stage.scene.call("plain", vec![Value::Int(1)]).await;
    assert!(
        matches!(refused, Err(CallError::BadArguments { .. })),
        "{refused:?}"
    );
    assert_eq!(
        stage.scene.refusal("mcp:probe/fail").await,
        "it did not work"
    );
    stage.servers.shutdown().await;
}

#[tokio::test]
async fn a_process_finds_only_what_it_was_given() {
    let stage = Stage::open().await;
    let environment = stage.json("env").await;
    let names: Vec<&String> = environment.as_object().unwrap().keys().collect();
    // Python itself may say how it takes text.
    let given = ["FOLDER", "HOME", "LC_CTYPE", "PATH"];
    assert!(
        names.iter().all(|name| given.contains(&name.as_str())),
        "{names:?}"
    );
    stage.servers.shutdown().await;
    assert!(
        stage.file("ended").exists(),
        "it ended by itself, its input being closed"
    );
    assert!(!stage.has("plain"));
}

#[tokio::test]
async fn new_tools_appear_when_the_server_says_so() {
    let stage = Stage::open().await;
    assert!(!stage.has("grown"));
    stage.scene.value("mcp:probe/grow", vec![]).await;
    stage.until(|stage| stage.has("grown")).await;
    assert_eq!(stage.json("grown").await, json!("grown"));
    stage.servers.shutdown().await;
}

#[tokio::test]
async fn a_call_that_takes_too_long_is_taken_back() {
    let stage = Stage::open().await;
    let late = stage.scene.call("mcp:probe/slow", vec![]).await;
    assert!(matches!(late, Err(CallError::Deadline { .. })), "{late:?}");
    stage.until(|stage| stage.file("cancelled").exists()).await;
    assert_eq!(
        stage.json("look").await,
        json!("look"),
        "it still serves others"
    );
    stage.servers.shutdown().await;
}

#[tokio::test]
async fn a_server_that_dies_comes_back_and_says_why_it_was_away() {
    let stage = Stage::open().await;
    std::fs::write(stage.file("closed"), "").unwrap();
    let cut = stage.scene.refusal("mcp:probe/die").await;
    assert!(cut.contains("mcp server 'probe' is not connected"), "{cut}");
    stage
        .until(|stage| stage.standing() == Standing::NotConnected)
        .await;
    assert!(stage.has("look"), "a short absence changes nothing");
    let away = stage.scene.refusal("mcp:probe/look").await;
    assert!(
        away.starts_with("mcp server 'probe' is not connected: "),
        "{away}"
    );
    stage.until(|stage| !stage.has("look")).await;
    let gone = stage.scene.refusal("mcp:probe/look").await;
    assert!(
        gone.starts_with("mcp server 'probe' is not connected: "),
        "{gone}"
    );
    let error = stage.servers.states()[0].error.clone().unwrap();
    assert!(error.contains("closed today"), "{error}");
    std::fs::remove_file(stage.file("closed")).unwrap();
    stage.until(|stage| stage.has("look")).await;
    assert_eq!(stage.json("look").await, json!("look"));
    stage.servers.shutdown().await;
}

#[tokio::test]
async fn nobody_waits_for_a_server_that_says_nothing() {
    let scene = Scene::new().await;
    let settings = McpSettings {
        name: "mute".to_owned(),
        reach: Reach::Command {
            program: "sleep".to_owned(),
            arguments: vec!["3600".to_owned()],
            environment: BTreeMap::new(),
        },
        deadline: Duration::from_secs(1),
        remote: false,
        shown: Vec::new(),
        grace: Duration::ZERO,
    };
    let servers = McpServers::new(&scene.gate, vec![settings]);
    servers.start(true).await;
    servers.settled(Duration::from_millis(10)).await;
    assert_eq!(servers.states()[0].state, Standing::Connecting);
    servers.shutdown().await;
}
