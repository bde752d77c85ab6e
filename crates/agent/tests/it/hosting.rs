//! What plugins ask of turns and models, with a plugin that is a closure here.

use std::sync::{Arc, Mutex};

use callgate_agent::{Arrived, Override, Watch};
use callgate_contract::{
    Allowed, Arguments, ArrivalFacts, BoxFuture, Budget, CallArguments, Caller, Grant, JournalId,
    Listener, MethodError, Mode, ModelMessage, ModelReply, Part, Peer, Points, Role, Said, Surface,
    ToolCall, Usage, Value, Verdict, json as values,
};
use callgate_gate::{CallError, CallRequest, Gate, Way};
use callgate_store::LogRole;
use callgate_testkit::Home;
use serde_json::{Value as Json, json};

use crate::stage::{Scripted, Stage, session};

/// A plugin: what it was told and asked, and how it answers a step.
#[derive(Clone)]
struct Plugin {
    heard: Arc<Mutex<Vec<Json>>>,
    peer: Peer,
}

impl Plugin {
    fn new(answer: impl Fn(&str, &Json) -> Json + Send + Sync + 'static) -> Self {
        let heard: Arc<Mutex<Vec<Json>>> = Arc::default();
        let (kept, answer) = (heard.clone(), Arc::new(answer));
        let peer = Peer::new(move |said| {
            let (said, answer) = match said {
                Said::Item(item) => (json!({ "item": values::to_json(&item) }), Json::Null),
                Said::Step { name, arguments } => {
                    let fields = arguments.into_iter();
                    let fields = fields.map(|(name, value)| (name, values::to_json(&value)));
                    let fields = Json::Object(fields.collect());
                    let answer = answer(&name, &fields);
                    (json!({ "step": name, "of": fields }), answer)
                }
            };
            kept.lock().unwrap().push(said);
            Box::pin(async move {
                match answer.get("fail") {
                    Some(why) => Err(MethodError::new(why.to_string())),
                    None => Ok(values::from_json(answer).unwrap()),
                }
            })
        });
        Plugin { heard, peer }
    }

    fn silent() -> Self {
        Plugin::new(|_, _| Json::Null)
    }

    async fn calls(&self, gate: &Gate, name: &str, named: Json) -> Result<Json, CallError> {
        self.calls_as(gate, &caller(0, Budget::new(100, 100)), name, named)
            .await
    }

    async fn calls_as(
        &self,
        gate: &Gate,
        caller: &Caller,
        name: &str,
        named: Json,
    ) -> Result<Json, CallError> {
        let Json::Object(named) = named else {
            panic!("arguments have names");
        };
        let named = named.into_iter();
        let named = named.map(|(name, value)| (name, values::from_json(value).unwrap()));
        let request = CallRequest {
            sequence: 1,
            name,
            arguments: Arguments {
                positional: Vec::new(),
                named: named.collect(),
            },
            clocks: Vec::new(),
            threaded: false,
        };
        let way = Way {
            peer: &self.peer,
            blocking: false,
        };
        let outcome = gate.dispatch_from_plugin(caller, request, way).await?;
        Ok(values::to_json(&outcome.value))
    }

    fn heard(&self) -> Vec<Json> {
        self.heard.lock().unwrap().clone()
    }
}

fn caller(depth: u8, budget: Budget) -> Caller {
    Caller {
        session: session(),
        user: "ann".into(),
        role: Role::User,
        surface: Surface::Plugin,
        journal: JournalId::fresh(),
        depth,
        grant: Arc::new(Grant {
            methods: Allowed::All,
            budget,
            expires: None,
        }),
    }
}

async fn stage(home: &Home, model: Scripted) -> Stage {
    let stage = Stage::new(home.open().await, model);
    stage.agent.register_host().unwrap();
    stage
}

fn calling(name: &str, arguments: Json) -> ModelReply {
    let Json::Object(arguments) = arguments else {
        panic!("arguments have names");
    };
    ModelReply {
        text: "One moment.".into(),
        tool_calls: vec![ToolCall {
            id: "c1".into(),
            name: name.into(),
            arguments: CallArguments::Object(arguments),
            extra: None,
        }],
        usage: Some(Usage {
            input: 10,
            output: 2,
            ..Usage::default()
        }),
        ..ModelReply::default()
    }
}

fn tool(name: &str, handle: Option<&str>) -> Json {
    let parameters = json!({"type": "object", "properties": {"city": {"type": "string"}}});
    json!({"name": name, "description": "d", "parameters": parameters, "handle": handle})
}

#[tokio::test]
async fn a_loop_calls_the_plugins_own_tools_and_the_gates() {
    let home = Home::sqlite();
    let mut model = Scripted::default()
        .replies(calling(
            "get-weather",
            json!({"city": "Rome", "mood": "odd"}),
        ))
        .calls(&[("look", "up")])
        .says("Sunny.");
    model.accepts.image = true;
    let stage = stage(&home, model).await;
    let plugin = Plugin::new(|step, of| {
        assert_eq!((step, &of["handle"]), ("tool", &json!("h1")));
        json!({"texts": ["sun", "wind"], "images": [{"url": "data:image/png;base64,AA=="}]})
    });
    let asked = json!({
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "?"}],
        "tools": [tool("get-weather", Some("h1")), tool("look", None)],
        "ref": "run-1", "max_steps": 5, "tool_timeout": 30, "event": null, "model": null,
    });
    let ended = plugin
        .calls(stage.agent.gate(), "agent_loop", asked)
        .await
        .unwrap();
    assert_eq!(
        (&ended["text"], &ended["role"]),
        (&json!("Sunny."), &json!("assistant"))
    );
    assert_eq!(
        (&ended["steps"], &ended["ended"]),
        (&json!(3), &json!(false))
    );
    assert_eq!(ended["messages"].as_array().unwrap().len(), 8, "{ended}");
    let of = &plugin.heard()[1];
    assert_eq!(
        of["of"]["arguments"],
        json!({"city": "Rome", "mood": "odd"})
    );
    assert_eq!(of["of"]["ref"], "run-1");
    let requests = stage.model.requests();
    assert_eq!(requests[0].messages.len(), 2, "nothing of ours is added");
    assert_eq!(requests[0].tools[0].name, "get-weather");
    let told = format!("{:?}", requests[1].messages);
    assert!(
        told.contains("sun\\n\\nwind") && told.contains("AA=="),
        "{told}"
    );
    assert_eq!(stage.ran.counts().0, 1);
    assert_eq!(stage.sent(), [""; 0], "the answer is the plugin's");
    let turns = stage
        .agent
        .store()
        .turns()
        .list(&session(), 9)
        .await
        .unwrap();
    assert_eq!((turns.len(), turns[0].start.depth), (1, 1));
}

#[tokio::test]
async fn a_tool_that_gives_nothing_ends_the_loop() {
    let home = Home::sqlite();
    for (answer, texts) in [
        (json!(null), "[done]"),
        (json!({"texts": ["x"], "ends": true}), "x"),
    ] {
        let model = Scripted::default().replies(calling("say", json!({})));
        let stage = stage(&home, model).await;
        let plugin = Plugin::new(move |_, _| answer.clone());
        let asked = json!({"messages": [], "tools": [tool("say", Some("h"))]});
        let gate = stage.agent.gate();
        let ended = plugin.calls(gate, "agent_loop", asked).await.unwrap();
        assert_eq!(
            (&ended["ended"], &ended["text"]),
            (&json!(true), &json!(""))
        );
        let last = ended["messages"]
            .as_array()
            .unwrap()
            .last()
            .unwrap()
            .clone();
        assert_eq!(last["content"], texts);
    }
}

#[tokio::test]
async fn a_tool_that_fails_is_told_to_the_model_and_a_model_that_fails_to_the_plugin() {
    let home = Home::sqlite();
    let model = Scripted::default().replies(calling("say", json!({})));
    let stage = stage(&home, model).await;
    let plugin = Plugin::new(|_, _| json!({"fail": "no voice"}));
    let asked = json!({"messages": [], "tools": [tool("say", Some("h"))]});
    let ended = plugin
        .calls(stage.agent.gate(), "agent_loop", asked)
        .await
        .unwrap();
    assert_eq!(ended["role"], "err");
    assert!(ended["text"].as_str().unwrap().contains("no answer left"));
    let told = format!("{:?}", stage.model.requests()[1].messages);
    assert!(told.contains("no voice"), "{told}");
}

#[tokio::test]
async fn a_loop_holds_no_more_than_its_caller_and_pays_from_the_same_budget() {
    let home = Home::sqlite();
    let model = Scripted::default()
        .calls(&[("act", "a"), ("look", "b")])
        .calls(&[("look", "c")])
        .says("done");
    let stage = stage(&home, model).await;
    let plugin = Plugin::silent();
    let budget = Budget::new(3, 1);
    let mut only = caller(0, budget.clone());
    only.grant = Arc::new(Grant {
        methods: Allowed::Only(vec!["look".into(), "agent_loop".into()]),
        budget: budget.clone(),
        expires: None,
    });
    let asked = json!({"messages": [], "tools": [tool("look", None), tool("act", None)]});
    let gate = stage.agent.gate();
    plugin
        .calls_as(gate, &only, "agent_loop", asked.clone())
        .await
        .unwrap();
    assert_eq!(stage.ran.counts(), (2, 0));
    assert!(
        budget.take_call().is_err(),
        "one for the loop, two within it"
    );
    let deep = caller(5, Budget::new(9, 9));
    let refused = plugin.calls_as(gate, &deep, "agent_loop", asked).await;
    assert!(
        refused
            .unwrap_err()
            .to_string()
            .contains("nested deeper than 5")
    );
}

#[tokio::test]
async fn nobody_but_plugins_can_ask() {
    let home = Home::sqlite();
    let stage = stage(&home, Scripted::default()).await;
    for surface in [Surface::Code, Surface::ToolCall, Surface::Remote] {
        let gate = stage.agent.gate();
        for name in [
            "turn_run",
            "agent_loop",
            "model_chat",
            "message_send",
            "system_push",
        ] {
            let mut other = caller(0, Budget::new(9, 9));
            other.surface = surface;
            let refused = gate.call(&other, 1, name, Arguments::default()).await;
            assert!(
                matches!(refused, Err(CallError::NotExposed { .. })),
                "{name}"
            );
        }
    }
}

#[tokio::test]
async fn a_model_is_asked_in_the_plugins_own_words_and_paid_for() {
    let home = Home::sqlite();
    let model = Scripted::default().replies(ModelReply {
        text: "Hello!".into(),
        usage: None,
        ..ModelReply::default()
    });
    let stage = stage(&home, model).await;
    let plugin = Plugin::silent();
    let request = json!({
        "messages": [{"role": "user", "content": "hi"}], "temperature": 0.25, "top_k": 4,
        "tools": [{"type": "function", "function": {"name": "f", "parameters": {}}}],
    });
    let gate = stage.agent.gate();
    let asked = json!({"model": "script", "request": request});
    let reply = plugin
        .calls(gate, "model_chat", asked.clone())
        .await
        .unwrap();
    assert_eq!(
        (&reply["text"], &reply["model"]),
        (&json!("Hello!"), &json!("script"))
    );
    assert_eq!(plugin.heard(), [json!({"item": {"text": "Hello!"}})]);
    let sent = &stage.model.requests()[0];
    assert_eq!(sent.options.temperature, Some(0.25));
    assert_eq!(
        (sent.options.extra["top_k"].as_i64(), sent.tools.len()),
        (Some(4), 1)
    );
    let failed = plugin.calls(gate, "model_chat", asked).await;
    assert!(failed.unwrap_err().to_string().contains("no answer left"));
    let turns = stage.agent.store().turns();
    assert_eq!(turns.list(&session(), 9).await.unwrap().len(), 2);
    assert_eq!(turns.unfinished().await.unwrap(), []);
    let listed = plugin.calls(gate, "model_list", json!({})).await.unwrap();
    assert_eq!(listed[0]["id"], "script");
}

/// Takes every message and has it answered itself, as a flavour does whose plugins want the answer.
struct Taking {
    agent: Mutex<Option<callgate_agent::Agent>>,
    plugin: Plugin,
    run: Json,
    ended: Mutex<Vec<Json>>,
}

impl Listener for Taking {
    fn points(&self) -> Points {
        Points::ARRIVED
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

async fn taking(home: &Home, model: Scripted, plugin: Plugin, run: Json) -> (Stage, Arc<Taking>) {
    let listener = Arc::new(Taking {
        agent: Mutex::default(),
        plugin,
        run,
        ended: Mutex::default(),
    });
    let stage = Stage::heard_by(home.open().await, model, vec![listener.clone()]);
    stage.agent.register_host().unwrap();
    *listener.agent.lock().unwrap() = Some(stage.agent.clone());
    (stage, listener)
}

async fn hears(stage: &Stage, text: &str) {
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
            if let Said::Step { .. } = said {
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
        assert!(!stage.agent.is_answering(&session()));
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
