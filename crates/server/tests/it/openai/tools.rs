//! Tools of the asker's beside methods of ours, in one request and over several.

use std::time::Duration;

use callgate_contract::ModelMessage;
use callgate_gate::GatePolicy;
use serde_json::{Value as Json, json};

use super::scene::{Scene, calls, says, tool};

#[tokio::test]
async fn calls_of_the_askers_tools_come_back_and_go_on() {
    let mixed = calls(&[("look", "there"), ("mine", "a"), ("mine", "b")]);
    let scene = Scene::new(vec![calls(&[("look", "first")]), mixed, says("all done")]).await;
    let mut messages = vec![json!({"role": "user", "content": "go"})];
    let tools = json!([tool("mine"), tool("act")]);
    let asked = scene
        .chat(json!({"messages": messages, "tools": tools}))
        .await;
    let answer = asked.json();
    assert_eq!(answer["choices"][0]["finish_reason"], "tool_calls");
    let message = &answer["choices"][0]["message"];
    assert_eq!(message["content"], Json::Null);
    let made = message["tool_calls"].as_array().unwrap();
    let shown = |call: &Json| {
        let arguments = call["function"]["arguments"].as_str().unwrap().to_owned();
        (
            call["function"]["name"].as_str().unwrap().to_owned(),
            arguments,
        )
    };
    let a = ("mine".to_owned(), r#"{"text":"a"}"#.to_owned());
    let b = ("mine".to_owned(), r#"{"text":"b"}"#.to_owned());
    assert_eq!(made.iter().map(shown).collect::<Vec<_>>(), [a, b]);
    assert_ne!(made[0]["id"], made[1]["id"]);
    let offered = scene.model.requests()[0].tools.clone();
    let acts = offered.iter().filter(|tool| tool.name == "act");
    let acts: Vec<&str> = acts.map(|tool| tool.description.as_str()).collect();
    assert_eq!(acts, ["a tool of the asker's"], "its own go before ours");

    messages.push(message.clone());
    for (call, result) in made.iter().zip(["one", "two"]) {
        messages.push(json!({"role": "tool", "tool_call_id": call["id"], "content": result}));
    }
    let asked = scene
        .chat(json!({"messages": messages, "tools": tools}))
        .await;
    assert_eq!(asked.json()["choices"][0]["message"]["content"], "all done");
    let request = scene.model.requests().pop().unwrap();
    let roles: Vec<String> = request.messages.iter().map(brief).collect();
    let expected = [
        "user go",
        "assistant look",
        "tool saw first",
        "assistant look mine mine",
        "tool saw there",
        "tool one",
        "tool two",
    ];
    assert_eq!(roles, expected);
    let ModelMessage::Assistant { tool_calls, .. } = &request.messages[3] else {
        panic!("{request:?}")
    };
    assert_eq!(
        tool_calls[1].extra,
        Some(json!({"signature": 1})),
        "what providers want back"
    );
    let results = request.messages.iter().filter_map(|message| match message {
        ModelMessage::Tool { tool_call_id, .. } => Some(tool_call_id.as_str()),
        _ => None,
    });
    let ids: Vec<&str> = tool_calls.iter().map(|call| call.id.as_str()).collect();
    assert_eq!(results.skip(1).collect::<Vec<_>>(), ids);
}

fn brief(message: &ModelMessage) -> String {
    let json = serde_json::to_value(message).unwrap();
    let role = json["role"].as_str().unwrap();
    let calls = json["tool_calls"].as_array().into_iter().flatten();
    let calls: Vec<&str> = calls.map(|call| call["name"].as_str().unwrap()).collect();
    let text = json["parts"][0]["text"].as_str().unwrap_or_default();
    format!("{role} {}{text}", calls.join(" "))
}

#[tokio::test]
async fn what_another_key_was_left_with_stays_its_own() {
    let replies = vec![
        calls(&[("look", "secret"), ("mine", "a")]),
        says("nothing known"),
    ];
    let mut scene = Scene::new(replies).await;
    let first = json!({"role": "user", "content": "go"});
    let asked = scene
        .chat(json!({"messages": [first], "tools": [tool("mine")]}))
        .await;
    let message = asked.json()["choices"][0]["message"].clone();
    let id = message["tool_calls"][0]["id"].clone();
    scene.takes_key(&["chat"]).await;
    let result = json!({"role": "tool", "tool_call_id": id, "content": "x"});
    scene
        .chat(json!({"messages": [first, message, result]}))
        .await;
    let request = scene.model.requests().pop().unwrap();
    let shown: Vec<String> = request.messages.iter().map(brief).collect();
    assert_eq!(shown, ["user go", "assistant mine", "tool x"]);
}

#[tokio::test]
async fn chunks_of_calls_carry_their_place() {
    let scene = Scene::new(vec![calls(&[("mine", "a"), ("mine", "b")])]).await;
    let messages = json!([{"role": "user", "content": "go"}]);
    let body = json!({"messages": messages, "tools": [tool("mine")], "stream": true});
    let chunks = scene.chat(body).await.events();
    let deltas = chunks
        .iter()
        .filter_map(|it| it["choices"][0]["delta"]["tool_calls"][0].as_object());
    let deltas: Vec<_> = deltas.collect();
    let places: Vec<&Json> = deltas.iter().map(|delta| &delta["index"]).collect();
    assert_eq!(places, [0, 0, 1, 1]);
    assert_eq!(
        (&deltas[0]["type"], &deltas[0]["function"]["name"]),
        (&json!("function"), &json!("mine"))
    );
    assert_eq!(
        deltas[1]["function"],
        json!({"arguments": r#"{"text":"a"}"#})
    );
    assert_eq!(
        chunks.last().unwrap()["choices"][0]["finish_reason"],
        "tool_calls"
    );
}

#[tokio::test]
async fn a_key_narrows_what_a_persona_may_call() {
    let mut scene = Scene::new(vec![calls(&[("act", "now")]), says("I may not")]).await;
    scene.takes_key(&["chat", "method:look"]).await;
    let messages = json!([{"role": "user", "content": "act"}]);
    let demand = "required";
    scene
        .chat(json!({"model": "default", "messages": messages, "tool_choice": demand}))
        .await;
    let requests = scene.model.requests();
    let names: Vec<&str> = requests[0]
        .tools
        .iter()
        .map(|tool| tool.name.as_str())
        .collect();
    assert_eq!(names, ["look"]);
    let told = brief(requests[1].messages.last().unwrap());
    assert!(
        told.starts_with("tool ") && !told.contains("done"),
        "{told}"
    );
}

#[tokio::test]
async fn nobody_waits_for_an_approval_that_does_not_come() {
    let policy = GatePolicy {
        ask: vec!["act".to_owned()],
        approval_wait: Duration::ZERO,
        ..GatePolicy::default()
    };
    let replies = vec![calls(&[("act", "now")]), says("It needs a word first")];
    let scene = Scene::with(replies, Default::default(), policy).await;
    assert_eq!(scene.says("act").await["content"], "It needs a word first");
    let told = brief(scene.model.requests()[1].messages.last().unwrap());
    assert!(told.contains("approv"), "{told}");
    assert!(scene.turns().await[0].finish.is_some());
}
