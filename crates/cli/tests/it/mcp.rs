//! The Model Context Protocol: the conformance suite of those who wrote it, on both sides, and what
//! is ours beyond it. Needs npm; without it these tests fail.

use std::{
    path::{Path, PathBuf},
    process::Command,
    sync::OnceLock,
};

use serde_json::{Value as Json, json};

use crate::{
    outages::go,
    scene::{Scene, finish, wait_until},
    server::Server,
};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../e2e")
}

#[allow(clippy::disallowed_methods, reason = "the suite")]
fn command(program: &str) -> Command {
    let mut command = Command::new(program);
    command.current_dir(folder());
    command
}

/// Runs one program of `e2e/mcp` with the Node that the suite needs.
fn program(name: &str) {
    static INSTALLED: OnceLock<()> = OnceLock::new();
    INSTALLED.get_or_init(|| {
        let installed = command("./install").arg("mcp").status().unwrap();
        assert!(installed.success(), "e2e/install mcp: {installed}");
    });
    let run = command("mcp/node")
        .arg(format!("mcp/{name}.mjs"))
        .env("CALLGATE", env!("CARGO_BIN_EXE_callgate"))
        .output()
        .unwrap();
    let said = [run.stdout, run.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    assert!(run.status.success(), "{name}\n{said}");
}

#[test]
fn the_server_conforms() {
    program("server");
}

#[test]
fn the_client_conforms() {
    program("client");
}

#[test]
fn the_official_client_gets_along_with_us() {
    program("sdk");
}

/// Messages to `callgate mcp`, and what it answers.
fn piped(scene: &Scene, messages: &[Json]) -> Vec<Json> {
    let hello = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": { "name": "test", "version": "1" },
    } });
    let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    let lines = [&[hello, ready], messages].concat();
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let said = scene.given(&text, &["mcp"]).succeeded();
    said.lines()
}

fn asked(id: u32, method: &str, params: Json) -> Json {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

fn answer(lines: &[Json], id: u32) -> &Json {
    let answer = lines.iter().find(|line| line["id"] == id);
    answer.unwrap_or_else(|| panic!("no answer to {id} in {lines:?}"))
}

#[test]
fn a_client_that_starts_us_is_the_operator() {
    let scene = Scene::configured("[remote]\nmethods = [\"remember\"]\n");
    let lines = piped(
        &scene,
        &[
            asked(1, "tools/list", json!({})),
            asked(
                2,
                "tools/call",
                json!({ "name": "remember", "arguments": { "name": "a" } }),
            ),
            asked(
                3,
                "tools/call",
                json!({ "name": "fetch_page", "arguments": {} }),
            ),
            asked(4, "prompts/get", json!({ "name": "default" })),
        ],
    );
    let tools = answer(&lines, 1)["result"]["tools"].as_array().unwrap();
    let names: Vec<&str> = tools
        .iter()
        .map(|it| it["name"].as_str().unwrap())
        .collect();
    assert!(
        names.contains(&"remember") && !names.contains(&"fetch_page"),
        "{names:?}"
    );
    let wrong = &answer(&lines, 2)["result"];
    assert_eq!(wrong["isError"], true);
    assert!(
        wrong["content"][0]["text"]
            .as_str()
            .unwrap()
            .contains("missing argument 'text'")
    );
    assert_eq!(
        answer(&lines, 3)["error"]["code"],
        -32602,
        "not for remote callers"
    );
    let prompt = &answer(&lines, 4)["result"]["messages"][0]["content"]["text"];
    assert!(
        prompt
            .as_str()
            .unwrap()
            .starts_with("You are a helpful assistant")
    );
}

/// Takes a while to answer, and writes down each call.
const SLOW_SERVER: &str = r#"
import json, sys, time
time.sleep(1)
def answer(message):
    method = message["method"]
    if method == "initialize":
        return {"protocolVersion": message["params"]["protocolVersion"], "capabilities": {"tools": {}},
                "serverInfo": {"name": "slow", "version": "1"}}
    if method == "tools/list":
        return {"tools": [{"name": "effect", "inputSchema": {"type": "object"}}]}
    if method != "tools/call":
        return {}
    with open(sys.argv[1], "a") as file:
        file.write("done\n")
    return {"content": [{"type": "text", "text": "done"}]}
for line in sys.stdin:
    message = json.loads(line)
    if "id" in message:
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": answer(message)}), flush=True)
"#;

/// Code that goes on after a kill calls by name what it called before.
#[test]
fn what_was_cut_off_waits_for_the_server_whose_tool_it_calls() {
    let scene = Scene::new();
    let program = scene.file("slow.py", SLOW_SERVER);
    let seen = scene.home().join("seen");
    let code = "import os, time\neffect()\nremember('begun', 'yes')\n\
        while not os.path.exists('/app/uploads/go.txt'):\n    time.sleep(0.02)\n\
        send_message('finished')";
    let model = scene.script(&[
        json!({ "content": format!("```python\n{code}\n```") }),
        json!({ "content": "I was asked again." }),
    ]);
    let seen_at = seen.to_str().unwrap();
    let toml = format!(
        "[models]\ndefault = \"{model}\"\n[[mcp]]\nname = \"slow\"\ncommand = \"python3\"\n\
         args = [\"{program}\", \"{seen_at}\"]\n"
    );
    std::fs::write(scene.data().join("callgate.toml"), toml).unwrap();
    let server = Server::start(&scene);
    let listed = || {
        scene
            .callgate(&["mcp", "list", "--json"])
            .succeeded()
            .json()
    };
    wait_until(|| listed()[0]["state"] == "connected");
    let asking = scene.command(&["send", "do it"]).spawn().unwrap();
    wait_until(|| scene.notes() == ["begun"]);
    server.kill();
    finish(asking);
    let server = Server::start(&scene);
    go(&scene);
    wait_until(|| !scene.outbox().is_empty());
    assert_eq!(scene.outbox(), ["finished"]);
    assert_eq!(std::fs::read_to_string(seen).unwrap(), "done\n");
    server.end();
}

#[test]
fn a_server_that_cannot_be_reached_delays_nobody_and_says_why() {
    let scene = Scene::configured(
        "[[mcp]]\nname = \"gone\"\ncommand = \"/nowhere/at/all\"\n\n\
         [[mcp]]\nname = \"mute\"\nurl = \"http://127.0.0.1:1/mcp\"\n",
    );
    let list = scene
        .callgate(&["mcp", "list", "--json"])
        .succeeded()
        .json();
    assert_eq!(list[0]["state"], "not_connected");
    let why = list[0]["error"].as_str().unwrap();
    assert!(why.contains("cannot start '/nowhere/at/all'"), "{why}");
    assert_eq!(list[1]["state"], "not_connected");
    let call = scene.callgate(&["call", "mcp:gone/tool"]);
    let why = "error: mcp server 'gone' is not connected: cannot start '/nowhere/at/all'";
    assert!(call.stderr.starts_with(why), "{}", call.stderr);
    scene.callgate(&["call", "now"]).succeeded();
}

#[test]
fn another_callgate_is_a_server_like_any_other() {
    let other = Scene::configured("[remote]\nmethods = [\"remember\"]\n");
    let binary = env!("CARGO_BIN_EXE_callgate");
    let data = other.data();
    let scene = Scene::configured(&format!(
        "[[mcp]]\nname = \"other\"\ncommand = \"{binary}\"\nargs = [\"mcp\", \"--data\", {data:?}]\n"
    ));
    let code = "print(call('mcp:other/remember', 'tea', 'green'))";
    let said = scene.run(code, &[]).succeeded();
    assert!(
        said.stdout.contains("Remembered 'tea': green"),
        "{}",
        said.stdout
    );
    let notes = other.stored(async |store| {
        let session = "mcp:FriendMessage:operator".parse().unwrap();
        store.notes().list(&session).await.unwrap().len()
    });
    assert_eq!(notes, 1);
    let one = scene
        .callgate(&["methods", "mcp:other/remember", "--json"])
        .succeeded();
    assert_eq!(one.json()["effect"], "effectful");
}
