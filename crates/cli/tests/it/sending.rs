//! `send`: one message through the whole pipeline.

use callgate_store::{CRASH_POINTS, Round};
use serde_json::{Value as Json, json};

use crate::{
    model::FakeModel,
    scene::{Scene, finish, interrupt, wait_until},
};

const SESSION: &str = "cli:FriendMessage:operator";

fn tool_call(name: &str, arguments: Json) -> Json {
    let function = json!({ "name": name, "arguments": arguments.to_string() });
    json!({ "tool_calls": [{ "id": "1", "type": "function", "function": function }] })
}

#[test]
fn code_mode_runs_what_the_model_wrote() {
    let scene = Scene::new();
    let code = "remember('tea', 'green')\nsend_message('one')\nexit(9)\n";
    let model = scene.script(&[
        json!({ "content": format!("Let me see.\n```python\n{code}```") }),
        json!({ "content": "```python\nsend_message('two')\n```" }),
    ]);
    let said = scene.callgate(&["send", "hello", "--model", &model, "--json"]);
    let lines = said.succeeded().lines();
    let message = |text: &str| {
        let parts = json!([{ "type": "text", "text": text }]);
        json!({ "type": "message", "session": SESSION, "parts": parts })
    };
    assert_eq!(lines[..2], [message("one"), message("two")]);
    let turn = &lines[2];
    assert_eq!(
        turn.as_object().unwrap().keys().collect::<Vec<_>>(),
        ["type", "rounds", "stop", "calls"]
    );
    assert_eq!(
        (&turn["type"], &turn["stop"]),
        (&json!("turn"), &json!("answered"))
    );
    let calls = turn["calls"].as_array().unwrap();
    let names: Vec<&Json> = calls.iter().map(|call| &call["method"]).collect();
    assert_eq!(names, ["remember", "send_message", "send_message"]);
    assert_eq!(turn["rounds"], 2);
    assert_eq!(
        calls[0]["arguments"],
        json!({"name": "tea", "text": "green"})
    );
    assert_eq!(calls[0]["kind"], "behavior");
    assert!(calls[0]["micros"].is_u64() && calls[0]["error"].is_null());
    assert_eq!(scene.notes(), ["tea"]);
    assert_eq!(scene.outbox(), [""; 0], "what was printed is delivered");
}

#[test]
fn tool_mode_makes_the_calls() {
    let scene = Scene::new();
    let model = scene.script(&[
        tool_call("remember", json!({"name": "tea", "text": "green"})),
        json!({ "content": "I know now." }),
    ]);
    let options = ["--mode", "tools", "--model", &model];
    let said = scene.callgate(&[&["send", "hello", "--json"], &options[..]].concat());
    let said = said.succeeded();
    assert_eq!(said.messages(), ["I know now."]);
    let turn = &said.lines()[1];
    assert_eq!(
        (&turn["rounds"], &turn["stop"]),
        (&json!(2), &json!("answered"))
    );
    assert_eq!(turn["calls"][0]["value"], "Remembered 'tea': green");
    assert_eq!(turn["calls"].as_array().unwrap().len(), 1);
}

#[test]
fn text_mode_prints_messages_and_sums_up_beside_them() {
    let scene = Scene::new();
    let model = scene.script(&[json!({ "content": "Good day." })]);
    let said = scene.given("from a pipe\n", &["send", "-", "--model", &model]);
    let said = said.succeeded();
    assert_eq!(said.stdout, "Good day.\n");
    assert_eq!(said.stderr, "answered: 1 round, 0 calls\n");
    let asked = ("user".to_owned(), "from a pipe".to_owned());
    assert_eq!(scene.said()[0], asked);
}

#[test]
fn a_command_is_answered_without_a_model() {
    let scene = Scene::new();
    let said = scene.callgate(&["send", "/new", "--json"]).succeeded();
    assert_eq!(said.messages(), ["A new conversation begins."]);
    assert_eq!(
        said.lines()[1],
        json!({"type": "turn", "rounds": 0, "stop": "answered", "calls": []})
    );
}

#[test]
fn the_exit_code_tells_whether_it_was_answered() {
    let scene = Scene::new();
    let empty = scene.script(&[]);
    let said = scene.callgate(&["send", "hello", "--model", &empty, "--json"]);
    assert_eq!(said.code, Some(1));
    assert_eq!(said.lines().last().unwrap()["stop"], "error");
    let silent = scene.script(&[json!({ "content": "```python\nremember('a', 'b')\n```" })]);
    let said = scene.callgate(&["send", "hello", "--model", &silent, "--json"]);
    let said = said.succeeded();
    assert_eq!(said.lines()[0]["stop"], "silent", "{}", said.stdout);
}

#[test]
fn a_turn_that_waits_for_approval_goes_on_with_the_answer() {
    let code = json!({ "content": "```python\nremember('a', 'b')\nsend_message('hello')\n```" });
    let tools = tool_call("send_message", json!({"text": "hello"}));
    for (mode, answer) in [("code", code), ("tools", tools)] {
        let scene = Scene::new();
        let model = scene.script(&[answer, json!({ "content": "Done." })]);
        let toml = "[approval]\nask = [\"send_message\"]\nwait_seconds = 0\n";
        let toml = format!("{toml}[models]\ndefault = \"{model}\"\n");
        std::fs::write(scene.data().join("callgate.toml"), toml).unwrap();
        let said = scene.callgate(&["send", "go", "--mode", mode, "--json"]);
        assert_eq!(said.code, Some(1));
        let turn = &said.lines()[0];
        assert_eq!(
            (&turn["stop"], &turn["rounds"]),
            (&json!("approval"), &json!(1))
        );
        let allowed = scene.callgate(&["approval", "allow", "1", "--json"]);
        let report = &allowed.succeeded().json()["report"];
        assert_eq!(report["stop"], "answered", "{mode}: {report}");
        // The script begins again in the new process: what is recorded is not asked for.
        let messages = report["messages"].as_array().unwrap();
        assert_eq!(messages[0]["parts"][0]["text"], "hello");
        assert_eq!(messages.len(), 1, "{mode}: {report}");
    }
}

#[test]
fn an_interrupt_stops_the_turn() {
    let model = FakeModel::start(1, "never");
    let scene = Scene::configured(&model.toml());
    let child = scene.command(&["send", "hello", "--json"]).spawn().unwrap();
    wait_until(|| model.asked() == 1);
    interrupt(child.id());
    let said = finish(child);
    assert_eq!(said.code, Some(1));
    assert_eq!(said.lines()[0]["stop"], "cancelled", "{}", said.stderr);
}

/// The process is killed at each point in turn; the next one answers what it left, once.
#[test]
fn a_killed_turn_is_answered_exactly_once() {
    let mut killed = 0;
    for point in CRASH_POINTS {
        let scene = Scene::new();
        let model = scene.script(&[json!({ "content": "pong" }), json!({ "content": "pong" })]);
        let toml = format!("[models]\ndefault = \"{model}\"\n");
        std::fs::write(scene.data().join("callgate.toml"), toml).unwrap();
        let mut command = scene.command(&["send", "ping one", "--json"]);
        let died = finish(command.env("CALLGATE_CRASH_AT", point).spawn().unwrap());
        if died.code.is_some() {
            // A turn does not come by here.
            assert_eq!(died.succeeded().messages(), ["pong"], "{point}");
            continue;
        }
        killed += 1;
        let next = scene.callgate(&["send", "ping two", "--json"]).succeeded();
        // The model's own answer, not that something was interrupted: nobody else hears of messages.
        let said = scene.said();
        let answers = said.iter().filter(|(role, _)| role == "assistant");
        let answers: Vec<&str> = answers.map(|(_, text)| text.as_str()).collect();
        assert_eq!(answers, ["pong", "pong"], "{point}");
        let heard = died.messages().len() + next.messages().len();
        // A message that was handed over and not marked yet is handed over again.
        let twice = usize::from(*point == "outbox.after_delivery");
        assert_eq!(heard, 2 + twice, "{point}");
    }
    assert!(killed >= 8, "the turn passes the points: {killed}");
}

/// Without plugins a round is kept by what it adds, however long the turn and its conversation are.
#[test]
fn what_is_kept_of_a_round_does_not_grow_with_the_turn() {
    const ROUNDS: usize = 40;
    let call = |number: usize| {
        tool_call(
            "remember",
            json!({"name": format!("n{number}"), "text": "x"}),
        )
    };
    let mut script: Vec<Json> = (1..ROUNDS).map(call).collect();
    script.push(json!({ "content": "Done." }));
    let scene = Scene::configured("[agent]\nrounds = 60\n");
    let model = scene.script(&script);
    let options = ["--mode", "tools", "--model", &model, "--json"];
    for _ in 0..2 {
        let said = scene.callgate(&[&["send", "go"], &options[..]].concat());
        assert_eq!(said.succeeded().messages(), ["Done."]);
    }
    let kept: Vec<Vec<usize>> = scene.stored(async |store| {
        let session = SESSION.parse().unwrap();
        let mut kept = Vec::new();
        for turn in store.turns().list(&session, 10).await.unwrap() {
            let rounds = store.turns().rounds(turn.start.id).await.unwrap();
            let bytes = |round: &Round| round.request.as_ref().unwrap().to_string().len();
            kept.push(rounds.iter().map(bytes).collect());
        }
        kept
    });
    assert_eq!(kept.len(), 2);
    for rounds in kept {
        assert_eq!(rounds.len(), ROUNDS);
        let (first, later) = rounds.split_first().unwrap();
        assert!(
            *first < 100_000,
            "the history lies in the conversation: {first}"
        );
        assert!(later.iter().all(|bytes| *bytes < 2_000), "{later:?}");
    }
}
