//! Servers of the Model Context Protocol: a real process that comes, changes, dies and comes back.

use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::{Arc, Mutex},
    time::Duration,
};

use callgate_contract::{
    Arguments, Effect, Kind, Onlooker, Part, Progress, Value, json as value_json,
};
use callgate_gate::{CallError, CallRequest, Outcome};
use callgate_plugins::mcp::{McpServers, McpSettings, McpStatus, Reach};
use serde_json::{Value as Json, json};

use crate::scene::Scene;

/// Speaks the protocol with nothing but the standard library.
const SERVER: &str = r#"
import json, os, sys, time

folder = os.environ["FOLDER"]
tools = ["plain", "look", "again", "env", "grow", "slow", "die", "fail", "my-tool",
         "far", "reshape", "picture", "babble", "nonsense", "huge"]
hints = {"look": {"readOnlyHint": True}, "again": {"idempotentHint": True}}
properties = {"text": {"type": "string"}}
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8/5+hHgAHggJ/PchI7wAAAABJRU5ErkJggg=="

def say(message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)

def described(name):
    schema = {"type": "object", "properties": properties}
    return {"name": name, "description": name, "inputSchema": schema, "annotations": hints.get(name, {})}

def text(value):
    return {"content": [{"type": "text", "text": value}]}

def far(token):
    def told(**progress):
        say({"method": "notifications/progress", "params": {"progressToken": token, **progress}})
    told(progress=1, total=2, message="half")
    say({"method": "notifications/progress", "params": {"progressToken": "another's", "progress": 9}})
    told(progress=2, total=2)

def call(name, arguments, token):
    if name == "far":
        far(token)
    if name == "reshape":
        properties["number"] = {"type": "integer"}
        say({"method": "notifications/tools/list_changed"})
    if name == "picture":
        return {"content": [{"type": "text", "text": "a pixel"},
                            {"type": "image", "data": PIXEL, "mimeType": "image/png"},
                            {"type": "audio", "data": "UklGRg==", "mimeType": "audio/wav"},
                            {"type": "resource", "resource": {"uri": "file:///a/b.bin", "blob": "AAE="}},
                            {"type": "resource_link", "uri": "https://example.org/c", "name": "c"}]}
    if name == "babble":
        print("Listening on stdio ...", flush=True)
        print('{"jsonrpc": "2.0", "id": 7777, "result": {}}', flush=True)
        print('{"half a message', flush=True)
        print("[1, 2]", flush=True)
        print("x" * 300_000, file=sys.stderr, flush=True)
    if name == "nonsense":
        return {"content": 5}
    if name == "huge":
        return text("x" * int(arguments["text"]))
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
        return call(params["name"], params.get("arguments", {}), params["_meta"]["progressToken"])
    raise LookupError(method)

if os.path.exists(folder + "/closed"):
    sys.exit("closed today")
while os.path.exists(folder + "/asleep"):
    time.sleep(0.02)
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
        let stage = Stage::of(Scene::new().await, |_| ()).await;
        stage
            .until(|stage| stage.standing() == McpStatus::Connected)
            .await;
        stage
    }

    /// Nothing is known of the server yet.
    async fn of(scene: Scene, change: impl FnOnce(&mut McpSettings)) -> Stage {
        let program = scene.folder.path().join("server.py");
        std::fs::write(&program, SERVER).unwrap();
        let folder = scene.folder.path().to_str().unwrap().to_owned();
        let mut settings = McpSettings {
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
            handshake: Duration::from_secs(30),
        };
        change(&mut settings);
        let servers = McpServers::new(&scene.gate, vec![settings]);
        servers.start(true).await;
        Stage { scene, servers }
    }

    fn standing(&self) -> McpStatus {
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
        .until(|stage| stage.standing() == McpStatus::NotConnected)
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
        handshake: Duration::from_secs(30),
    };
    let servers = McpServers::new(&scene.gate, vec![settings]);
    servers.start(true).await;
    servers.settled(Duration::from_millis(10)).await;
    assert_eq!(servers.states()[0].state, McpStatus::Connecting);
    servers.shutdown().await;
}

#[tokio::test]
async fn progress_is_passed_on_to_whoever_called() {
    let stage = Stage::open().await;
    let heard: Arc<Mutex<Vec<Progress>>> = Arc::default();
    let told = heard.clone();
    let request = CallRequest {
        progress: Onlooker::new(move |progress| told.lock().unwrap().push(progress)),
        ..CallRequest::new(1, "mcp:probe/far", Arguments::default())
    };
    let caller = &stage.scene.caller;
    stage.scene.gate.dispatch(caller, request).await.unwrap();
    let far = |done: f64, text: &str| Progress {
        done,
        total: Some(2.0),
        text: text.to_owned(),
    };
    // All of it, and before the answer.
    assert_eq!(*heard.lock().unwrap(), [far(1.0, "half"), far(2.0, "")]);
    assert_eq!(stage.json("far").await, json!("far"), "nobody listens");
    stage.servers.shutdown().await;
}

#[tokio::test]
async fn a_tool_that_changes_its_schema_is_checked_by_the_new_one() {
    let stage = Stage::open().await;
    let takes = |stage: &Stage, name: &str| {
        let method = stage.scene.gate.find("mcp:probe/plain").unwrap();
        method.info().parameters["properties"].get(name).is_some()
    };
    let two = || vec![Value::from("hello"), Value::Int(2)];
    let refused = stage.scene.call("mcp:probe/plain", two()).await;
    assert!(matches!(refused, Err(CallError::BadArguments { .. })));
    stage.scene.value("mcp:probe/reshape", vec![]).await;
    stage.until(|stage| takes(stage, "number")).await;
    let said = stage.scene.value("mcp:probe/plain", two()).await;
    assert_eq!(said, Value::from("hello"));
    stage.servers.shutdown().await;
}

#[tokio::test]
async fn a_server_that_babbles_is_understood_and_nonsense_is_refused() {
    let stage = Stage::open().await;
    assert_eq!(stage.json("babble").await, json!("babble"));
    let refused = stage.scene.refusal("mcp:probe/nonsense").await;
    assert!(
        refused.contains("it answered with something else"),
        "{refused}"
    );
    assert_eq!(stage.json("look").await, json!("look"));
    assert_eq!(stage.standing(), McpStatus::Connected);
    stage.servers.shutdown().await;
}

#[tokio::test]
async fn what_is_too_much_is_refused_and_the_server_stays() {
    let patient = |settings: &mut McpSettings| settings.deadline = Duration::from_secs(4);
    let stage = Stage::of(Scene::new().await, patient).await;
    stage.until(|stage| stage.has("huge")).await;
    let give = async |bytes: usize| {
        let wanted = Value::from(bytes.to_string());
        stage.scene.call("mcp:probe/huge", vec![wanted]).await
    };
    assert!(give(1 << 20).await.is_ok());
    let much = give(9 << 20).await;
    assert!(
        matches!(much, Err(CallError::Unpassable { .. })),
        "{much:?}"
    );
    // More than a message may have: it never arrives.
    let more = give(65 << 20).await;
    assert!(matches!(more, Err(CallError::Deadline { .. })), "{more:?}");
    while stage.scene.call("mcp:probe/look", vec![]).await.is_err() {
        assert_eq!(stage.standing(), McpStatus::Connected);
    }
    stage.servers.shutdown().await;
}

#[tokio::test]
async fn a_server_that_hangs_in_the_handshake_is_given_up() {
    let scene = Scene::new().await;
    std::fs::write(scene.folder.path().join("asleep"), "").unwrap();
    let impatient = |settings: &mut McpSettings| settings.handshake = Duration::from_millis(200);
    let stage = Stage::of(scene, impatient).await;
    stage
        .until(|stage| stage.standing() == McpStatus::NotConnected)
        .await;
    let why = stage.servers.states()[0].error.clone().unwrap();
    assert_eq!(why, "no answer within 0.2 s");
    stage.servers.shutdown().await;
}

fn kinds(parts: &[Part]) -> Vec<&'static str> {
    let kind = |part: &Part| match part {
        Part::Text { .. } => "text",
        Part::Image { url } if url.starts_with("data:image/png;base64,iVBOR") => "image",
        Part::Audio { .. } => "audio",
        Part::File { name, .. } if name == "b.bin" => "file",
        _ => "other",
    };
    parts.iter().map(kind).collect()
}

#[tokio::test]
async fn pictures_sounds_and_files_reach_code_and_where_wanted_the_model() {
    let all = ["text", "image", "audio", "file", "text"];
    // Code gets them as a value.
    let stage = Stage::open().await;
    let given = stage.json("picture").await;
    let parts: Vec<Part> = serde_json::from_value(given).unwrap();
    assert_eq!(kinds(&parts), all);
    stage.servers.shutdown().await;
    // The model looks at what the operator said it should.
    let shown = |settings: &mut McpSettings| settings.shown = vec!["picture".to_owned()];
    let stage = Stage::of(Scene::new().await, shown).await;
    stage.until(|stage| stage.has("picture")).await;
    let outcome: Outcome = stage.scene.call("mcp:probe/picture", vec![]).await.unwrap();
    assert_eq!(outcome.kind, Kind::MultimodalAgent);
    assert_eq!(kinds(&outcome.parts), all);
    stage.servers.shutdown().await;
}

/// Answers everything in the same way; what it was sent is of no interest.
async fn always(head: &'static str) -> String {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut asked = vec![0; 1 << 16];
            let _ = stream.read(&mut asked).await;
            let answer = format!("{head}Content-Length: 0\r\nConnection: close\r\n\r\n");
            let _ = stream.write_all(answer.as_bytes()).await;
        }
    });
    url
}

#[tokio::test]
async fn a_server_that_wants_a_key_says_what_to_do() {
    const CHALLENGE: &str = "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Bearer\r\n";
    const BARE: &str = "HTTP/1.1 401 Unauthorized\r\n";
    const SCOPE: &str = "HTTP/1.1 403 Forbidden\r\n\
        WWW-Authenticate: Bearer error=\"insufficient_scope\", scope=\"tools:use\"\r\n";
    for (head, bearer, expected) in [
        (CHALLENGE, None, "it wants a key (401)"),
        (BARE, None, "it wants a key (401)"),
        (
            CHALLENGE,
            Some("old"),
            "it refuses the key it was given (401)",
        ),
        (SCOPE, Some("old"), "get one with the scope 'tools:use'"),
        ("HTTP/1.1 500 Oops\r\n", None, "500"),
    ] {
        let url = always(head).await;
        let reach = Reach::Url {
            url,
            bearer: bearer.map(str::to_owned),
            headers: BTreeMap::new(),
        };
        let stage = Stage::of(Scene::new().await, |settings| settings.reach = reach).await;
        stage
            .until(|stage| stage.standing() == McpStatus::NotConnected)
            .await;
        let why = stage.servers.states()[0].error.clone().unwrap();
        assert!(why.contains(expected), "{head} {why}");
        assert!(!why.contains("old") && !why.contains("::"), "{why}");
        stage.servers.shutdown().await;
    }
}
