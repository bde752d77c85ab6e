//! What a message and a step of the tool loop cost the database: counted, so that a regression fails
//! whatever the machine does besides.

use std::sync::atomic::Ordering;

use callgate_contract::Mode;
use callgate_testkit::Home;

use crate::stage::{Scripted, Stage};

/// Statements and commits of one message.
async fn cost(stage: &Stage, mode: Mode) -> (u64, u64) {
    let before = stage.agent.store().counts();
    stage.hears_from("ann", "hello", Some(mode)).await;
    let after = stage.agent.store().counts();
    (
        after.statements - before.statements,
        after.commits - before.commits,
    )
}

/// So many that the chat outgrows what a request keeps to itself.
const MESSAGES: usize = 30;

#[tokio::test]
async fn a_message_is_fifteen_statements_and_three_commits_at_most() {
    for mode in [Mode::Code, Mode::Tools] {
        let home = Home::sqlite();
        let answers = (0..=MESSAGES).map(|place| format!("Answer {place}."));
        let answers: Vec<String> = answers.collect();
        let says = |model: Scripted, answer: &String| model.says(answer);
        let model = answers.iter().fold(Scripted::default(), says);
        let stage = Stage::new(home.open().await, model);
        stage.outbox.1.store(true, Ordering::Relaxed);
        cost(&stage, mode).await;
        for _ in 0..MESSAGES {
            let (statements, commits) = cost(&stage, mode).await;
            assert!(statements <= 15, "{mode:?}: {statements} statements");
            assert!(commits <= 3, "{mode:?}: {commits} commits");
        }
        assert_eq!(stage.sent(), answers);
    }
}

#[tokio::test]
async fn a_step_of_the_tool_loop_is_four_statements_and_two_commits_at_most() {
    for method in ["look", "act"] {
        let home = Home::sqlite();
        let model = Scripted::default()
            .says("Hello.")
            .calls(&[(method, "a")])
            .says("Once.")
            .calls(&[(method, "a")])
            .calls(&[(method, "b")])
            .calls(&[(method, "c")])
            .says("Thrice.");
        let stage = Stage::new(home.open().await, model);
        stage.outbox.1.store(true, Ordering::Relaxed);
        cost(&stage, Mode::Tools).await;
        let once = cost(&stage, Mode::Tools).await;
        let thrice = cost(&stage, Mode::Tools).await;
        assert_eq!(stage.sent(), ["Hello.", "Once.", "Thrice."]);
        let (statements, commits) = (thrice.0 - once.0, thrice.1 - once.1);
        assert!(statements <= 2 * 4, "{method}: {statements} statements");
        assert!(commits <= 2 * 2, "{method}: {commits} commits");
    }
}
