//! What models were asked is on record exactly, in a space that does not grow with the conversation.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use callgate_contract::{
    BoxFuture, JournalId, Listener, Mode, ModelMessage, ModelReply, ModelRequest, Part, Points,
    TurnFacts,
};
use callgate_store::ConversationUpdate;
use callgate_testkit::{Home, on_each_engine, whole_requests};
use serde_json::{Value as Json, json};

use crate::stage::{Scripted, Stage, session, settings};

async fn turns(stage: &Stage) -> Vec<JournalId> {
    let turns = stage.agent.store().turns();
    let mut turns = turns.list(&session(), 99).await.unwrap();
    turns.retain(|turn| !turn.start.model.is_empty());
    turns.into_iter().map(|turn| turn.start.id).collect()
}

/// What is on record of every round.
async fn recorded(stage: &Stage) -> Vec<Json> {
    let store = stage.agent.store();
    let mut recorded = Vec::new();
    for turn in turns(stage).await {
        let rounds = callgate_agent::rounds(store, turn).await.unwrap();
        recorded.extend(whole_requests(&rounds));
    }
    recorded
}

fn json(requests: &[ModelRequest]) -> Vec<Json> {
    requests.iter().map(|request| json!(request)).collect()
}

/// Against what the model really got.
async fn compare(stage: &Stage) {
    assert_eq!(recorded(stage).await, json(&stage.model.requests()));
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

/// Puts long instructions before the usual ones, and its remark after the last message.
struct Meddling {
    /// Another remark each time.
    remarks: AtomicUsize,
}

impl Listener for Meddling {
    fn points(&self) -> Points {
        Points::BEFORE_MODEL
    }

    fn before_model<'a>(
        &'a self,
        _: &'a TurnFacts,
        request: &'a mut ModelRequest,
    ) -> BoxFuture<'a, ()> {
        if let Some(ModelMessage::System { text }) = request.messages.first_mut() {
            let rules = (0..200).map(|rule| format!("Rule {rule} is {}.\n", rule * rule));
            *text = format!("{}{text}", rules.collect::<String>());
        }
        if let Some(ModelMessage::User { parts }) = request.messages.last_mut() {
            let remark = self.remarks.fetch_add(1, Ordering::SeqCst);
            parts.push(Part::text(format!("Remark {remark}: be brief.")));
        }
        Box::pin(async {})
    }
}

async fn meddled(home: &Home, model: Scripted, rounds: u32) -> Stage {
    let listener: Arc<dyn Listener> = Arc::new(Meddling {
        remarks: AtomicUsize::new(0),
    });
    let mut settings = settings();
    settings.rounds = rounds;
    Stage::wired(
        home.open().await,
        model,
        Default::default(),
        settings,
        vec![listener],
    )
}

/// Bytes that hold what models were asked.
async fn stored(stage: &Stage) -> i64 {
    let select = "SELECT CAST(SUM(OCTET_LENGTH(request) + COALESCE(OCTET_LENGTH(splices), 0)
                      + COALESCE(OCTET_LENGTH(shared), 0)) AS BIGINT) FROM model_request";
    let store = stage.agent.store();
    let found = store.read(move |tx| tx.scalar(select, &[])).await;
    found.unwrap().unwrap()
}

#[tokio::test]
async fn what_plugins_make_of_requests_is_kept_exactly_in_the_space_of_what_is_new() {
    const MESSAGES: i64 = 40;
    on_each_engine(async |home| {
        for mode in [Mode::Tools, Mode::Code] {
            let mut model = Scripted::default();
            for place in 0..=MESSAGES {
                model = match place % 5 {
                    3 if mode == Mode::Tools => model.calls(&[("look", "up")]).says("seen"),
                    _ => model.says(&format!("answer {place}")),
                };
            }
            let stage = meddled(&home, model, 10).await;
            stage.hears_from("ann", "/new", None).await;
            stage.hears_from("ann", "hello there", Some(mode)).await;
            let before = stored(&stage).await;
            for _ in 0..MESSAGES {
                stage.hears_from("ann", "hello there", Some(mode)).await;
            }
            let added = (stored(&stage).await - before) / MESSAGES;
            assert!(added < 2_000, "{mode:?}: {added} bytes for each message");
            assert!(before > 5_000, "{mode:?}: {before} bytes for the first");
            let asked = stage.model.requests();
            let recorded = recorded(&stage).await;
            assert_eq!(recorded[recorded.len() - asked.len()..], json(&asked));
        }
    })
    .await;
}

/// What is read back of a turn is as long as what was said in it, however often its beginning was sent
/// to the model, and whether or not plugins change every request.
#[tokio::test]
async fn many_rounds_are_read_back_without_repeating_them() {
    for (rounds, meddles) in [(100, false), (100, true), (1_000, false), (1_000, true)] {
        let mut model = Scripted::default();
        for place in 1..rounds {
            model = model.calls(&[("look", &format!("at {place}"))]);
        }
        let (home, model) = (Home::sqlite(), model.says("seen"));
        let limit = u32::try_from(rounds).unwrap() + 1;
        let stage = if meddles {
            meddled(&home, model, limit).await
        } else {
            let mut settings = settings();
            settings.rounds = limit;
            Stage::with(home.open().await, model, Default::default(), settings)
        };
        let words = "look around";
        stage.hears_from("ann", words, Some(Mode::Tools)).await;
        if rounds == 100 {
            compare(&stage).await;
        }
        let turn = turns(&stage).await[0];
        let read = callgate_agent::rounds(stage.agent.store(), turn).await;
        let read = read.unwrap();
        assert_eq!(read.len(), rounds);
        let requests = read.iter().map(|round| round.request.as_ref().unwrap());
        let messages = |request: &Json| request["messages"].as_array().unwrap().len();
        let repeated: usize = requests.clone().map(messages).sum();
        let said = messages(&json!(stage.model.requests()[rounds - 1]));
        // A remark after the first message is not there any more in the second round.
        assert!(repeated <= said + 1, "{repeated} messages of {said}");
        let bytes: usize = requests.map(|request| request.to_string().len()).sum();
        assert!(bytes < 20_000 + 400 * rounds, "{bytes} of {rounds} rounds");
    }
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
