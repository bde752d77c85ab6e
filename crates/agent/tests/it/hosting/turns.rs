//! A plugin that has a message answered, and what it says by itself.

use super::*;
use crate::instances::{mortal, until};

/// Takes every message and has it answered itself, as a flavour does whose plugins want the answer.
pub(super) struct Taking {
    agent: Mutex<Option<callgate_agent::Agent>>,
    plugin: Plugin,
    run: Json,
    pub(super) ended: Mutex<Vec<Json>>,
    /// Answers that it was given to send in place of the plugin.
    left: Mutex<Vec<(Json, String)>>,
}

impl Listener for Taking {
    fn points(&self) -> Points {
        Points::ARRIVED | Points::DELIVER
    }

    fn deliver<'a>(
        &'a self,
        _: &'a callgate_contract::SessionKey,
        reference: &'a Json,
        parts: &'a [Part],
    ) -> BoxFuture<'a, bool> {
        let takes = reference == "leaves";
        if takes {
            let text = parts[0].words().unwrap().to_string();
            self.left.lock().unwrap().push((reference.clone(), text));
        }
        Box::pin(async move { takes })
    }

    fn arrived<'a>(&'a self, message: &'a ArrivalFacts) -> BoxFuture<'a, Verdict> {
        let agent = self.agent.lock().unwrap().clone().unwrap();
        let mut run = self.run.clone();
        run["row"] = json!(message.row);
        Box::pin(async move {
            let ended = self.plugin.calls(agent.gate(), "turn_run", run).await;
            self.ended.lock().unwrap().push(ended.unwrap());
            Verdict::Taken
        })
    }
}

pub(super) async fn taking(
    home: &Home,
    model: Scripted,
    plugin: Plugin,
    run: Json,
) -> (Stage, Arc<Taking>) {
    let listener = Arc::new(Taking {
        agent: Mutex::default(),
        plugin,
        run,
        ended: Mutex::default(),
        left: Mutex::default(),
    });
    let stage = Stage::heard_by(home.open().await, model, vec![listener.clone()]);
    stage.agent.register_host().unwrap();
    *listener.agent.lock().unwrap() = Some(stage.agent.clone());
    (stage, listener)
}

pub(super) async fn hears(stage: &Stage, text: &str) {
    let arrived = stage.hears_from("ann", text, None).await;
    assert!(matches!(arrived, Arrived::Taken), "{arrived:?}");
}

#[tokio::test]
async fn a_plugin_has_the_message_answered_and_delivers_it_itself() {
    let home = Home::sqlite();
    let plugin = Plugin::new(|step, of| match step {
        "request" => {
            let system = of["request"]["system_prompt"].as_str().unwrap();
            assert!(
                of["request"]["tools"]
                    .as_array()
                    .unwrap()
                    .contains(&json!("look"))
            );
            json!({
                "system_prompt": format!("{system}\nRhyme."), "prompt": "hello, changed",
                "contexts": [{"role": "user", "content": "before"}],
                "tools": [tool("say", Some("h7"))],
            })
        }
        "tool" => json!("said"),
        other => panic!("{other}"),
    });
    let model = Scripted::default()
        .replies(calling("say", json!({})))
        .says("An answer.");
    let run = json!({"ref": "e1", "hooks": ["request"], "request": {"own": true}});
    let (stage, listener) = taking(&home, model, plugin.clone(), run).await;
    hears(&stage, "hello").await;
    assert_eq!(stage.sent(), [""; 0], "its outbox is the plugin");
    let items: Vec<Json> = plugin
        .heard()
        .into_iter()
        .filter_map(|said| said.get("item").cloned())
        .collect();
    assert_eq!(
        (&items[0]["text"], &items[0]["final"]),
        (&json!("One moment."), &json!(false))
    );
    assert_eq!(
        (&items[1]["text"], &items[1]["final"]),
        (&json!("An answer."), &json!(true))
    );
    let ended = listener.ended.lock().unwrap()[0].clone();
    assert_eq!(
        (&ended["joined"], &ended["stop"]),
        (&json!(false), &json!("answered"))
    );
    let asked = &stage.model.requests()[0];
    let ModelMessage::System { text } = &asked.messages[0] else {
        panic!("{asked:?}");
    };
    assert!(text.ends_with("\nRhyme."), "{text}");
    assert_eq!(asked.messages[1], ModelMessage::user("before"));
    let ModelMessage::User { parts } = &asked.messages[2] else {
        panic!("{asked:?}");
    };
    assert_eq!(parts[0], Part::text("hello, changed"));
    assert_eq!(asked.tools.len(), 1);
    let rows = stage.agent.store().log().list(&session(), 9).await.unwrap();
    assert!(rows[0].turn.is_some(), "the turn took the row");
}

#[tokio::test]
async fn an_answer_that_a_plugin_took_and_left_is_sent_once_by_another() {
    let home = Home::sqlite();
    // It takes the answer and ends over it: nobody comes back for more.
    let takes = |item: &Value| values::to_json(item)["type"] == "text";
    for (reference, by_another) in [("leaves", true), ("nobody", false)] {
        let plugin = Plugin {
            peer: Peer::new(move |said| {
                let taken = matches!(&said, PeerMessage::Item(item) if takes(item));
                let gone = || MethodError::new("the worker is gone");
                Box::pin(async move { taken.then_some(Value::Null).ok_or_else(gone) })
            }),
            ..Plugin::silent()
        };
        let model = Scripted::default().says("An answer.");
        let run = json!({"ref": reference});
        let (stage, listener) = taking(&home, model, plugin, run).await;
        hears(&stage, reference).await;
        let left = listener.left.lock().unwrap().clone();
        let answer = (json!("leaves"), "An answer.".to_owned());
        if by_another {
            assert_eq!((left, stage.sent().len()), (vec![answer], 0))
        } else {
            assert_eq!(
                (left.len(), stage.sent()),
                (0, vec!["An answer.".to_owned()])
            )
        }
    }
}

#[tokio::test]
async fn an_answer_that_no_plugin_takes_goes_out_as_it_is() {
    let home = Home::sqlite();
    let dead = Plugin {
        peer: Peer::new(|_| Box::pin(async { Err(MethodError::new("the worker is gone")) })),
        ..Plugin::silent()
    };
    let model = Scripted::default().says("Undecorated.");
    let (stage, _) = taking(&home, model, dead, json!({})).await;
    hears(&stage, "hello").await;
    assert_eq!(stage.sent(), ["Undecorated."]);
}

/// A tool of the turn asks for a turn in the same session: it would wait for itself.
#[tokio::test]
async fn a_turn_asked_for_within_a_turn_of_the_same_user_joins_it() {
    let home = Home::sqlite();
    let model = Scripted::default()
        .replies(calling("again", json!({})))
        .says("Done.");
    let joined: Arc<Mutex<Vec<Json>>> = Arc::default();
    let stage = stage(&home, model).await;
    let (agent, kept) = (stage.agent.clone(), joined.clone());
    let peer = Peer::new(move |said| {
        let (agent, kept) = (agent.clone(), kept.clone());
        Box::pin(async move {
            if let PeerMessage::Step { .. } = said {
                let inner = Plugin::silent();
                let answer = inner
                    .calls(agent.gate(), "turn_run", json!({}))
                    .await
                    .unwrap();
                kept.lock().unwrap().push(answer);
            }
            Ok(Value::Str("ok".into()))
        })
    });
    let plugin = Plugin {
        peer,
        ..Plugin::silent()
    };
    let request = json!({"own": true, "prompt": "go", "tools": [tool("again", Some("h"))]});
    let ended = plugin
        .calls(stage.agent.gate(), "turn_run", json!({"request": request}))
        .await
        .unwrap();
    assert_eq!(ended["text"], "Done.");
    assert_eq!(*joined.lock().unwrap(), [json!({"joined": true})]);
}

#[tokio::test]
async fn what_a_plugin_says_is_sent_at_once() {
    let home = Home::sqlite();
    let stage = stage(&home, Scripted::default()).await;
    let plugin = Plugin::silent();
    let gate = stage.agent.gate();
    let parts = json!([{"type": "text", "text": "news"}]);
    let say = json!({"parts": parts, "record": false, "session": null});
    plugin.calls(gate, "message_send", say).await.unwrap();
    let say = json!({"parts": parts, "reference": "m3", "session": "cli-private_ann"});
    plugin.calls(gate, "message_send", say).await.unwrap();
    assert_eq!(stage.sent().len(), 2);
    assert!(stage.sent()[1].contains("m3"), "{:?}", stage.sent());
    let rows = stage.agent.store().log().list(&session(), 9).await.unwrap();
    assert_eq!(rows.len(), 1, "one was not to be kept");
    let poor = caller(0, Budget::new(9, 0));
    let refused = plugin.calls_as(gate, &poor, "message_send", json!({"parts": parts}));
    assert!(refused.await.unwrap_err().to_string().contains("messages"));
}

#[tokio::test]
async fn a_system_row_is_left_and_answered_where_that_is_wanted() {
    let home = Home::sqlite();
    let stage = stage(&home, Scripted::default().says("I see.")).await;
    let plugin = Plugin::silent();
    let gate = stage.agent.gate();
    let quiet = json!({"text": "the door opened"});
    plugin.calls(gate, "system_push", quiet).await.unwrap();
    let log = stage.agent.store().log();
    let rows = log.list(&session(), 9).await.unwrap();
    assert_eq!((rows.len(), rows[0].role), (1, LogRole::System));
    assert!(stage.model.requests().is_empty());
    let loud = json!({"text": "it rings", "trigger": true});
    plugin.calls(gate, "system_push", loud).await.unwrap();
    while stage.sent().is_empty() {
        tokio::task::yield_now().await;
    }
    assert_eq!(stage.sent(), ["I see."]);
    let asked = format!("{:?}", stage.model.requests()[0].messages);
    assert!(
        asked.contains("the door opened") && asked.contains("it rings"),
        "{asked}"
    );
}

/// An ordinary message that comes while a plugin's turn of another user runs waits for it.
#[tokio::test]
async fn other_users_wait_for_their_turn() {
    let home = Home::sqlite();
    let model = Scripted::default().says("to ann").says("to bob");
    let stage = stage(&home, model).await;
    let plugin = Plugin::silent();
    let gate = stage.agent.gate();
    let run = json!({"request": {"own": true, "prompt": "hi"}, "deliver": "host"});
    let overrule = Override {
        mode: Some(Mode::Tools),
        ..Override::default()
    };
    let bob = crate::stage::incoming("bob", "me too");
    let (ann, bob) = tokio::join!(
        plugin.calls(gate, "turn_run", run),
        stage.agent.arrive(bob, overrule, Watch::default()),
    );
    assert_eq!(ann.unwrap()["joined"], false);
    assert!(matches!(bob.unwrap(), Arrived::Turn(_) | Arrived::Joined));
    assert!(!stage.sent().is_empty());
}

#[tokio::test]
async fn a_message_that_joined_in_vain_is_answered_after() {
    let home = Home::sqlite();
    let model = Scripted::default().says("!hang").says("to both");
    let (stage, listener) =
        taking(&home, model, Plugin::silent(), json!({"deliver": "host"})).await;
    let first = stage.hears_from("ann", "one", None);
    let second = async {
        while stage.model.requests().is_empty() {
            tokio::task::yield_now().await;
        }
        let second = stage.hears_from("ann", "two", None).await;
        assert!(stage.agent.stop(&session()));
        second
    };
    let (_, second) = tokio::join!(first, second);
    assert!(matches!(second, Arrived::Taken), "{second:?}");
    assert_eq!(listener.ended.lock().unwrap()[0], json!({"joined": true}));
    while stage.sent().is_empty() {
        tokio::time::sleep(std::time::Duration::from_millis(2)).await;
    }
    assert_eq!(stage.sent(), ["to both"]);
    assert_eq!(stage.agent.store().log().waiting().await.unwrap(), []);
}

#[tokio::test]
async fn a_plugin_that_no_longer_waits_has_its_turn_stopped() {
    let home = Home::sqlite();
    let stage = stage(&home, Scripted::default().says("!hang").says("!hang")).await;
    let plugin = Plugin::silent();
    for (name, asked) in [
        (
            "turn_run",
            json!({"request": {"own": true, "prompt": "hi"}}),
        ),
        ("agent_loop", json!({"messages": [], "tools": []})),
    ] {
        let before = stage.model.requests().len();
        let until = async {
            while stage.model.requests().len() == before {
                tokio::task::yield_now().await;
            }
        };
        let calls = plugin.calls(stage.agent.gate(), name, asked);
        tokio::select! {
            ended = calls => panic!("{ended:?}"),
            () = until => {}
        }
        let turns = stage.agent.store().turns();
        while !turns.unfinished().await.unwrap().is_empty() {
            tokio::time::sleep(std::time::Duration::from_millis(2)).await;
        }
        let turns = turns.list(&session(), 1).await.unwrap();
        let stop = turns[0].finish.as_ref().unwrap().stop;
        assert_eq!(stop, callgate_contract::TurnStop::Cancelled, "{name}");
        // Its end is on record a moment before the session is free again.
        while stage.agent.is_answering(&session()) {
            tokio::time::sleep(std::time::Duration::from_millis(2)).await;
        }
    }
}

/// What others said meanwhile is answered along with what a plugin asks.
#[tokio::test]
async fn a_turn_for_a_plugin_leaves_nobody_out() {
    let home = Home::sqlite();
    let stage = stage(&home, Scripted::default().says("to all")).await;
    let store = stage.agent.store();
    let waiting = crate::stage::incoming("bob", "and me?");
    store.log().append_incoming(&waiting).await.unwrap();
    let plugin = Plugin::silent();
    let run = json!({"request": {"own": true, "prompt": "hello"}, "deliver": "host"});
    plugin
        .calls(stage.agent.gate(), "turn_run", run)
        .await
        .unwrap();
    let asked = format!("{:?}", stage.model.requests()[0].messages.last());
    assert!(
        asked.contains("and me?") && asked.contains("hello"),
        "{asked}"
    );
    assert_eq!(store.log().waiting().await.unwrap(), []);
}

/// Its hooks and tools are gone after a restart: what they changed and gave is on record.
#[tokio::test(flavor = "multi_thread")]
async fn a_turn_for_a_plugin_goes_on_without_it() {
    let home = Home::sqlite();
    let plugin = Plugin::new(|step, _| match step {
        "request" => json!({"prompt": "hello, changed", "tools": [tool("say", Some("h7"))]}),
        "tool" => json!({"texts": ["said"], "images": [], "ends": false, "error": false}),
        other => panic!("{other}"),
    });
    let model = Scripted::default()
        .replies(calling("say", json!({})))
        .says("!hang");
    let run = json!({"ref": "e1", "hooks": ["request"], "request": {"own": true}});
    let (dying, asked) = (mortal(), model.clone());
    let place = Home::existing(home.data());
    dying.spawn(async move {
        let (stage, _) = taking(&place, model, plugin, run).await;
        hears(&stage, "hello").await;
    });
    until(async || asked.requests().len() == 2).await;
    dying.shutdown_background();

    let second = Stage::new(home.open().await, Scripted::default().says("Done."));
    second.agent.recover().await.unwrap();
    assert_eq!(second.sent(), ["Done."]);
    let asked = second.model.requests();
    assert_eq!(asked.len(), 1);
    let ModelMessage::Tool { parts, .. } = asked[0].messages.last().unwrap() else {
        panic!("{:?}", asked[0].messages);
    };
    assert_eq!(*parts, [Part::text("said")]);
    let conversations = second.agent.store().conversations();
    let current = conversations.current(&session()).await.unwrap().unwrap();
    let history = conversations.history(current).await.unwrap();
    assert_eq!(history[0].message["content"], "hello, changed");
}
