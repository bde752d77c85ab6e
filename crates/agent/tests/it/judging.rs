//! The judge: asked only where nothing else decided, paid for by its session, and never twice.

use std::{sync::Arc, time::Duration};

use callgate_agent::{AgentSettings, Allowance, Arrived, Budgets, Override, Watch};
use callgate_contract::{ModelReply, Principal, Usage};
use callgate_gate::GatePolicy;
use callgate_store::{CostBy, Incoming, Reception};
use callgate_testkit::Home;
use jiff::Timestamp;
use tokio::sync::Notify;

use crate::stage::{Scripted, Stage, incoming, settings};

fn judged() -> AgentSettings {
    let mut settings = settings();
    // The one model of the stage judges and answers.
    settings.answer.judge = "script".into();
    settings.answer.judge_when = "Speak of cooking.".into();
    settings.answer.names = vec!["小门".into()];
    settings
}

fn in_a_group(text: &str) -> Incoming {
    Incoming {
        session: "q:GroupMessage:1".parse().unwrap(),
        mentioned: false,
        ..incoming("ann", text)
    }
}

async fn hears(stage: &Stage, incoming: Incoming) -> bool {
    let arrived = stage
        .agent
        .arrive(incoming, Override::default(), Watch::default());
    matches!(arrived.await.unwrap(), Arrived::Turn(_))
}

fn costs(text: &str) -> ModelReply {
    ModelReply {
        text: text.into(),
        usage: Some(Usage {
            input: 40,
            output: 2,
            ..Usage::default()
        }),
        ..ModelReply::default()
    }
}

#[tokio::test]
async fn it_is_asked_where_nothing_else_decided_and_its_session_pays() {
    let home = Home::sqlite();
    let model = Scripted::default()
        .replies(costs("Yes."))
        .says("Add salt.")
        .replies(costs("no"))
        .says("By name.")
        .says("Of course.");
    let stage = Stage::with(home.open().await, model, GatePolicy::default(), judged());
    assert!(hears(&stage, in_a_group("the soup is bland")).await);
    assert!(!hears(&stage, in_a_group("see you at nine")).await);
    assert!(hears(&stage, in_a_group("小门?")).await);
    let mut mention = in_a_group("and pepper?");
    mention.mentioned = true;
    assert!(hears(&stage, mention).await);
    assert_eq!(stage.sent(), ["Add salt.", "By name.", "Of course."]);
    let requests = stage.model.requests();
    let shown = format!("{:?}", requests[0].messages);
    assert!(
        shown.contains("the soup is bland") && shown.contains("Speak of cooking."),
        "{shown}"
    );
    let costs = stage.agent.store().costs();
    let by_method = costs.sum(CostBy::Method, Timestamp::UNIX_EPOCH).await;
    let by_method = by_method.unwrap();
    let judge = by_method
        .iter()
        .find(|line| line.key.as_deref() == Some("builtin/judge"));
    let judge = judge.unwrap().sum;
    assert_eq!(
        (judge.requests, judge.tokens_in, judge.tokens_out),
        (2, 80, 4)
    );
    let by_session = costs.sum(CostBy::Session, Timestamp::UNIX_EPOCH).await;
    assert_eq!(
        by_session.unwrap()[0].key.as_deref(),
        Some("q:GroupMessage:1")
    );
    let by_user = costs
        .sum(CostBy::User, Timestamp::UNIX_EPOCH)
        .await
        .unwrap();
    let system = Principal::System;
    let ours = by_user
        .iter()
        .find(|line| line.key.as_deref() == Some(&*system.user()));
    assert_eq!(ours.unwrap().sum.requests, 2, "nobody else pays for it");
}

#[tokio::test]
async fn without_room_in_the_budget_or_the_pace_it_is_not_asked() {
    let mut poor = judged();
    poor.budgets = Budgets {
        session_day: Allowance {
            tokens: Some(10),
            ..Allowance::default()
        },
        ..Budgets::default()
    };
    let mut quiet = judged();
    quiet.pace.quiet_hours = vec!["00:00-24:00".parse().unwrap()];
    let mut capped = judged();
    capped.pace.cooldown_seconds = 3_600;
    for (settings, before) in [(poor, 0), (quiet, 0), (capped, 1)] {
        let home = Home::sqlite();
        let model = Scripted::default().says("Hello.").says("yes").says("No!");
        let stage = Stage::with(home.open().await, model, GatePolicy::default(), settings);
        if before > 0 {
            let mut mention = in_a_group("hello");
            mention.mentioned = true;
            assert!(hears(&stage, mention).await);
        }
        assert!(!hears(&stage, in_a_group("the soup is bland")).await);
        assert_eq!(stage.model.requests().len(), before);
    }
}

#[tokio::test]
async fn a_judge_that_fails_says_no() {
    let home = Home::sqlite();
    let stage = Stage::with(
        home.open().await,
        Scripted::default(),
        GatePolicy::default(),
        judged(),
    );
    assert!(!hears(&stage, in_a_group("the soup is bland")).await);
    let mut nobody = judged();
    nobody.answer.judge = "nobody".into();
    let store = stage.agent.store().clone();
    let stage = Stage::with(store, Scripted::default(), GatePolicy::default(), nobody);
    assert!(!hears(&stage, in_a_group("so is the bread")).await);
    assert_eq!(stage.sent(), [] as [&str; 0]);
}

#[tokio::test]
async fn what_it_said_before_a_crash_holds() {
    for (said, offered, expected) in [
        (true, true, 1),
        (true, false, 1),
        (false, true, 0),
        (false, false, 0),
    ] {
        let home = Home::sqlite();
        let store = home.open().await;
        let message = in_a_group("the soup is bland");
        let reception = Reception {
            offered,
            ..Reception::default()
        };
        let arrival = store.log().receive(&message, reception).await.unwrap();
        store.log().judge(arrival.row.id, said).await.unwrap();
        let model = Scripted::default().says("Add salt.");
        let stage = Stage::with(home.open().await, model, GatePolicy::default(), judged());
        stage.agent.recover().await.unwrap();
        assert_eq!(stage.model.requests().len(), expected);
        assert_eq!(stage.sent().len(), expected);
        assert_eq!(store.log().offered().await.unwrap(), []);
    }
}

#[tokio::test]
async fn no_turn_takes_along_what_it_is_looking_at() {
    let home = Home::sqlite();
    let told = Arc::new(Notify::new());
    let model = Scripted::default().waits(told.clone()).says("no");
    let stage = Stage::with(home.open().await, model, GatePolicy::default(), judged());
    let session = in_a_group("").session;
    let looks = async {
        while stage.model.requests().is_empty() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        let waiting = stage.agent.store().log().unanswered(&session).await;
        assert_eq!(waiting.unwrap(), []);
        told.notify_one();
    };
    let (answered, ()) = tokio::join!(hears(&stage, in_a_group("the soup is bland")), looks);
    assert!(!answered);
}
