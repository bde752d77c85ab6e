//! Calls, runs, messages, approvals, sessions and personas; and that a running server tells the same.

use serde_json::json;

use super::Transcript;
use crate::{
    frozen::{assert_frozen, redact::Redact},
    scene::Scene,
    server::Server,
};

const SESSION: &str = "cli:FriendMessage:operator";

/// What reads and changes nothing.
const READING: &[&[&str]] = &[
    &["methods", "nothing"],
    &["approval", "list"],
    &["approval", "list", "--all"],
    &["approval", "rules"],
    &["key", "list"],
    &["client", "list"],
    &["session", "list"],
    &["session", "show", SESSION],
    &["session", "show", "cli:FriendMessage:nobody"],
    &["persona", "list"],
    &["persona", "show", "poet"],
    &["persona", "show", "nobody"],
    &["cost", "--by", "model"],
    &["model", "list"],
    &["plugin", "list"],
    &["mcp", "list"],
];

/// The same, where our own words are most of it.
const OUTLINED: &[&[&str]] = &[
    &["methods"],
    &["methods", "remember"],
    &["prompt"],
    &["prompt", "--mode", "tools"],
];

fn scene() -> Scene {
    let scene = Scene::new();
    let call = json!({ "id": "call-1", "type": "function", "function": {
        "name": "recall", "arguments": json!({ "query": "colour" }).to_string() } });
    let model = scene.script(&[
        json!({ "tool_calls": [call] }),
        json!({ "content": "Blue." }),
    ]);
    let toml = format!(
        "[approval]\nask = [\"send_message\"]\nwait_seconds = 0\n\
         [[mcp]]\nname = \"gone\"\ncommand = \"/nowhere\"\n\
         [models]\ndefault = \"{model}\"\n"
    );
    std::fs::write(scene.data().join("callgate.toml"), toml).unwrap();
    // Otherwise the server makes one.
    scene
        .callgate(&["key", "new", "--scope", "operator"])
        .succeeded();
    scene
}

#[test]
fn talking_and_what_a_running_server_tells_of_it() {
    let mut transcript = Transcript::on(scene());
    transcript.note(&["call", "remember", "--args", r#"["colour", "blue"]"#]);
    transcript.note(&["call", "recall", "--args", r#"{"query": "colour"}"#]);
    transcript.note(&["call", "nothing"]);
    transcript.note(&["call", "now", "--args", r#"{"zone": 3}"#]);
    transcript.note_run("print(recall('colour')[0]['text'])");
    transcript.note_run("now()\nboom");
    transcript.note(&["run", "missing.py"]);
    transcript.note(&["send", "Which colour?", "--mode", "tools"]);
    transcript.note(&["send", "hi", "--model", "nobody"]);
    assert_frozen("cli_calls", &transcript.taken());

    transcript.note_run("print(send_message('one'))");
    transcript.note_run("print(send_message('two'))");
    let asked = transcript.note(&["approval", "list"]);
    transcript.note(&["approval", "allow", &asked[0]["id"].to_string()]);
    transcript.note(&["approval", "deny", &asked[1]["id"].to_string(), "--always"]);
    transcript.note(&["approval", "allow", "77"]);
    transcript.note(&["approval", "list", "--all"]);
    let rules = transcript.note(&["approval", "rules"]);
    transcript.note(&["approval", "revoke", &rules[0]["id"].to_string()]);
    transcript.note(&["approval", "revoke", "77"]);
    assert_frozen("cli_approvals", &transcript.taken());

    transcript.note(&[
        "persona",
        "set",
        "poet",
        "--prompt",
        "In verse.",
        "--dialog",
        "hi",
        "yo",
    ]);
    let card = json!({ "persona_id": "clerk", "system_prompt": "Dry.", "begin_dialogs": [], "tools": null });
    let card = transcript.scene.file("clerk.json", &card.to_string());
    transcript.note(&["persona", "import", &card]);
    transcript.note(&["persona", "list"]);
    transcript.note(&["persona", "delete", "clerk"]);
    transcript.note(&["persona", "delete", "nobody"]);
    transcript.note(&["session", "fork", SESSION]);
    let export = transcript.note(&["session", "export", SESSION]);
    transcript.note_bare(&["session", "replay", export["file"].as_str().unwrap()]);
    assert_frozen("cli_sessions", &transcript.taken());

    let by_itself = read(&mut transcript);
    let server = Server::start(&transcript.scene);
    let through_a_server = read(&mut transcript);
    assert_frozen("cli_reading", &by_itself);
    assert!(
        by_itself == through_a_server,
        "otherwise through a server: {through_a_server}"
    );
    let ready = Redact {
        home: transcript.scene.home(),
    }
    .pretty(&server.ready);
    assert_frozen("cli_ready", &ready);
    server.end();
}

fn read(transcript: &mut Transcript) -> String {
    for command in READING {
        transcript.note(command);
    }
    for command in OUTLINED {
        transcript.note_outline(command);
    }
    transcript.taken()
}
