//! Limits on people: for whom one holds, what counts against it, and that whoever meets it hears so once.

use std::sync::{Arc, Mutex};

use callgate_agent::{AgentSettings, Arrived, Override, Watch};
use callgate_contract::{
    ArrivalFacts, BoxFuture, Limit, Listener, Mode, ModelReply, Points, SessionKey, Usage, Verdict,
};
use callgate_store::{Incoming, Sender};
use callgate_testkit::Home;

use crate::stage::{Scripted, Stage, incoming, session, settings};

const MANY: usize = 40;

fn talkative() -> Scripted {
    (0..MANY).fold(Scripted::default(), |model, _| model.says("Well."))
}

fn limits(texts: &[&str]) -> AgentSettings {
    let limit = |text: &&str| -> Limit { serde_json::from_str(text).unwrap() };
    AgentSettings {
        limits: texts.iter().map(limit).collect(),
        ..settings()
    }
}

async fn limited(home: &Home, texts: &[&str]) -> Stage {
    let store = home.open().await;
    Stage::with(store, talkative(), Default::default(), limits(texts))
}

async fn says_in(stage: &Stage, session: &str, user: &str, text: &str) -> Arrived {
    let incoming = Incoming {
        session: session.parse::<SessionKey>().unwrap(),
        sender: Sender {
            id: user.to_owned(),
            name: user.to_owned(),
        },
        ..incoming(user, text)
    };
    let arrived = stage
        .agent
        .arrive(incoming, Override::default(), Watch::default());
    arrived.await.unwrap()
}

/// How many of three messages are answered.
async fn answered(stage: &Stage, session: &str, user: &str) -> usize {
    let mut answered = 0;
    for _ in 0..3 {
        let arrived = says_in(stage, session, user, "hello").await;
        answered += usize::from(matches!(arrived, Arrived::Turn(_)));
    }
    answered
}

/// Written down by hand: of three messages each, in this order, so many are answered.
#[tokio::test]
async fn a_limit_holds_for_whom_it_names() {
    const GROUP: &str = "cli:GroupMessage:1";
    const OTHER: &str = "cli:GroupMessage:2";
    const ELSEWHERE: &str = "tg:GroupMessage:1";
    let speakers = [
        (GROUP, "ann"),
        (GROUP, "bob"),
        (GROUP, "root"),
        (OTHER, "ann"),
        (ELSEWHERE, "ann"),
        (ELSEWHERE, "root"),
    ];
    for (limit, expected) in [
        (r#"{"messages":2,"person":"cli:ann"}"#, [2, 3, 3, 0, 3, 3]),
        (r#"{"messages":2,"person":"tg:ann"}"#, [3, 3, 3, 3, 2, 3]),
        (r#"{"messages":2}"#, [2, 2, 3, 0, 2, 2]),
        (r#"{"messages":2,"role":"member"}"#, [2, 2, 3, 0, 2, 2]),
        (r#"{"messages":2,"role":"admin"}"#, [3, 3, 2, 3, 3, 3]),
        (r#"{"messages":1,"person":"cli:root"}"#, [3, 3, 1, 3, 3, 3]),
        (r#"{"messages":2,"platform":"tg"}"#, [3, 3, 3, 3, 2, 2]),
        (
            r#"{"messages":2,"group":"cli:GroupMessage:1"}"#,
            [2, 2, 3, 3, 3, 3],
        ),
        (
            r#"{"messages":2,"group":"cli:GroupMessage:1","person":"cli:ann"}"#,
            [2, 3, 3, 3, 3, 3],
        ),
        // Whoever decides for others is not held to it, but takes from what there is.
        (
            r#"{"messages":4,"group":"cli:GroupMessage:1","together":true}"#,
            [3, 1, 3, 3, 3, 3],
        ),
        (
            r#"{"messages":5,"platform":"cli","together":true}"#,
            [3, 2, 3, 0, 3, 3],
        ),
        (r#"{"messages":7,"together":true}"#, [3, 3, 3, 0, 0, 0]),
        (r#"{"messages":0,"person":"cli:bob"}"#, [3, 0, 3, 3, 3, 3]),
        (
            r#"{"messages":0,"person":"cli:bob","until":"2020-01-01T00:00:00Z"}"#,
            [3, 3, 3, 3, 3, 3],
        ),
        (r#"{"messages":2,"key":"ann"}"#, [3, 3, 3, 3, 3, 3]),
    ] {
        let home = Home::sqlite();
        let stage = limited(&home, &[limit]).await;
        let mut found = Vec::new();
        for (session, user) in speakers {
            found.push(answered(&stage, session, user).await);
        }
        assert_eq!(found, expected, "{limit}");
    }
}

#[tokio::test]
async fn whoever_is_limited_hears_it_once_in_each_chat_and_in_their_language() {
    let home = Home::sqlite();
    let stage = limited(&home, &[r#"{"messages":1,"role":"member"}"#]).await;
    assert_eq!(answered(&stage, "cli:GroupMessage:1", "ann").await, 1);
    let told =
        "I answer up to 1 of your messages a day, and they are used up. I answer again from ";
    let sent = stage.sent();
    assert_eq!(sent.len(), 2, "{sent:?}");
    assert!(
        sent[1].starts_with(told) && sent[1].ends_with(" 00:00 UTC on."),
        "{sent:?}"
    );
    says_in(&stage, "cli:GroupMessage:2", "ann", "hello").await;
    says_in(&stage, "cli:GroupMessage:2", "ann", "/help").await;
    assert_eq!(
        stage.sent().len(),
        3,
        "neither again there, nor is the command obeyed"
    );
    says_in(&stage, "cli:GroupMessage:1", "ann", "你好").await;
    let sent = stage.sent();
    assert!(
        sent[3].starts_with("每天最多回答你 1 条消息，已经用完了。"),
        "{sent:?}"
    );
    // What nobody would have answered is not talked about.
    let chatter = Incoming {
        session: "cli:GroupMessage:3".parse().unwrap(),
        mentioned: false,
        ..incoming("ann", "by the way")
    };
    let heard = stage
        .agent
        .arrive(chatter, Override::default(), Watch::default());
    assert!(matches!(heard.await, Ok(Arrived::Heard)));
    assert_eq!(stage.sent().len(), 4);
}

/// Whatever a crash leaves in memory is nothing: all is counted from what is on disk.
#[tokio::test]
async fn a_new_process_counts_on() {
    let home = Home::sqlite();
    let limit = r#"{"messages":2,"role":"member"}"#;
    for (answers, told) in [(2, 1), (0, 0), (0, 0)] {
        let stage = limited(&home, &[limit]).await;
        assert_eq!(answered(&stage, "cli:GroupMessage:1", "ann").await, answers);
        assert_eq!(stage.sent().len(), answers + told);
    }
}

#[tokio::test]
async fn many_at_once_are_counted_one_by_one() {
    let home = Home::sqlite();
    let stage = Arc::new(limited(&home, &[r#"{"messages":4}"#]).await);
    let all = (0..16).map(|_| {
        let stage = stage.clone();
        tokio::spawn(async move { says_in(&stage, "cli:GroupMessage:1", "ann", "hello").await })
    });
    for one in all.collect::<Vec<_>>() {
        one.await.unwrap();
    }
    let log = stage.agent.store().log();
    let rows = log
        .list(&"cli:GroupMessage:1".parse().unwrap(), 100)
        .await
        .unwrap();
    // Four that are answered, and the one that is told.
    let taken = rows.iter().filter(|row| row.turn.is_some()).count();
    assert_eq!(taken, 5);
    let told = stage
        .sent()
        .iter()
        .filter(|said| said.contains("used up"))
        .count();
    assert_eq!(told, 1);
}

async fn cost(stage: &Stage) -> (u64, u64) {
    let before = stage.agent.store().counts();
    stage.hears_from("ann", "hello", Some(Mode::Tools)).await;
    let after = stage.agent.store().counts();
    (
        after.statements - before.statements,
        after.commits - before.commits,
    )
}

#[tokio::test]
async fn a_limit_costs_one_statement_and_none_for_those_it_is_not_about() {
    let mut costs = Vec::new();
    for texts in [
        &[][..],
        &[
            r#"{"messages":1,"person":"tg:ann"}"#,
            r#"{"messages":1,"role":"admin"}"#,
        ],
        &[
            r#"{"messages":30}"#,
            r#"{"messages":30,"per":"hour","group":"cli:FriendMessage:ann"}"#,
        ],
    ] {
        let home = Home::sqlite();
        let stage = limited(&home, texts).await;
        cost(&stage).await;
        costs.push(cost(&stage).await);
    }
    let (statements, commits) = costs[0];
    assert_eq!(costs[1], (statements, commits));
    assert_eq!(costs[2], (statements + 1, commits));
}

fn expensive(tokens: u64) -> ModelReply {
    ModelReply {
        text: "Well.".to_owned(),
        usage: Some(Usage {
            input: tokens,
            output: 10,
            money: Some(300_000),
            ..Usage::default()
        }),
        ..ModelReply::default()
    }
}

#[tokio::test]
async fn what_models_take_for_somebody_is_bounded_too() {
    for (limit, told) in [
        (
            r#"{"tokens":100000,"role":"member"}"#,
            "You have 100000 tokens a day, and they are used up.",
        ),
        (
            r#"{"money":0.5,"person":"cli:ann"}"#,
            "You can spend 0.50 a day, and it is used up.",
        ),
        (
            r#"{"money":0.5,"group":"cli:FriendMessage:ann","together":true}"#,
            "0.50 a day can be spent here, and it is used up.",
        ),
    ] {
        let home = Home::sqlite();
        let model = (0..3).fold(Scripted::default(), |model, _| {
            model.replies(expensive(60_000))
        });
        let store = home.open().await;
        let stage = Stage::with(store, model, Default::default(), limits(&[limit]));
        for answered in [true, true, false, false] {
            let arrived = stage.hears("hello").await;
            assert_eq!(matches!(arrived, Arrived::Turn(_)), answered, "{limit}");
        }
        let sent = stage.sent();
        assert_eq!(sent.len(), 3, "{sent:?}");
        assert!(sent[2].starts_with(told), "{sent:?}");
        assert_eq!(stage.model.requests().len(), 2, "nobody asked the model");
    }
}

/// The last request is not made, rather than found out to be too much.
#[tokio::test]
async fn a_request_that_a_limit_cannot_hold_is_not_made() {
    let home = Home::sqlite();
    let stage = limited(&home, &[r#"{"tokens":50,"role":"member"}"#]).await;
    stage.hears("hello").await;
    assert!(stage.model.requests().is_empty());
    let sent = stage.sent();
    assert!(
        sent[0].contains("The budget of tokens for you has 50 left"),
        "{sent:?}"
    );
}

/// Answers `/draw` and hears everything.
#[derive(Default)]
struct Painter(Mutex<Vec<String>>);

impl Listener for Painter {
    fn points(&self) -> Points {
        Points::ARRIVED
    }

    fn arrived<'a>(&'a self, message: &'a ArrivalFacts) -> BoxFuture<'a, Verdict> {
        let text = message.parts[0].words().unwrap_or_default().into_owned();
        let verdict = if text == "/draw" {
            Verdict::Taken
        } else {
            Verdict::Pass
        };
        self.0.lock().unwrap().push(text);
        Box::pin(async move { verdict })
    }
}

#[tokio::test]
async fn what_plugins_answer_counts_and_beyond_a_limit_they_hear_nothing() {
    let home = Home::sqlite();
    let painter = Arc::new(Painter::default());
    let stage = Stage::wired(
        home.open().await,
        talkative(),
        Default::default(),
        limits(&[r#"{"messages":2,"role":"member"}"#]),
        vec![painter.clone()],
    );
    let chatter = async |text: &str| {
        let incoming = Incoming {
            session: "cli:GroupMessage:1".parse().unwrap(),
            mentioned: false,
            ..incoming("ann", text)
        };
        let arrived = stage
            .agent
            .arrive(incoming, Override::default(), Watch::default());
        arrived.await.unwrap()
    };
    chatter("one").await;
    chatter("two").await;
    chatter("three").await;
    assert!(matches!(chatter("/draw").await, Arrived::Taken));
    assert!(matches!(chatter("/draw").await, Arrived::Taken));
    assert!(matches!(chatter("/draw").await, Arrived::Heard));
    let heard = painter.0.lock().unwrap().clone();
    assert_eq!(heard, ["one", "two", "three", "/draw", "/draw"]);
}

#[tokio::test]
async fn administrators_limit_somebody_or_the_whole_chat() {
    let home = Home::sqlite();
    let stage = limited(&home, &[]).await;
    let says = async |user: &str, text: &str| {
        let arrived = stage.hears_from(user, text, None).await;
        (
            matches!(arrived, Arrived::Turn(_)),
            stage.sent().pop().unwrap_or_default(),
        )
    };
    let refused = says("ann", "/limit bob 1 per day").await.1;
    assert!(
        refused.starts_with("Only administrators can do that"),
        "{refused}"
    );
    for unclear in [
        "/limit bob",
        "/limit bob many per day",
        "/limit bob 3 per week",
        "/limit bob -3 per day",
        "/limit bob 0 per day",
        "/limit bob 3 words per day",
    ] {
        let told = says("root", unclear).await.1;
        assert!(
            told.starts_with("Write /limit ACCOUNT"),
            "{unclear}: {told}"
        );
    }
    let told = says("root", "/ban bob soon").await.1;
    assert!(told.starts_with("Write /ban ACCOUNT"), "{told}");
    assert_eq!(says("root", "/limit").await.1, "There are no limits here.");
    let told = says("root", "/limit bob 1 per day").await.1;
    assert_eq!(told, "bob has 1 message a day here.");
    let told = says("root", "/limit here 50000 tokens per hour").await.1;
    assert_eq!(told, "This chat has 50000 tokens an hour.");
    let listed = says("root", "/limit").await.1;
    assert_eq!(
        listed,
        "cli:bob: 1 message a day\ntogether: 50000 tokens an hour"
    );
    let listed = says("ann", "/limit").await.1;
    assert_eq!(
        listed, "together: 50000 tokens an hour",
        "bob's is none of hers"
    );

    assert!(says("bob", "hello").await.0);
    assert!(!says("bob", "hello").await.0);
    assert!(says("ann", "hello").await.0);
    let stop = says("bob", "/stop").await.1;
    assert_eq!(stop, "Nothing is being done.", "to stop is always allowed");
    let told = says("root", "/limit bob off").await.1;
    assert_eq!(told, "bob has no limit here any more.");
    let told = says("root", "/limit bob off").await.1;
    assert_eq!(told, "bob had no limit here.");
    assert!(says("bob", "hello").await.0);
    let told = says("root", "/limit here off").await.1;
    assert_eq!(told, "This chat has no limit any more.");
    assert!(
        stage
            .agent
            .store()
            .limits()
            .list()
            .await
            .unwrap()
            .is_empty()
    );

    // Of a chat in another place the same account is somebody else's.
    says("root", "/ban bob").await;
    let kept = stage.agent.store().limits().list().await.unwrap();
    assert_eq!(kept[0].made_by, "cli:root");
    assert_eq!(kept[0].limit.group, Some(session()));
    assert_eq!(answered(&stage, "tg:GroupMessage:9", "bob").await, 3);
    assert_eq!(answered(&stage, "cli:GroupMessage:9", "bob").await, 3);
}
