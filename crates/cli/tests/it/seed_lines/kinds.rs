//! What the result of each kind of sandbox method does to the turn whose code called it: N-15, N-16, N-19,
//! N-20, N-23 to N-25, N-27 to N-30, N-45.

use serde_json::{Value as Json, json};

use super::says;
use crate::{
    model::FakeModel,
    sandbox_methods::{example, with_packages, written},
    scene::{Said, Scene},
};

const METHODS: &str = "
import asyncio

def mounted(kind):
    return plugin.mount_sandbox_method(kind, '', '')

@mounted(SandboxMethodType.TOOL)
async def wait_a_little(_ctx: AgentCtx) -> int:
    '''Wait.'''
    await asyncio.sleep(0.2)
    return 41

@mounted(SandboxMethodType.AGENT)
async def report(_ctx: AgentCtx) -> str:
    '''Write a long report.'''
    return 'begin ' + 'x' * 3_990 + ' end'

@mounted(SandboxMethodType.BEHAVIOR)
async def ring(_ctx: AgentCtx) -> str:
    '''Ring the bell.'''
    return 'the bell has rung'

@mounted(SandboxMethodType.BEHAVIOR)
async def ring_in_vain(_ctx: AgentCtx) -> str:
    '''Ring a bell that is not there.'''
    return 'Error: there is no bell'

@mounted(SandboxMethodType.AGENT)
async def search_in_vain(_ctx: AgentCtx) -> str:
    '''Search what is not there.'''
    return 'Error: there is no shelf'

@mounted(SandboxMethodType.MULTIMODAL_AGENT)
async def look(_ctx: AgentCtx, what: str) -> List[Dict[str, Any]]:
    '''Look at something.'''
    picture = {'type': 'image_url', 'image_url': {'url': 'data:image/png;base64,aGVsbG8='}}
    parts = [{'type': 'text', 'text': 'a picture'}, picture]
    shapes = {'parts': parts, 'text': 'a text alone', 'message': {'role': 'user', 'content': parts}}
    return shapes.get(what, 7)
";

/// A plugin with one method or two of each kind, and a model that sees pictures beside one that does not.
struct Kinds {
    scene: Scene,
    model: FakeModel,
    plugin: String,
}

impl Kinds {
    fn new() -> Self {
        let scene = with_packages();
        let model = FakeModel::scripted();
        let seeing = model.toml_as("seeing") + "accepts = { image = true }\n";
        let blind = model.toml_as("blind") + "accepts = { image = false }\n";
        std::fs::write(scene.data().join("callgate.toml"), seeing + &blind).unwrap();
        let plugin = written(&scene, "kinds", METHODS);
        Kinds {
            scene,
            model,
            plugin,
        }
    }

    /// What comes of a turn whose first answer is this code, and whose next is a text.
    fn turn(&self, code: &str, model: &str) -> Said {
        let code = format!("```python\n{code}\n```");
        self.model.will_say(&[says(&code), says("I have seen it.")]);
        let arguments = [
            "send",
            "go",
            "--plugin",
            &self.plugin,
            "--model",
            model,
            "--json",
        ];
        self.scene.callgate(&arguments).succeeded()
    }

    fn system_rows(&self) -> Vec<String> {
        let rows = self.scene.said().into_iter();
        let system = rows.filter(|(role, _)| role == "system");
        system.map(|(_, text)| text).collect()
    }
}

fn rounds(said: &Said) -> Json {
    said.lines().last().unwrap()["rounds"].clone()
}

/// N-15, N-16
#[test]
fn code_waits_for_a_tools_value_and_goes_on_without_another_round() {
    let kinds = Kinds::new();
    let code = "\
import time
began = time.monotonic()
value = wait_a_little()
send_message(str([value + 1, time.monotonic() - began >= 0.2]))";
    let said = kinds.turn(code, "seeing");
    assert_eq!(said.messages(), ["[42, True]"]);
    assert_eq!(rounds(&said), 1);
    assert_eq!(kinds.model.asked(), 1);
    assert_eq!(kinds.system_rows(), [""; 0]);
}

/// N-19, N-20
#[test]
fn what_an_agent_method_returns_is_observed_whole_and_once_and_stays_as_a_row() {
    let kinds = Kinds::new();
    let said = kinds.turn("report()\nsend_message('never')", "seeing");
    assert_eq!(said.messages(), ["I have seen it."]);
    assert_eq!(rounds(&said), 2);

    let whole = format!("begin {} end", "x".repeat(3_990));
    assert_eq!(whole.len(), 4_000);
    let asked = kinds.model.take_requests();
    assert_eq!(asked.len(), 2);
    let times = |request: &Json, text: &str| request["messages"].to_string().matches(text).count();
    assert_eq!(times(&asked[0], "begin xxx"), 0);
    assert_eq!(times(&asked[1], &whole), 1, "{}", asked[1]);
    assert_eq!(times(&asked[1], "begin xxx"), 1, "nor a part of it besides");
    assert_eq!(kinds.system_rows(), [whole]);
}

/// N-23, N-24, N-25
#[test]
fn a_behaviors_text_comes_back_and_is_a_row_that_the_next_turn_sees() {
    let kinds = Kinds::new();
    let said = kinds.turn(
        "told = ring()\nsend_message('I was told: ' + told)",
        "seeing",
    );
    assert_eq!(said.messages(), ["I was told: the bell has rung"]);
    assert_eq!(rounds(&said), 1);
    assert_eq!(kinds.system_rows(), ["the bell has rung"]);
    assert_eq!(kinds.model.take_requests().len(), 1);
    kinds.turn("pass", "seeing");
    let asked = kinds.model.take_requests();
    let asked = asked[0]["messages"].to_string();
    let row = asked.split("system (result of ").nth(1).unwrap_or_default();
    let (whose, said) = row.split_once("): ").unwrap_or_default();
    assert!(whose.ends_with("/ring"), "whose words it is: {asked}");
    assert!(said.starts_with("the bell has rung"), "{asked}");
}

/// N-27: the document's own example, in a chat that has had as many messages as a turn may send.
#[test]
fn a_chat_that_refuses_a_message_is_told_in_the_row() {
    let kinds = Kinds {
        plugin: example("nekro_examples"),
        ..Kinds::new()
    };
    let code = "\
for number in range(100):
    send_message(str(number))
told = send_chat_message('one more')
assert told.startswith('Failed to send message:'), told
my_sum_function(1, 2)";
    let said = kinds.turn(code, "seeing");
    assert_eq!(said.messages().len(), 100);
    assert_eq!(said.messages()[99], "99", "what was refused went nowhere");
    let refused = "Failed to send message: the budget of messages is used up";
    assert_eq!(kinds.system_rows(), [refused]);
    let turn = said.lines().last().unwrap().clone();
    assert_eq!(turn["rounds"], 1, "the code ran to its end: {turn}");
    let [.., send, sum] = turn["calls"].as_array().unwrap().as_slice() else {
        panic!("{turn}")
    };
    assert_eq!(
        [&send["method"], &send["value"], &send["error"]],
        [&json!("send_chat_message"), &json!(refused), &Json::Null]
    );
    assert_eq!(sum["value"], 3);
}

/// N-28, N-29, N-30
#[test]
fn parts_are_seen_in_the_next_round_by_a_model_that_takes_them() {
    let kinds = Kinds::new();
    let text = |text: &str| json!({"type": "text", "text": text});
    let url = json!({"url": "data:image/png;base64,aGVsbG8="});
    let picture = json!({"type": "image_url", "image_url": url});
    let left_out = text("[image left out: this model cannot take it]");
    let cases = [
        ("parts", "seeing", vec![text("a picture"), picture.clone()]),
        ("message", "seeing", vec![text("a picture"), picture]),
        ("parts", "blind", vec![text("a picture"), left_out]),
        ("text", "seeing", vec![text("a text alone")]),
    ];
    for (what, model, parts) in cases {
        let said = kinds.turn(&format!("look('{what}')\nsend_message('never')"), model);
        assert_eq!(said.messages(), ["I have seen it."], "{what}");
        assert_eq!(rounds(&said), 2, "{what}");
        let asked = kinds.model.take_requests();
        let messages = asked[1]["messages"].as_array().unwrap();
        let content = &messages.last().unwrap()["content"];
        let shown = match content.as_str() {
            Some(alone) => vec![text(alone)],
            None => content.as_array().unwrap().clone(),
        };
        assert_eq!(shown, parts, "{what}: {content}");
    }
    assert_eq!(kinds.system_rows(), [""; 0]);

    kinds.turn("look('a number')", "seeing");
    let told = kinds.model.take_requests()[1]["messages"].to_string();
    let shapes = "a list of parts, a str, or one message (a dict with 'content'), not int";
    assert!(told.contains(shapes), "{told}");
}

/// N-45
#[test]
fn an_error_in_words_is_an_ordinary_result_of_its_kind() {
    let kinds = Kinds::new();
    let said = kinds.turn("send_message(ring_in_vain())\nsearch_in_vain()", "seeing");
    assert_eq!(
        said.messages(),
        ["Error: there is no bell", "I have seen it."]
    );
    let turn = said.lines().last().unwrap().clone();
    assert_eq!(
        (&turn["rounds"], &turn["stop"]),
        (&json!(2), &json!("answered"))
    );
    let calls = turn["calls"].as_array().unwrap();
    assert!(calls.iter().all(|call| call["error"].is_null()), "{turn}");
    let rows = kinds.system_rows();
    assert_eq!(
        rows,
        ["Error: there is no bell", "Error: there is no shelf"]
    );
}
