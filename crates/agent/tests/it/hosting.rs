//! What plugins ask of turns and models, with a plugin that is a closure here.

mod costs;
mod pieces;
mod requests;
mod stopping;
mod turns;
mod withheld;
mod words;

use std::sync::{Arc, Mutex};

use callgate_agent::{Arrived, Override, Watch};
use callgate_contract::{
    Allowed, Arguments, ArrivalFacts, BoxFuture, Budget, CallArguments, Caller, Grant, JournalId,
    Listener, MethodError, Mode, ModelMessage, ModelReply, Part, Peer, PeerMessage, Points, Role,
    Surface, ToolCall, Usage, Value, Verdict, json as values,
};
use callgate_gate::{CallError, CallRequest, Gate, PluginCallContext};
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
                PeerMessage::Item(item) => (json!({ "item": values::to_json(&item) }), Json::Null),
                PeerMessage::Step { name, arguments } => {
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
        let request = CallRequest::new(1, name, Arguments::by_name(named.collect()));
        let way = PluginCallContext {
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
        principal: "cli:ann".parse().unwrap(),
        role: Role::Member,
        surface: Surface::Plugin,
        journal: JournalId::fresh(),
        depth,
        grant: Arc::new(Grant {
            methods: Allowed::All,
            budget,
            ..Grant::everything()
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
        ..Grant::everything()
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
            "message_piece",
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
