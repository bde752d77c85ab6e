//! Many at once: a thousand conversations stream side by side, and none hears another. And many
//! calls in one turn: what code does in one round takes tool calls one round each.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
};

use callgate_agent::{
    Agent, Arrived, Coder, Override, Sessions, TurnEvent, TurnReport, Watch, Wiring, tokens,
};
use callgate_contract::{
    BoxFuture, DeliveryError, Effect, Kind, MethodError, Mode, Model, ModelError, ModelEvent,
    ModelMessage, ModelRequest, ModelStream, Models, NamedModel, Outbox, Part, Piece, Receipt,
    SessionKey,
};
use callgate_gate::{Call, Function, Gate, method};
use callgate_store::{Incoming, Sender, Store};
use callgate_testkit::Home;
use serde_json::json;
use tokio::task::JoinSet;

use crate::{
    scene::Reader,
    seeds::troupe::{Troupe, calling, words},
    stage::{Scripted, python, settings},
};

const CONVERSATIONS: usize = 1_000;
const PIECES: usize = 8;

/// Repeats the question in pieces, and lets others go first before each.
struct Echo;

fn piece(question: &str, number: usize) -> String {
    format!("{question}, piece {number}. ")
}

fn answer(question: &str) -> String {
    let pieces = (0..PIECES).map(|number| piece(question, number));
    pieces.collect::<String>().trim().to_owned()
}

impl Model for Echo {
    fn stream(&self, request: ModelRequest) -> BoxFuture<'_, Result<ModelStream, ModelError>> {
        let Some(ModelMessage::User { parts }) = request.messages.last() else {
            panic!("{:?}", request.messages);
        };
        let Part::Text { text } = parts[0].clone() else {
            panic!("{parts:?}");
        };
        let step = move |number: usize| {
            let question = text.clone();
            async move {
                tokio::task::yield_now().await;
                let event = match number {
                    0..PIECES => ModelEvent::TextDelta {
                        text: piece(&question, number),
                    },
                    PIECES => ModelEvent::Finished {
                        reason: Default::default(),
                    },
                    _ => return None,
                };
                Some((Ok(event), number + 1))
            }
        };
        Box::pin(async { Ok(ModelStream::new(0, step)) })
    }
}

#[derive(Default)]
struct BySession(Mutex<HashMap<SessionKey, Vec<String>>>);

impl Outbox for BySession {
    fn deliver<'a>(&'a self, piece: Piece<'a>) -> BoxFuture<'a, Result<Receipt, DeliveryError>> {
        let mut sent = self.0.lock().unwrap();
        let to = sent.entry(piece.session.clone()).or_default();
        to.push(words(piece.parts));
        Box::pin(std::future::ready(Ok(Receipt::default())))
    }
}

fn echoing(store: Store, outbox: Arc<BySession>) -> Agent {
    let named = NamedModel {
        id: "echo".into(),
        model: Arc::new(Echo),
    };
    Agent::new(Wiring {
        coder: Coder {
            gate: Gate::new(store.clone(), Default::default()),
            store,
            sandbox: Arc::new(Reader),
            limits: Default::default(),
        },
        models: Models::new(named, Vec::new(), None, None),
        settings: settings(),
        listeners: Vec::new(),
        outbox,
        packages: Vec::new(),
        sessions: Sessions::default(),
    })
}

fn session(number: usize) -> SessionKey {
    format!("many:FriendMessage:{number}").parse().unwrap()
}

/// Asks in a session of its own; gives what streamed by.
async fn converse(agent: Agent, number: usize) -> (usize, String) {
    let streamed = Arc::new(Mutex::new(String::new()));
    let hears = streamed.clone();
    let watch = Watch::new(move |event| {
        if let TurnEvent::Text { text } = event {
            hears.lock().unwrap().push_str(&text);
        }
    });
    let incoming = Incoming {
        session: session(number),
        sender: Sender {
            id: format!("user {number}"),
            name: String::new(),
        },
        parts: vec![Part::text(format!("question {number}"))],
        message_id: None,
        hidden: false,
        mentioned: true,
        sent_at: None,
    };
    let overrule = Override {
        mode: Some(Mode::Tools),
        ..Override::default()
    };
    let arrived = agent.arrive(incoming, overrule, watch).await.unwrap();
    assert!(matches!(arrived, Arrived::Turn(_)), "{arrived:?}");
    let streamed = streamed.lock().unwrap().clone();
    (number, streamed)
}

#[tokio::test(flavor = "multi_thread")]
async fn every_answer_is_whole_and_in_its_own_conversation() {
    let home = Home::sqlite();
    let (store, outbox) = (home.open().await, Arc::new(BySession::default()));
    let agent = echoing(store.clone(), outbox.clone());
    let mut all = JoinSet::new();
    for number in 0..CONVERSATIONS {
        all.spawn(converse(agent.clone(), number));
    }
    let streamed = all.join_all().await;
    assert_eq!(streamed.len(), CONVERSATIONS);
    for (number, streamed) in streamed {
        let question = format!("question {number}");
        let expected = answer(&question);
        assert_eq!(streamed.trim(), expected);
        assert_eq!(
            outbox.0.lock().unwrap()[&session(number)],
            [expected.as_str()]
        );
        let log = store.log().list(&session(number), 9).await.unwrap();
        let log: Vec<String> = log.iter().map(|row| words(&row.parts)).collect();
        assert_eq!(log, [question, expected.clone()]);
        let conversations = store.conversations();
        let current = conversations
            .current(&session(number))
            .await
            .unwrap()
            .unwrap();
        let history = conversations.history(current).await.unwrap();
        let said: Vec<_> = history
            .iter()
            .map(|row| row.message["content"].as_str())
            .collect();
        assert_eq!(said.len(), 2);
        assert_eq!(said[1].map(str::trim), Some(expected.as_str()));
    }
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Number {
    number: i64,
}

/// Ten methods, each of which needs the result of the one before.
fn ten_methods() -> Vec<Function> {
    let double =
        |_: Call, Number { number }: Number| async move { Ok::<_, MethodError>(number * 2) };
    let name = |place: usize| format!("step_{place}");
    let make = |place| method(&name(place), Kind::Tool, double).effect(Effect::Pure);
    (0..10).map(make).collect()
}

fn tokens_asked(model: &Scripted) -> usize {
    let requests = model.requests();
    let asked = requests
        .iter()
        .map(|request| serde_json::to_string(request).unwrap());
    asked.map(|request| tokens::estimate(&request)).sum()
}

#[tokio::test]
async fn ten_calls_are_two_rounds_of_code_and_eleven_of_tools() {
    let lines = (0..10).map(|place| format!("number = step_{place}(number)"));
    let code = format!(
        "number = 1\n{}\nprint(number)\nexit(9)",
        lines.collect::<Vec<_>>().join("\n")
    );
    let model = Scripted::default().says(&python(&code)).says("1024.");
    let by_code = Troupe::new(model, ten_methods()).await;
    let code: TurnReport = by_code.hears(Mode::Code, "Double 1 ten times.").await;

    let steps =
        (0..10).map(|place| calling(&format!("step_{place}"), json!({"number": 1 << place})));
    let model = steps
        .fold(Scripted::default(), Scripted::replies)
        .says("1024.");
    let by_tools = Troupe::new(model, ten_methods()).await;
    let tools: TurnReport = by_tools.hears(Mode::Tools, "Double 1 ten times.").await;

    assert_eq!((code.calls, tools.calls), (10, 10));
    assert_eq!(
        (by_code.sent(), by_tools.sent()),
        (vec!["1024.".into()], vec!["1024.".into()])
    );
    assert_eq!((code.rounds, tools.rounds), (2, 11));
    assert!(words(&by_code.shown(2)).contains("1024"));
    let (code, tools) = (tokens_asked(&by_code.model), tokens_asked(&by_tools.model));
    assert!(code < tools, "{code} tokens by code, {tools} by tools");
}
