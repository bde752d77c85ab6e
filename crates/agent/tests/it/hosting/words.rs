//! What a plugin does to the words of a turn it asked for: it adds to them, or wants no answer.

use super::{
    turns::{hears, taking},
    *,
};

fn asked_of(stage: &Stage) -> Vec<Part> {
    match stage.model.requests()[0].messages.last() {
        Some(ModelMessage::User { parts }) => parts.clone(),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn what_a_plugin_adds_is_asked_and_kept_unless_it_says_otherwise() {
    let home = Home::sqlite();
    let plugin = Plugin::new(|_, of| {
        assert!(of["request"]["conversation"]["id"].is_string(), "{of}");
        json!({
            "prompt": "hello, changed",
            "extra_user_content_parts": [
                {"type": "text", "text": "kept"},
                {"type": "text", "text": "for once", "_no_save": true},
            ],
        })
    });
    let model = Scripted::default().says("An answer.");
    let run = json!({"hooks": ["request"], "request": {"own": true}});
    let (stage, _) = taking(&home, model, plugin, run).await;
    hears(&stage, "hello").await;
    let asked = asked_of(&stage);
    let words = ["hello, changed", "kept", "for once"].map(Part::text);
    assert_eq!(asked[..3], words);
    let conversations = stage.agent.store().conversations();
    let kept = conversations.list(Some(&session()), None).await.unwrap();
    let kept = conversations.history(kept[0].id).await.unwrap();
    let kept = kept[0].message.to_string();
    assert!(kept.contains("changed") && kept.contains("kept"), "{kept}");
    assert!(!kept.contains("for once"), "{kept}");
}

#[tokio::test]
async fn a_plugin_that_stops_the_turn_leaves_nothing() {
    let home = Home::sqlite();
    let plugin = Plugin::new(|_, _| json!({"stop": true}));
    let run = json!({"hooks": ["request"]});
    let (stage, listener) = taking(&home, Scripted::default(), plugin, run).await;
    hears(&stage, "hello").await;
    assert_eq!(stage.model.requests().len(), 0);
    assert_eq!(listener.ended.lock().unwrap()[0]["stop"], "silent");
    assert_eq!(stage.sent(), [""; 0]);
}

#[tokio::test]
async fn a_message_is_answered_as_its_sender_wants_also_where_a_plugin_asks() {
    let home = Home::sqlite();
    let model = Scripted::default().says("An answer.");
    let (stage, _) = taking(&home, model, Plugin::silent(), json!({})).await;
    stage.hears_from("ann", "hello", Some(Mode::Tools)).await;
    let turns = stage.agent.store().turns();
    let turn = turns.list(&session(), 1).await.unwrap();
    assert_eq!(turn[0].start.mode, Mode::Tools);
}
