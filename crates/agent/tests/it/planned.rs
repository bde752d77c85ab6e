//! What the operator has the bot say at a time: with a model and without, once for each time, within the pace.

use callgate_agent::{AgentSettings, Pace, Watch};
use callgate_contract::{SessionKey, TurnStop};
use callgate_gate::GatePolicy;
use callgate_store::{PlannedTimer, Repeat, Store, TimerAct, TimerPlan, TimerState, Zone};
use callgate_testkit::{Home, on_each_engine};
use jiff::{SignedDuration, Timestamp};
use serde_json::json;
use uuid::Uuid;

use crate::stage::{Scripted, Stage, settings};

fn group() -> SessionKey {
    "q:GroupMessage:1".parse().unwrap()
}

fn planned(act: TimerAct, text: &str, minutes_ago: i64) -> PlannedTimer {
    PlannedTimer {
        id: Uuid::now_v7(),
        session: group(),
        text: text.to_owned(),
        due_at: Timestamp::now() - SignedDuration::from_mins(minutes_ago),
        plan: TimerPlan {
            act,
            repeat: None,
            zone: Zone::default(),
            regardless: false,
        },
    }
}

/// As the clock does it.
async fn fire_due(stage: &Stage) {
    let timers = stage.agent.store().timers();
    for timer in timers.due(Timestamp::now()).await.unwrap() {
        if let Some(row) = timers.fire(timer.id).await.unwrap() {
            let answered = stage.agent.answer_stored(&row, Watch::default());
            answered.await.unwrap();
        }
    }
}

fn paced(pace: serde_json::Value) -> AgentSettings {
    AgentSettings {
        pace: Pace::default().with(&pace).unwrap(),
        ..settings()
    }
}

async fn stage(store: Store, settings: AgentSettings) -> Stage {
    let model = Scripted::default().says("It will rain.").says("Again.");
    Stage::with(store, model, GatePolicy::default(), settings)
}

#[tokio::test]
async fn what_is_to_be_said_needs_no_model_and_what_is_to_be_asked_does() {
    on_each_engine(async |home: Home| {
        let stage = stage(home.open().await, settings()).await;
        let timers = stage.agent.store().timers();
        let say = planned(TimerAct::Say, "/help is not a command here.", 2);
        timers.plan(&say).await.unwrap();
        fire_due(&stage).await;
        assert_eq!(stage.sent(), ["/help is not a command here."]);
        assert_eq!(stage.model.requests().len(), 0);
        let ask = planned(TimerAct::Ask, "What will the weather be?", 1);
        timers.plan(&ask).await.unwrap();
        fire_due(&stage).await;
        assert_eq!(stage.sent().last().unwrap(), "It will rain.");
        let asked = format!("{:?}", stage.model.requests()[0].messages);
        assert!(asked.contains("planned by the operator"), "{asked}");
        fire_due(&stage).await;
        assert_eq!(stage.sent().len(), 2, "each time fires once");
        let turns = stage.agent.store().turns();
        let turns = turns.list(&group(), 9).await.unwrap();
        assert!(turns.iter().all(|turn| turn.start.unprompted));
        let stop = turns[0].finish.as_ref().map(|finish| finish.stop);
        assert_eq!(stop, Some(TurnStop::Answered));
    })
    .await;
}

#[tokio::test]
async fn a_crash_between_the_time_and_the_words_costs_and_doubles_nothing() {
    let home = Home::sqlite();
    let first = stage(home.open().await, settings()).await;
    let timers = first.agent.store().timers();
    let mut say = planned(TimerAct::Say, "Good morning!", 2);
    say.plan.repeat = Some(Repeat::Every(60));
    timers.plan(&say).await.unwrap();
    assert!(timers.fire(say.id).await.unwrap().is_some());
    assert!(timers.fire(say.id).await.unwrap().is_none());
    drop(first);
    let second = stage(home.open().await, settings()).await;
    second.agent.recover().await.unwrap();
    fire_due(&second).await;
    assert_eq!(second.sent(), ["Good morning!"]);
    let third = stage(home.open().await, settings()).await;
    third.agent.recover().await.unwrap();
    assert_eq!(third.sent(), [] as [&str; 0]);
}

#[tokio::test]
async fn quiet_hours_and_the_cap_hold_for_it_unless_told_otherwise() {
    let night = json!({"quiet_hours": ["00:00-24:00"], "quiet": "everything"});
    for (pace, regardless, expected) in [
        (json!({}), false, 2),
        (night.clone(), false, 0),
        (night, true, 2),
        (json!({"per_hour": 1}), false, 1),
        (json!({"per_hour": 1}), true, 2),
        // What was answered a moment ago holds up nothing that is planned.
        (json!({"cooldown_seconds": 600}), false, 2),
    ] {
        let home = Home::sqlite();
        let stage = stage(home.open().await, paced(pace.clone())).await;
        for (act, minutes) in [(TimerAct::Say, 2), (TimerAct::Ask, 1)] {
            let mut timer = planned(act, "Good morning!", minutes);
            timer.plan.regardless = regardless;
            stage.agent.store().timers().plan(&timer).await.unwrap();
        }
        fire_due(&stage).await;
        let sent = stage.sent();
        assert_eq!(sent.len(), expected, "{pace}, {regardless}: {sent:?}");
    }
}

#[tokio::test]
async fn a_time_that_passed_unseen_is_made_up_for_once_and_not_after_an_hour() {
    for (repeat, minutes_ago, expected) in [
        (None, 59, 1),
        (None, 61, 0),
        (Some(Repeat::Every(20)), 600, 1),
        (Some(Repeat::Every(600)), 661, 0),
    ] {
        let home = Home::sqlite();
        let stage = stage(home.open().await, settings()).await;
        let timers = stage.agent.store().timers();
        let mut timer = planned(TimerAct::Say, "Now!", minutes_ago);
        timer.plan.repeat = repeat;
        timers.plan(&timer).await.unwrap();
        fire_due(&stage).await;
        fire_due(&stage).await;
        assert_eq!(stage.sent().len(), expected, "{repeat:?} {minutes_ago}");
        let waiting = timers.list(&group()).await.unwrap();
        assert_eq!(waiting.len(), usize::from(repeat.is_some()));
        for timer in waiting {
            assert_eq!(timer.state, TimerState::Waiting);
            assert!(timer.due_at > Timestamp::now());
        }
    }
}
