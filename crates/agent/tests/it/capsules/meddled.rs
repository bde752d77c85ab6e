//! What plugins changed on its way: a capsule has it, and its replay needs no plugin.

use std::sync::{Arc, Mutex};

use callgate_contract::{
    BoxFuture, Contribution, Listener, Mode, ModelMessage, ModelReply, ModelRequest, Part, Points,
    TurnFacts,
};
use callgate_testkit::{Home, on_each_engine};
use serde_json::{Map, Value as Json, json};

use super::play::{Play, again};
use crate::stage::{Scripted, Stage, python};

/// Changes whatever it is shown.
#[derive(Default)]
pub struct Meddler {
    /// Which calls it was shown, before and after.
    calls: Mutex<Vec<String>>,
}

impl Listener for Meddler {
    fn points(&self) -> Points {
        Points::COLLECT
            | Points::BEFORE_MODEL
            | Points::AFTER_MODEL
            | Points::BEFORE_CALL
            | Points::AFTER_CALL
            | Points::BEFORE_ANSWER
    }

    fn collect<'a>(&'a self, _: &'a TurnFacts) -> BoxFuture<'a, Contribution> {
        Box::pin(async {
            Contribution {
                prompt: vec![("weather".into(), "It rains.".into())],
                hidden: vec!["builtin/act".into()],
            }
        })
    }

    fn before_model<'a>(
        &'a self,
        _: &'a TurnFacts,
        request: &'a mut ModelRequest,
    ) -> BoxFuture<'a, ()> {
        request.messages.push(ModelMessage::user("Be brief."));
        Box::pin(async {})
    }

    fn after_model<'a>(&'a self, _: &'a TurnFacts, reply: &'a mut ModelReply) -> BoxFuture<'a, ()> {
        reply.text = reply.text.replace("secret", "******");
        Box::pin(async {})
    }

    fn before_call<'a>(
        &'a self,
        _: &'a TurnFacts,
        method: &'a str,
        arguments: &'a mut Map<String, Json>,
    ) -> BoxFuture<'a, ()> {
        self.calls.lock().unwrap().push(format!("before {method}"));
        if arguments["text"] == "here" {
            arguments.insert("text".into(), "elsewhere".into());
        }
        Box::pin(async {})
    }

    fn after_call<'a>(
        &'a self,
        _: &'a TurnFacts,
        method: &'a str,
        result: &'a mut String,
    ) -> BoxFuture<'a, ()> {
        self.calls.lock().unwrap().push(format!("after {method}"));
        result.push_str(", says the plugin");
        Box::pin(async {})
    }

    fn before_answer<'a>(
        &'a self,
        _: &'a TurnFacts,
        parts: &'a mut Vec<Part>,
    ) -> BoxFuture<'a, ()> {
        parts.push(Part::text(" Yours, the bot."));
        Box::pin(async {})
    }
}

async fn meddled_with() -> Play {
    let model = Scripted::default()
        .calls(&[("look", "here"), ("look", "there")])
        .says("A secret.")
        .says(&python("print(look('twice'))\nexit(9)"))
        .says("Seen.");
    let play = Play::heard_by(model, vec![Arc::new(Meddler::default())]).await;
    play.troupe.hears(Mode::Tools, "Where is it?").await;
    play.troupe.hears(Mode::Code, "Look again").await;
    play
}

#[tokio::test(flavor = "multi_thread")]
async fn a_replay_has_what_plugins_changed_and_needs_none() {
    let play = meddled_with().await;
    let sent = play.troupe.sent();
    assert_eq!(sent, ["A ******. Yours, the bot.", "Seen. Yours, the bot."]);
    let capsule = play.capsule().await;
    let replayed = again(&capsule).await;
    assert_eq!(replayed.difference, None);
    assert!(replayed.equal);
    let note = |turn: usize, places: &str| {
        let id = capsule.turns[turn].id.0;
        format!("turn {id}: what plugins changed is taken as recorded: {places}")
    };
    let (tools, code) = (
        "answer, call/1/arguments, call/1/result, call/2/result",
        "answer",
    );
    assert_eq!(replayed.notes, [note(0, tools), note(1, code)]);
    let asked = json!(capsule.turns[0].rounds[0].request);
    assert!(asked.to_string().contains("Be brief."), "{asked}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_nobody_changed_differs_where_it_does() {
    let capsule = meddled_with().await.capsule().await;
    for (place, what) in [
        ("call/1/arguments", "call"),
        ("call/2/result", "message"),
        ("answer", "answer"),
    ] {
        let mut other = capsule.clone();
        other.turns[0].altered.remove(place).unwrap();
        let difference = again(&other).await.difference.unwrap();
        assert_eq!(difference.what, what, "{place}: {difference:?}");
    }
}

#[tokio::test]
async fn a_turn_that_goes_on_asks_no_plugin_again_what_it_made_of_a_call() {
    on_each_engine(async |home: Home| {
        let store = home.open().await;
        let model = Scripted::default().calls(&[("look", "here")]).says("!hang");
        let first = Arc::new(Meddler::default());
        let stage = Stage::heard_by(store.clone(), model, vec![first.clone()]);
        tokio::select! {
            arrived = stage.hears_from("ann", "go", Some(Mode::Tools)) => panic!("{arrived:?}"),
            () = async {
                while stage.model.requests().len() < 2 {
                    tokio::time::sleep(std::time::Duration::from_millis(5)).await;
                }
            } => {}
        }
        assert_eq!(*first.calls.lock().unwrap(), ["before look", "after look"]);

        let second = Arc::new(Meddler::default());
        let model = Scripted::default().says("Done.");
        let stage = Stage::heard_by(store.clone(), model, vec![second.clone()]);
        stage.agent.recover().await.unwrap();
        assert_eq!(stage.sent(), ["Done. Yours, the bot."]);
        assert_eq!(*second.calls.lock().unwrap(), Vec::<String>::new());
        let asked = format!("{:?}", stage.model.requests()[0].messages);
        assert!(
            asked.contains("saw elsewhere, says the plugin\""),
            "{asked}"
        );
    })
    .await;
}
