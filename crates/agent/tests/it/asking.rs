//! What models were asked is on record exactly, in a space that does not grow with the conversation.

use callgate_contract::{JournalId, Mode, ModelReply, Part};
use callgate_store::ConversationUpdate;
use callgate_testkit::{on_each_engine, whole_requests};
use serde_json::{Value as Json, json};

use crate::stage::{Scripted, Stage, session, settings};

async fn turns(stage: &Stage) -> Vec<JournalId> {
    let turns = stage.agent.store().turns();
    let mut turns = turns.list(&session(), 99).await.unwrap();
    turns.retain(|turn| !turn.start.model.is_empty());
    turns.into_iter().map(|turn| turn.start.id).collect()
}

/// What is on record of every round, against what the model really got.
async fn compare(stage: &Stage) {
    let store = stage.agent.store();
    let mut recorded = Vec::new();
    for turn in turns(stage).await {
        let rounds = callgate_agent::rounds(store, turn).await.unwrap();
        recorded.extend(whole_requests(&rounds));
    }
    let asked = stage.model.requests();
    let asked: Vec<Json> = asked.iter().map(|request| json!(request)).collect();
    assert_eq!(recorded, asked);
}

#[tokio::test]
async fn the_record_is_exact_and_does_not_grow_with_the_conversation() {
    on_each_engine(async |home| {
        let mut model = Scripted::default();
        for place in 0..12 {
            model = match place % 3 {
                0 => model
                    .calls(&[("look", "up")])
                    .says(&format!("seen {place}")),
                _ => model.says(&format!("answer {place}")),
            };
        }
        let stage = Stage::new(home.open().await, model);
        for place in 0..12 {
            let said = format!("question {place}");
            stage.hears_from("ann", &said, Some(Mode::Tools)).await;
        }
        compare(&stage).await;
        let store = stage.agent.store();
        let mut sizes = Vec::new();
        for turn in turns(&stage).await {
            let kept = store.turns().rounds(turn).await.unwrap();
            sizes.push(kept[0].request.as_ref().unwrap().to_string().len());
        }
        let (second, last) = (sizes[1], sizes[sizes.len() - 1]);
        assert!(last < second + 100, "{sizes:?}");
    })
    .await;
}

/// What is read back of a turn is as long as what was said in it, however often its beginning was sent
/// to the model.
#[tokio::test]
async fn many_rounds_are_read_back_without_repeating_them() {
    const ROUNDS: usize = 100;
    let mut model = Scripted::default();
    for place in 1..ROUNDS {
        model = model.calls(&[("look", &format!("at {place}"))]);
    }
    let mut settings = settings();
    settings.rounds = 200;
    let home = callgate_testkit::Home::sqlite();
    let stage = Stage::with(
        home.open().await,
        model.says("seen"),
        Default::default(),
        settings,
    );
    stage
        .hears_from("ann", "look around", Some(Mode::Tools))
        .await;
    compare(&stage).await;

    let turn = turns(&stage).await[0];
    let rounds = callgate_agent::rounds(stage.agent.store(), turn).await;
    let rounds = rounds.unwrap();
    assert_eq!(rounds.len(), ROUNDS);
    let count = |request: &Json| request["messages"].as_array().unwrap().len();
    let read: usize = rounds
        .iter()
        .map(|round| count(round.request.as_ref().unwrap()))
        .sum();
    let last = whole_requests(&rounds).last().map(count);
    assert_eq!(Some(read), last, "each message once");
}

#[tokio::test]
async fn histories_that_were_replaced_or_summarised_since_are_still_on_record() {
    on_each_engine(async |home| {
        let model = Scripted::default()
            .says("one")
            .says("two")
            .says("three")
            .says("four");
        let stage = Stage::new(home.open().await, model);
        let conversations = stage.agent.store().conversations();
        let tell = async |text: &str| stage.hears_from("ann", text, Some(Mode::Tools)).await;
        tell("first").await;
        tell("second").await;
        let id = conversations.current(&session()).await.unwrap().unwrap();
        let summary = json!({"role": "user", "content": "in short"});
        conversations.compact(id, 3, &summary.into()).await.unwrap();
        tell("third").await;
        let asked = format!("{:?}", stage.model.requests()[2].messages);
        assert!(
            asked.contains("in short") && !asked.contains("second"),
            "{asked}"
        );
        let replaced = ConversationUpdate {
            history: Some(vec![json!({"role": "user", "content": "anew"})]),
            ..ConversationUpdate::default()
        };
        conversations
            .update(&session(), None, replaced)
            .await
            .unwrap();
        tell("fourth").await;
        compare(&stage).await;

        let turn = turns(&stage).await[1];
        conversations.delete(&session(), Some(id)).await.unwrap();
        let rounds = callgate_agent::rounds(stage.agent.store(), turn).await;
        assert_eq!(rounds.unwrap()[0].request, None, "erased is erased");
    })
    .await;
}

/// A picture in the history is not what a model gets that cannot see it.
#[tokio::test]
async fn a_history_that_was_changed_for_the_model_is_kept_as_it_was_shown() {
    on_each_engine(async |home| {
        let model = Scripted::default().replies(ModelReply {
            text: "nice".into(),
            ..ModelReply::default()
        });
        let stage = Stage::new(home.open().await, model.says("yes"));
        let mut picture = crate::stage::incoming("ann", "look");
        picture.parts.push(Part::Image {
            url: "data:image/png;base64,AA==".into(),
        });
        let overrule = callgate_agent::Override {
            mode: Some(Mode::Tools),
            ..Default::default()
        };
        let watch = callgate_agent::Watch::default();
        let arrived = stage.agent.arrive(picture, overrule, watch).await;
        arrived.unwrap();
        stage
            .hears_from("ann", "still there?", Some(Mode::Tools))
            .await;
        let asked = format!("{:?}", stage.model.requests()[1].messages);
        assert!(asked.contains("left out"), "{asked}");
        compare(&stage).await;
    })
    .await;
}
