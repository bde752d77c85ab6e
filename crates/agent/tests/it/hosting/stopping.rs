//! `/stop` reaches everything that a turn began: calls under way, agents, and loops of plugins within
//! them. Each ends, and its end is on record.

use std::time::Duration;

use callgate_contract::TurnStop;
use callgate_store::Turn;

use super::{
    costs::{register_helper, register_plan},
    *,
};

/// Stops the session once the model was asked `times` times; gives every turn of it.
async fn stopped(stage: &Stage, times: usize, mode: Mode) -> Vec<Turn> {
    let stop = async {
        while stage.model.requests().len() < times {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        stage.hears_from("ann", "/stop", None).await;
    };
    let (arrived, ()) = tokio::join!(stage.hears_from("ann", "go", Some(mode)), stop);
    let Arrived::Turn(report) = arrived else {
        panic!("{arrived:?}");
    };
    assert_eq!(report.stop, Some(TurnStop::Cancelled));
    let turns = stage.agent.store().turns();
    // Those below end for themselves, a moment later at most.
    while !turns.unfinished().await.unwrap().is_empty() {
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    let mut turns = turns.list(&session(), 9).await.unwrap();
    turns.retain(|turn| !turn.start.model.is_empty());
    turns
}

fn all_cancelled(turns: &[Turn]) -> bool {
    let stop = |turn: &Turn| turn.finish.as_ref().unwrap().stop;
    turns.iter().all(|turn| stop(turn) == TurnStop::Cancelled)
}

/// How the turn's own call ended, on record.
async fn outcome(stage: &Stage, turn: JournalId) -> String {
    let calls = stage.agent.store().journal().recorded(turn).await.unwrap();
    let outcome = calls[0].outcome.clone().unwrap();
    outcome.result.unwrap_err()
}

#[tokio::test]
async fn an_agent_within_an_agent_within_a_plugin_is_stopped() {
    let home = Home::sqlite();
    let model = Scripted::default()
        .replies(calling("ask_helper", json!({"query": "x"})))
        .replies(calling("plan", json!({"topic": "x"})))
        .says("!hang");
    let stage = stage(&home, model).await;
    register_helper(&stage).await;
    let asked = json!({"messages": [], "tools": []});
    register_plan(&stage, "agent_loop", asked);
    let turns = stopped(&stage, 3, Mode::Tools).await;
    assert_eq!(turns.len(), 3);
    assert!(all_cancelled(&turns), "{turns:?}");
    let depths: Vec<u8> = turns.iter().map(|turn| turn.start.depth).collect();
    assert_eq!(depths, [0, 1, 2]);
    for pair in turns.windows(2) {
        assert_eq!(pair[1].start.parent, Some(pair[0].start.id), "one tree");
        let told = outcome(&stage, pair[0].start.id).await;
        assert!(told.contains("stopped"), "{told}");
    }
    assert_eq!(stage.sent(), ["Stopped."]);
}

#[tokio::test]
async fn a_question_of_a_plugin_is_stopped_with_its_turn_in_both_modes() {
    for mode in [Mode::Tools, Mode::Code] {
        let home = Home::sqlite();
        let model = match mode {
            Mode::Tools => Scripted::default().replies(calling("plan", json!({"topic": "x"}))),
            Mode::Code => Scripted::default().says(&crate::stage::python("plan x")),
        };
        let stage = stage(&home, model.says("!hang")).await;
        let asked = json!({"request": {"messages": [{"role": "user", "content": "?"}]}});
        register_plan(&stage, "model_chat", asked);
        let turns = stopped(&stage, 2, mode).await;
        assert_eq!(turns.len(), 2, "{mode:?}");
        assert!(all_cancelled(&turns), "{turns:?}");
        assert_eq!(turns[1].start.parent, Some(turns[0].start.id));
    }
}

#[tokio::test]
async fn a_call_that_would_never_end_is_stopped_and_those_after_it_are_not_made() {
    let home = Home::sqlite();
    let calls = [("act", "hang"), ("act", "later")];
    let model = Scripted::default().calls(&calls).says("next time");
    let stage = stage(&home, model).await;
    let stop = async {
        while stage.ran.counts().1 == 0 {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        stage.hears_from("ann", "/stop", None).await;
    };
    let go = stage.hears_from("ann", "go", Some(Mode::Tools));
    let (arrived, ()) = tokio::join!(go, stop);
    let Arrived::Turn(report) = arrived else {
        panic!("{arrived:?}");
    };
    assert_eq!(report.stop, Some(TurnStop::Cancelled));
    assert_eq!(stage.ran.counts().1, 1);
    let told = outcome(&stage, report.turn).await;
    assert_eq!(told, "'act' was stopped; it may still have taken effect");
    // The history is whole: each call has a result, so that the model can go on from it.
    stage.hears_from("ann", "go on", Some(Mode::Tools)).await;
    let asked = stage.model.requests().pop().unwrap();
    let results = asked.messages.iter();
    let results = results.filter(|message| matches!(message, ModelMessage::Tool { .. }));
    assert_eq!(results.count(), 2);
}
