//! Turns in both modes, by the answers of a scripted model.

use std::sync::Arc;

use callgate_agent::{Arrived, TurnReport};
use callgate_contract::{
    CallArguments, Effect, Kind, Mode, ModelMessage, ModelReply, Part, ToolCall, TurnStop,
    json as values,
};
use callgate_gate::{Call, method};
use callgate_testkit::Home;
use serde_json::json;

use crate::stage::{Scripted, Stage, python, session, settings};

fn report(arrived: Arrived) -> TurnReport {
    match arrived {
        Arrived::Turn(report) => report,
        other => panic!("not a turn: {other:?}"),
    }
}

fn words(message: &ModelMessage) -> String {
    match message {
        ModelMessage::User { parts } | ModelMessage::Tool { parts, .. } => {
            let text = |part: &Part| match part {
                Part::Text { text } => text.clone(),
                other => format!("{other:?}"),
            };
            parts.iter().map(text).collect::<Vec<_>>().join("\n")
        }
        ModelMessage::System { text } | ModelMessage::Assistant { text, .. } => text.clone(),
    }
}

fn last_words(stage: &Stage, round: usize) -> String {
    let requests = stage.model.requests();
    words(requests[round - 1].messages.last().unwrap())
}

/// (answers, rounds, stop, what was sent, calls)
async fn check(mode: Mode, model: Scripted, expected: (u32, TurnStop, &[&str], u64)) -> Stage {
    let stage = Stage::at(Home::sqlite(), model).await;
    let report = report(stage.hears_from("ann", "please", Some(mode)).await);
    let (rounds, stop, sent, calls) = expected;
    assert_eq!(
        (report.rounds, report.stop, report.calls),
        (rounds, Some(stop), calls),
        "{:?}",
        stage.sent()
    );
    assert_eq!(stage.sent(), sent);
    stage
}

#[tokio::test]
async fn an_answer_without_code_is_a_message() {
    let model = Scripted::default().says("Hello, Ann.");
    check(
        Mode::Code,
        model,
        (1, TurnStop::Answered, &["Hello, Ann."], 0),
    )
    .await;
}

#[tokio::test]
async fn a_tool_lets_the_code_end_the_turn() {
    let model = Scripted::default().says(&python("look x"));
    check(Mode::Code, model, (1, TurnStop::Silent, &[], 1)).await;
}

#[tokio::test]
async fn an_agent_method_starts_a_round_with_its_whole_text() {
    let long = "x".repeat(4_000);
    let model = Scripted::default()
        .says(&python(&format!("search {long}\nlook never")))
        .says("Found it.");
    let stage = check(
        Mode::Code,
        model,
        (2, TurnStop::Answered, &["Found it."], 1),
    )
    .await;
    let seen = last_words(&stage, 2);
    assert_eq!(seen.matches(&format!("found {long}")).count(), 1);
    let rows = stage
        .agent
        .store()
        .log()
        .list(&session(), 20)
        .await
        .unwrap();
    let system = rows
        .iter()
        .filter(|row| format!("{:?}", row.role) == "System")
        .count();
    assert_eq!(system, 1, "the result is a row that the user can see");
}

#[tokio::test]
async fn a_result_beyond_the_cap_goes_into_a_file() {
    let home = Home::sqlite();
    let mut few = settings();
    few.observation = 100;
    let model = Scripted::default()
        .says(&python(&format!("search {}", "y".repeat(500))))
        .says("ok");
    let stage = Stage::with(home.open().await, model, Default::default(), few);
    stage.hears("go").await;
    let seen = last_words(&stage, 2);
    let place = seen.split("are in ").nth(1).unwrap().trim_end_matches(']');
    let opened = stage
        .agent
        .store()
        .sessions()
        .open(&session())
        .await
        .unwrap();
    let folders = stage.agent.store().files().session(&opened).unwrap();
    let (folder, name) = folders.resolve(place).unwrap();
    assert_eq!(
        folder.read(name, 10_000).unwrap().len(),
        "found ".len() + 500
    );
}

#[tokio::test]
async fn parts_of_a_multimodal_method_reach_the_next_round() {
    let model = Scripted::default().says(&python("show cat")).says("A cat.");
    let stage = check(Mode::Code, model, (2, TurnStop::Answered, &["A cat."], 1)).await;
    assert!(last_words(&stage, 2).contains("picture of cat"));
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Snap {
    text: String,
}

#[tokio::test]
async fn a_picture_that_a_tool_gives_is_looked_at_and_not_read() {
    let snap = async |_: Call, snap: Snap| {
        let parts = json!([
            { "type": "text", "text": snap.text },
            { "type": "image", "url": "data:image/png;base64,iVBORw0KGgo=" },
        ]);
        Ok(values::from_json(parts).unwrap())
    };
    let mut model = Scripted::default()
        .calls(&[("snap", "a cat")])
        .says("A cat.");
    model.accepts.image = true;
    let stage = Stage::at(Home::sqlite(), model).await;
    let snap = method("snap", Kind::Tool, snap).effect(Effect::Pure);
    stage.agent.gate().register(Arc::new(snap)).unwrap();
    stage.hears_from("ann", "look", Some(Mode::Tools)).await;
    let requests = stage.model.requests();
    let [result, picture] = requests[1].messages.last_chunk().unwrap();
    assert_eq!(words(result), "a cat");
    let ModelMessage::User { parts } = picture else {
        panic!("{picture:?}");
    };
    assert!(
        matches!(parts.as_slice(), [Part::Image { .. }]),
        "{parts:?}"
    );
}

#[tokio::test]
async fn failing_code_is_shown_and_tried_again_a_few_times() {
    let failing = python("look fail");
    let model = Scripted::default()
        .says(&failing)
        .says("Sorry, it does not work.");
    let stage = check(
        Mode::Code,
        model,
        (2, TurnStop::Answered, &["Sorry, it does not work."], 1),
    )
    .await;
    assert!(last_words(&stage, 2).contains("it failed"));

    let always = (0..4).fold(Scripted::default(), |model, _| model.says(&failing));
    let stage = check(
        Mode::Code,
        always,
        (
            4,
            TurnStop::Error,
            &["I tried several times and did not succeed. The last error was: it failed"],
            4,
        ),
    )
    .await;
    assert_eq!(
        stage.ran.counts().0,
        4,
        "the last answer was run, not dropped"
    );
}

#[tokio::test]
async fn tools_are_called_until_there_is_an_answer() {
    let model = Scripted::default()
        .calls(&[("look", "a"), ("look", "b")])
        .calls(&[("act", "c")])
        .says("All done.");
    let stage = check(
        Mode::Tools,
        model,
        (3, TurnStop::Answered, &["All done."], 3),
    )
    .await;
    let requests = stage.model.requests();
    let results: Vec<String> = requests[2]
        .messages
        .iter()
        .rev()
        .take(5)
        .map(words)
        .collect();
    assert!(results.iter().any(|text| text == "saw a"), "{results:?}");
    assert_eq!(results[0], "did c");
    assert!(requests[0].tools.iter().any(|tool| tool.name == "look"));
    let history = stage.agent.store().conversations();
    let current = history.current(&session()).await.unwrap().unwrap();
    let roles: Vec<String> = history
        .history(current)
        .await
        .unwrap()
        .iter()
        .map(|row| row.message["role"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(
        roles,
        [
            "user",
            "assistant",
            "tool",
            "tool",
            "assistant",
            "tool",
            "assistant"
        ]
    );
}

#[tokio::test]
async fn a_tool_that_fails_tells_the_model() {
    let model = Scripted::default()
        .calls(&[("look", "fail"), ("nothing", "x")])
        .says("I see.");
    let stage = check(Mode::Tools, model, (2, TurnStop::Answered, &["I see."], 2)).await;
    let requests = stage.model.requests();
    let results: Vec<String> = requests[1]
        .messages
        .iter()
        .rev()
        .take(2)
        .map(words)
        .collect();
    assert!(results[1].contains("it failed"), "{results:?}");
    assert!(
        results[0].contains("there is no tool nothing") && results[0].contains("look"),
        "{results:?}"
    );
}

#[tokio::test]
async fn malformed_arguments_run_nothing() {
    let model = Scripted::default()
        .replies(ModelReply {
            tool_calls: vec![ToolCall {
                id: "c".into(),
                name: "act".into(),
                arguments: CallArguments::Malformed("{\"text\": ".into()),
                extra: None,
            }],
            ..ModelReply::default()
        })
        .says("Oh.");
    let stage = check(Mode::Tools, model, (2, TurnStop::Answered, &["Oh."], 1)).await;
    assert_eq!(stage.ran.counts().1, 0);
    assert!(last_words(&stage, 2).contains("not a JSON object"));
}

#[tokio::test]
async fn the_last_round_has_no_tools() {
    let home = Home::sqlite();
    let mut two = settings();
    two.rounds = 2;
    let model = Scripted::default()
        .calls(&[("look", "a")])
        .calls(&[("look", "b")])
        .says("That is all I have.");
    let stage = Stage::with(home.open().await, model, Default::default(), two);
    let report = report(stage.hears_from("ann", "go", Some(Mode::Tools)).await);
    assert_eq!((report.rounds, report.stop), (3, Some(TurnStop::Limit)));
    assert_eq!(stage.sent(), ["That is all I have."]);
    let requests = stage.model.requests();
    assert_eq!(requests.len(), 3);
    assert!(!requests[1].tools.is_empty() && requests[2].tools.is_empty());
}

#[tokio::test]
async fn the_same_call_again_and_again_is_refused() {
    let many = (0..6).fold(Scripted::default(), |model, _| {
        model.calls(&[("act", "same")])
    });
    let stage = check(
        Mode::Tools,
        many.says("Stopped."),
        (7, TurnStop::Answered, &["Stopped."], 6),
    )
    .await;
    assert_eq!(stage.ran.counts().1, 4);
    assert!(
        last_words(&stage, 5).contains("refused"),
        "{}",
        last_words(&stage, 5)
    );
    assert!(last_words(&stage, 6).contains("not made again"));
}

#[tokio::test]
async fn a_model_that_fails_ends_the_turn_with_its_reason() {
    let home = Home::sqlite();
    let stage = Stage::new(home.open().await, Scripted::default());
    let report = report(stage.hears("hello?").await);
    assert_eq!(report.stop, Some(TurnStop::Error));
    assert!(stage.sent()[0].contains("no answer left"));
}

#[tokio::test]
async fn results_stay_for_later_turns() {
    let home = Home::sqlite();
    let model = Scripted::default()
        .says(&python("note keep me"))
        .says("And now?");
    let stage = Stage::new(home.open().await, model);
    stage.hears("first").await;
    stage.hears("second").await;
    let seen = stage.model.requests()[1]
        .messages
        .iter()
        .map(words)
        .collect::<String>();
    assert!(seen.contains("noted keep me"), "{seen}");
}
