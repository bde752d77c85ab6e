//! Plugins as listeners: what they hear of messages and rounds, and what they say.

use std::sync::{Arc, Mutex};

use callgate_contract::{
    ArrivalFacts, Contribution, JournalId, Kind, Mode, Part, Points, Role, TurnFacts, Value,
    Verdict, json,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value as Json, json};

use crate::scene::{Scene, session};

fn said(text: &str) -> ArrivalFacts {
    ArrivalFacts {
        row: 7,
        session: session(),
        user: "u1".to_owned(),
        principal: "cli:u1".parse().unwrap(),
        name: "Ada".to_owned(),
        role: Role::Member,
        parts: vec![Part::text(text)],
        message_id: None,
        at: 1_000,
        mentioned: true,
        prefix: None,
        wanted: true,
        obeyed: false,
        platform: None,
    }
}

fn turn() -> TurnFacts {
    TurnFacts {
        turn: JournalId::fresh(),
        session: session(),
        conversation: None,
        user: "u1".to_owned(),
        principal: "cli:u1".parse().unwrap(),
        mode: Mode::Code,
        model: "m".to_owned(),
        depth: 0,
    }
}

const GATEKEEPER: &str = "\
HOOKS = ['message', 'prompt', 'reset', 'system_message']
SHOWN = ['open']
heard = []
async def on_message(context, message):
    heard.append((context['user']['name'], context['chat_key'], message['text'], message['to_me']))
    if message['text'] == 'raise': raise RuntimeError('hook')
    return {'hide': 'BLOCK_ALL', 'quiet': 'BLOCK_TRIGGER', 'now': 'FORCE_TRIGGER'}.get(message['text'])
async def on_prompt(context):
    return 'the gate is for ' + context['user']['id']
async def on_reset(context):
    heard.append('reset')
async def on_system_message(context, text):
    heard.append(text)
async def open(): return heard
async def secret(): return 1
";

#[tokio::test]
async fn a_hook_decides_what_becomes_of_a_message() {
    let scene = Scene::new().await;
    let listener = scene.plugins.listener();
    assert_eq!(listener.points(), Points::NONE);
    assert_eq!(listener.arrived(&said("hello")).await, Verdict::Pass);
    scene.load("gatekeeper", GATEKEEPER).await.unwrap();
    assert!(
        listener
            .points()
            .contains(Points::ARRIVED | Points::COLLECT | Points::RESET)
    );
    for (text, verdict) in [
        ("hello", Verdict::Pass),
        ("hide", Verdict::Hide),
        ("quiet", Verdict::NoTurn),
        ("now", Verdict::Force),
        // A hook that fails decides nothing.
        ("raise", Verdict::Pass),
    ] {
        assert_eq!(listener.arrived(&said(text)).await, verdict, "{text}");
    }
    listener.reset(&session()).await;
    listener.system_row(&session(), "a row").await;
    let Value::List(heard) = scene.value("open", Vec::new()).await else {
        panic!("a list")
    };
    let hello = ["Ada", "cli-private_u1", "hello"].map(Value::from);
    let hello = hello.into_iter().chain([Value::Bool(true)]).collect();
    assert_eq!(heard[0], Value::Tuple(hello));
    assert_eq!(heard[5..], ["reset".into(), "a row".into()]);
}

#[tokio::test]
async fn each_round_hears_texts_and_which_methods_are_hidden() {
    let scene = Scene::new().await;
    scene.load("gatekeeper", GATEKEEPER).await.unwrap();
    let listener = scene.plugins.listener();
    let expect = Contribution {
        prompt: vec![("gatekeeper".to_owned(), "the gate is for u1".to_owned())],
        hidden: vec![
            "plugin:gatekeeper/on_message".to_owned(),
            "plugin:gatekeeper/on_prompt".to_owned(),
            "plugin:gatekeeper/on_reset".to_owned(),
            "plugin:gatekeeper/on_system_message".to_owned(),
            "plugin:gatekeeper/secret".to_owned(),
        ],
    };
    assert_eq!(listener.collect(&turn()).await, expect);
    let broken = "HOOKS = ['prompt']\nasync def on_prompt(context): raise KeyError('x')\n";
    scene.load("broken", broken).await.unwrap();
    assert_eq!(listener.collect(&turn()).await, Contribution::default());
}

#[tokio::test]
async fn a_plugin_that_is_disabled_has_gone_until_it_is_enabled() {
    let scene = Scene::new().await;
    scene.load("gatekeeper", GATEKEEPER).await.unwrap();
    let mut departures = scene.gate.departures();
    scene.plugins.enable("gatekeeper", false).await.unwrap();
    assert!(scene.gate.find("open").is_none());
    let gone = departures.try_recv().unwrap();
    assert_eq!(gone.to_string(), "plugin:gatekeeper");
    scene.plugins.enable("gatekeeper", true).await.unwrap();
    assert!(scene.gate.find("open").is_some());
    departures.try_recv().unwrap_err();
}

#[derive(Deserialize, JsonSchema)]
struct Sent {
    session: String,
    parts: Vec<serde_json::Value>,
    #[allow(dead_code, reason = "part of the shape")]
    record: bool,
}

#[tokio::test]
async fn a_command_answers_as_often_as_it_likes_and_starts_no_turn() {
    let scene = Scene::new().await;
    let sent: Arc<Mutex<Vec<String>>> = Arc::default();
    let noted = sent.clone();
    let send = callgate_gate::method("message_send", Kind::Tool, move |_, message: Sent| {
        assert_eq!(message.session, session().to_string());
        let text = message.parts[0]["text"].as_str().unwrap().to_owned();
        noted.lock().unwrap().push(text);
        async { Ok(Value::Null) }
    });
    scene.gate.register(Arc::new(send)).unwrap();
    let code = "\
async def _roll(context, rest):
    yield 'rolling ' + rest
    yield 'six'
async def _fail(context, rest):
    yield 'trying'
    raise ValueError('no dice')
COMMANDS = {'roll': _roll, 'fail': _fail}
";
    scene.load("dice", code).await.unwrap();
    let listener = scene.plugins.listener();
    assert_eq!(
        listener.arrived(&said("/roll 1d6 now")).await,
        Verdict::Taken
    );
    assert_eq!(listener.arrived(&said("/fail")).await, Verdict::Taken);
    assert_eq!(listener.arrived(&said("/unknown")).await, Verdict::Pass);
    let expect = [
        "rolling 1d6 now",
        "six",
        "trying",
        "/fail: ValueError: no dice",
    ];
    assert_eq!(*sent.lock().unwrap(), expect);
}

const ENTERING: &str = "\
from callgate_worker import host
async def people(verb, filters, values):
    return await host.call('query', model='user', verb=verb, filters=filters, values=values)
";

#[tokio::test]
async fn a_person_whom_a_plugin_shuns_is_heard_but_not_answered() {
    let scene = Scene::new().await;
    scene.load("entering", ENTERING).await.unwrap();
    let listener = scene.plugins.listener();
    let people = async |verb: &str, filters: Json, values: Json| {
        let data = |json| json::from_json(json).unwrap();
        let asked = vec![verb.into(), data(filters), data(values)];
        json::to_json(&scene.value("people", asked).await)
    };
    let values = json!({"username": "Ada", "adapter_key": "cli", "platform_userid": "u1"});
    let made = people("create", json!({}), values).await;
    let them = json!({"platform_userid": "u1"});
    assert_eq!(
        people("first", them.clone(), json!({})).await["id"],
        made["id"]
    );
    assert_eq!(listener.arrived(&said("hello")).await, Verdict::Pass);
    for (until, verdict) in [
        ("2999-01-01T00:00:00+00:00", Verdict::NoTurn),
        ("2001-01-01T00:00:00+00:00", Verdict::Pass),
    ] {
        for column in ["ban_until", "prevent_trigger_until"] {
            let changed = people("update", them.clone(), json!({column: until})).await;
            assert_eq!(changed, 1);
            assert_eq!(
                listener.arrived(&said("hello")).await,
                verdict,
                "{column} {until}"
            );
            people("update", them.clone(), json!({column: null})).await;
        }
    }
    assert_eq!(people("delete", them.clone(), json!({})).await, 1);
    assert_eq!(people("count", them, json!({})).await, 0);
}
