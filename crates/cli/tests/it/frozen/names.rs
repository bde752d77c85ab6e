//! Names that appear in others' code and files: words of the wire, configuration keys, Python imports,
//! and literals of the documents we follow.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::Value as Json;

use super::assert_frozen;

fn tree() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: &str) -> String {
    std::fs::read_to_string(tree().join(path)).unwrap()
}

/// Words that mean one thing each: stops, kinds, effects, states. Under which type they are described
/// is our own business; that they are described, all of them and no others, is not.
const WORDS: &[&[&str]] = &[
    &["agent", "behavior", "multimodal_agent", "tool"],
    &["effectful", "idempotent", "pure", "rows"],
    &[
        "agent",
        "approval",
        "calls",
        "cancelled",
        "disk",
        "diverged",
        "error",
        "finished",
        "inspect",
        "killed",
        "memory",
        "multimodal",
        "output",
        "timeout",
    ],
    &["answered", "budget", "cancelled", "error", "limit"],
    &["code", "tools"],
    &["approved", "pending", "revoked"],
    &["cancelled", "done", "failed", "running"],
    &["debug", "error", "info", "warn"],
    &["fail", "ok", "warn"],
    &["default", "environment", "file"],
];

/// The words of every enumeration below.
fn enumerations(schema: &Json, found: &mut BTreeSet<BTreeSet<String>>) {
    let word = |it: &Json| it.as_str().map(str::to_owned);
    let of = |schema: &Json| -> Vec<String> {
        let listed = schema["enum"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(word);
        listed.chain(word(&schema["const"])).collect()
    };
    let choices = schema["oneOf"].as_array().into_iter().flatten();
    let words: BTreeSet<String> = choices.flat_map(of).chain(of(schema)).collect();
    found.insert(words);
    match schema {
        Json::Object(fields) => fields.values().for_each(|it| enumerations(it, found)),
        Json::Array(items) => items.iter().for_each(|it| enumerations(it, found)),
        _ => {}
    }
}

#[test]
fn words_of_the_wire() {
    let document: Json = serde_json::from_str(&read("docs/openapi.json")).unwrap();
    let mut found = BTreeSet::new();
    enumerations(&document["components"], &mut found);
    for words in WORDS {
        let words: BTreeSet<String> = words.iter().map(|it| (*it).to_owned()).collect();
        assert!(found.contains(&words), "{words:?} is not among {found:#?}");
    }
}

#[test]
fn configuration_keys_and_variables() {
    let text = read("docs/configuration.md");
    let lines = text.lines().filter_map(|line| {
        let key = line.strip_prefix("### ").map(|key| format!("\n{key}"));
        let variable = line.strip_prefix("- environment: `");
        let variable = variable.map(|it| format!(" {}", it.trim_end_matches('`')));
        key.or(variable)
    });
    assert_frozen("configuration", &lines.collect::<String>());
}

#[test]
#[allow(clippy::disallowed_methods, reason = "it reads Python")]
fn what_plugins_can_import() {
    let script = tree().join("crates/cli/tests/it/frozen/public_names.py");
    let mut python = Command::new("python3");
    let listed = python
        .arg(script)
        .arg(tree().join("python"))
        .output()
        .unwrap();
    assert!(listed.status.success(), "{listed:?}");
    assert_frozen("python_imports", &String::from_utf8(listed.stdout).unwrap());
}

/// What the documents spell out, as our sources spell it: in double quotes where it is data.
const LITERALS: &[(&str, &[&str])] = &[
    ("N-05", &["/app/shared", "def get_file"]),
    ("N-06", &["def mount_sandbox_method"]),
    (
        "N-07",
        &[
            "class SandboxMethodType",
            "class AgentCtx",
            "class NekroPlugin",
        ],
    ),
    (
        "N-09",
        &["TOOL =", "AGENT =", "BEHAVIOR =", "MULTIMODAL_AGENT ="],
    ),
    ("N-44", &["class MethodError"]),
    ("N-48", &["from_chat_key:"]),
    ("N-49", &["def from_user_id"]),
    ("A-02", &["def get_using_provider", "def text_chat"]),
    (
        "A-03",
        &[
            "def get_current_chat_provider_id",
            "class ProviderNotFoundError",
        ],
    ),
    ("A-04", &["def llm_generate"]),
    ("A-05", &["completion_text"]),
    ("A-08", &["class FunctionTool", "class AstrAgentContext"]),
    ("A-10", &["class ContextWrapper", "ToolExecResult ="]),
    ("A-11", &["def add_llm_tools"]),
    ("A-13", &["func_list"]),
    ("A-14", &["def register_llm_tool"]),
    ("A-19", &["参数"]),
    ("A-21", &["def plain_result"]),
    ("A-23", &["def tool_loop_agent", "\"err\""]),
    ("A-24", &["class ToolSet"]),
    (
        "A-27",
        &["error: tool {name} execution timeout after {seconds} seconds."],
    ),
    (
        "A-34",
        &["def get_curr_conversation_id", "def get_conversation("],
    ),
    ("A-35", &["class Conversation"]),
    (
        "A-38",
        &[
            "class UserMessageSegment",
            "class AssistantMessageSegment",
            "class TextPart",
        ],
    ),
    ("A-39", &["def add_message_pair"]),
    ("A-40", &["def new_conversation"]),
    ("A-45", &["def switch_conversation"]),
    ("A-46", &["def delete_conversation"]),
    ("A-50", &["create_if_not_exists"]),
    ("A-51", &["def get_conversations("]),
    ("A-53", &["def update_conversation", "\"[%None]\""]),
    ("A-56", &["personas_v3"]),
    ("A-57", &["def get_persona("]),
    ("A-59", &["def get_all_personas"]),
    ("A-60", &["def create_persona"]),
    ("A-67", &["def update_persona"]),
    ("A-70", &["def delete_persona"]),
    ("A-72", &["def get_default_persona_v3"]),
    ("A-73", &["DEFAULT_PERSONALITY ="]),
    ("A-75", &["class Persona", "persona_id", "begin_dialogs"]),
    ("A-77", &["class Personality", "mood_imitation_dialogs"]),
    ("S-02", &["(22, \"FUNCTION_CALL\")", "\"/function_call\""]),
    ("S-05", &["Function \\\"{function}\\\" not found."]),
    (
        "S-20",
        &[
            "\"addStaticResources\"",
            "\"readJsonFromFile\"",
            "\"saveJsonToFile\"",
        ],
    ),
    ("S-24", &["\"urlPath\"", "\"results\""]),
];

fn sources(folder: &Path, text: &mut String) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() && name != "tests" {
            sources(&path, text);
        } else if name.ends_with(".rs") || name.ends_with(".py") {
            *text += &std::fs::read_to_string(&path).unwrap();
        }
    }
}

#[test]
fn literals_of_the_documents() {
    let mut text = String::new();
    sources(&tree().join("crates"), &mut text);
    sources(&tree().join("python"), &mut text);
    let missing = LITERALS.iter().flat_map(|(id, literals)| {
        let missing = literals.iter().filter(|it| !text.contains(**it));
        missing.map(move |literal| format!("{id}: {literal}"))
    });
    assert_eq!(missing.collect::<Vec<_>>(), Vec::<String>::new());
}
