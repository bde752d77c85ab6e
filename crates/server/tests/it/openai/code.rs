//! Personas that write code: what of it the asker hears, and when it is tools instead.

use std::time::Duration;

use callgate_contract::{Mode, TurnStop};
use callgate_gate::GatePolicy;
use callgate_store::NewPersona;
use serde_json::{Value as Json, json};

use super::scene::{Scene, says, tool, writes};

async fn coder(scene: &Scene) {
    let coder = NewPersona {
        name: "coder".into(),
        system_prompt: "You write code.".into(),
        mode: Mode::Code,
        ..NewPersona::default()
    };
    scene.store.personas().create(&coder).await.unwrap();
}

fn asked(text: &str) -> Json {
    json!({"model": "coder", "messages": [{"role": "user", "content": text}]})
}

/// The same answer whole and in chunks, and what the chunks were.
async fn answers(scene: &Scene) -> (String, Vec<String>) {
    let whole = scene.chat(asked("go")).await;
    assert_eq!(whole.status, 200, "{}", whole.text);
    let whole = whole.json()["choices"][0]["message"]["content"].clone();
    let mut body = asked("go");
    body["stream"] = json!(true);
    let streamed = scene.chat(body).await;
    let chunks = streamed.events();
    let texts = chunks
        .iter()
        .filter_map(|it| it["choices"][0]["delta"]["content"].as_str());
    let texts: Vec<String> = texts
        .filter(|it| !it.is_empty())
        .map(str::to_owned)
        .collect();
    assert_eq!(whole, texts.concat());
    assert_eq!(
        chunks.last().unwrap()["choices"][0]["finish_reason"],
        "stop",
        "{chunks:?}"
    );
    (texts.concat(), texts)
}

#[tokio::test]
async fn code_runs_and_only_what_it_says_is_heard() {
    let replies = || {
        vec![
            writes("look there\nfind it"),
            writes("say It is there.\nsay And fine."),
        ]
    };
    let scene = Scene::new([replies(), replies()].concat()).await;
    coder(&scene).await;
    let (text, _) = answers(&scene).await;
    assert_eq!(text, "It is there.\n\nAnd fine.");
    let requests = scene.model.requests();
    assert!(requests.iter().all(|request| request.tools.is_empty()));
    let system = &scene.model.last()[0];
    assert!(system.contains("You write code.") && system.contains("def look("));
    let last = scene.model.last().pop().unwrap();
    assert!(last.contains("found it"), "{last}");
    let turns = scene.turns().await;
    for turn in &turns {
        assert_eq!(turn.start.mode, Mode::Code);
        let runs = scene.store.turns().runs(turn.start.id).await.unwrap();
        assert_eq!(runs.len(), 2, "the code is on record");
    }
    assert!(scene.store.outbox().pending(None).await.unwrap().is_empty());
}

#[tokio::test]
async fn words_stream_as_they_come_and_code_after_them_does_not() {
    let plain = says("Hello there, how are you?");
    let around = says("Let me look at it.\n\n```python\nlook up\n```\nThat is all.");
    let replies = vec![plain.clone(), plain, around.clone(), around];
    let scene = Scene::new(replies).await;
    coder(&scene).await;
    let (text, chunks) = answers(&scene).await;
    assert_eq!(text, "Hello there, how are you?");
    assert!(chunks.len() > 2, "{chunks:?}");
    let (text, _) = answers(&scene).await;
    assert_eq!(text, "Let me look at it.\n\nThat is all.");
}

#[tokio::test]
async fn tools_and_forms_of_the_askers_are_no_matter_for_code() {
    let scene = Scene::new(vec![says("one"), says("two"), says("three"), says("four")]).await;
    coder(&scene).await;
    for more in [
        json!({"tools": [tool("mine")]}),
        json!({"response_format": {"type": "json_object"}}),
        json!({"tool_choice": "required"}),
        json!({"tool_choice": "auto", "response_format": {"type": "text"}}),
    ] {
        let mut body = asked("go");
        for (name, value) in more.as_object().unwrap() {
            body[name] = value.clone();
        }
        assert_eq!(scene.chat(body).await.status, 200);
    }
    let turns = scene.turns().await;
    let modes: Vec<Mode> = turns.iter().map(|turn| turn.start.mode).collect();
    assert_eq!(modes, [Mode::Tools, Mode::Tools, Mode::Tools, Mode::Code]);
}

#[tokio::test]
async fn the_sessions_mode_goes_before_the_personas() {
    let mut scene = Scene::new(vec![says("one")]).await;
    coder(&scene).await;
    let id = scene.takes_key(&["chat"]).await;
    let session = format!("api:FriendMessage:{id}").parse().unwrap();
    let settings = scene.store.settings();
    let changed = settings.change_session(&session, |it| it.mode = Some(Mode::Tools));
    changed.await.unwrap();
    assert_eq!(scene.chat(asked("go")).await.status, 200);
    assert_eq!(scene.turns().await[0].start.mode, Mode::Tools);
}

#[tokio::test]
async fn code_that_needs_an_approval_does_without() {
    let policy = GatePolicy {
        ask: vec!["act".to_owned()],
        approval_wait: Duration::ZERO,
        ..GatePolicy::default()
    };
    let replies = vec![writes("act now"), says("It needs a word first, you see")];
    let scene = Scene::with(replies, Default::default(), policy).await;
    coder(&scene).await;
    let answer = scene.chat(asked("go")).await.json();
    let answer = &answer["choices"][0]["message"]["content"];
    assert_eq!(answer, "It needs a word first, you see");
    let told = scene.model.last().pop().unwrap();
    assert!(told.contains("approv"), "{told}");
    assert!(scene.turns().await[0].finish.is_some());
}

#[tokio::test]
async fn code_that_never_succeeds_is_an_answer_and_no_error() {
    let failing = vec![writes("nothing_of_that_name x"); 20];
    let scene = Scene::new(failing).await;
    coder(&scene).await;
    let asked = scene.chat(asked("go")).await;
    assert_eq!(asked.status, 200, "else clients would ask again");
    let answer = asked.json()["choices"][0]["message"]["content"].clone();
    assert!(
        answer.as_str().unwrap().contains("did not succeed"),
        "{answer}"
    );
    let finish = scene.turns().await.pop().unwrap().finish.unwrap();
    assert_eq!(finish.stop, TurnStop::Error);
}
