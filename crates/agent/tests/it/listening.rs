//! What listeners hear of messages, rounds and sessions, and what becomes of what they say.

use std::sync::{Arc, Mutex};

use callgate_agent::{Arrived, Override, Watch};
use callgate_contract::{
    ArrivalFacts, BoxFuture, Contribution, JournalId, Listener, Message, ModelMessage, Part,
    Points, SessionKey, TurnFacts, Verdict,
};
use callgate_store::{Incoming, Reception};
use callgate_testkit::{Home, on_each_engine};
use tokio::sync::oneshot;

use crate::stage::{Scripted, Stage, incoming, python, session};

/// Says of each message what the message itself asks for.
#[derive(Default)]
struct Obliging {
    heard: Mutex<Vec<ArrivalFacts>>,
    resets: Mutex<Vec<SessionKey>>,
    /// Of a message `wait`: until the next message comes, as a handler does that asks back.
    waiting: Mutex<Option<oneshot::Sender<()>>>,
}

impl Listener for Obliging {
    fn points(&self) -> Points {
        Points::ARRIVED | Points::RESET
    }

    fn arrived<'a>(&'a self, message: &'a ArrivalFacts) -> BoxFuture<'a, Verdict> {
        Box::pin(async {
            self.heard.lock().unwrap().push(message.clone());
            if let Some(waiting) = self.waiting.lock().unwrap().take() {
                let _ = waiting.send(());
                return Verdict::Pass;
            }
            match message.parts[0].words().unwrap_or_default().as_ref() {
                "force" => Verdict::Force,
                "no turn" => Verdict::NoTurn,
                "hide" => Verdict::Hide,
                "taken" => Verdict::Taken,
                "wait" => {
                    let (sender, next) = oneshot::channel();
                    *self.waiting.lock().unwrap() = Some(sender);
                    next.await.unwrap();
                    Verdict::Taken
                }
                _ => Verdict::Pass,
            }
        })
    }

    fn collect<'a>(&'a self, _: &'a TurnFacts) -> BoxFuture<'a, Contribution> {
        panic!("not among its points")
    }

    fn reset<'a>(&'a self, session: &'a SessionKey) -> BoxFuture<'a, ()> {
        self.resets.lock().unwrap().push(session.clone());
        Box::pin(async {})
    }
}

struct Always(Verdict);

impl Listener for Always {
    fn points(&self) -> Points {
        Points::ARRIVED
    }

    fn arrived<'a>(&'a self, _: &'a ArrivalFacts) -> BoxFuture<'a, Verdict> {
        Box::pin(async { self.0 })
    }
}

fn in_a_group(text: &str) -> Incoming {
    Incoming {
        session: "q:GroupMessage:1".parse().unwrap(),
        mentioned: false,
        ..incoming("ann", text)
    }
}

async fn arrive(stage: &Stage, incoming: Incoming) -> Arrived {
    let arrived = stage
        .agent
        .arrive(incoming, Override::default(), Watch::default());
    arrived.await.unwrap()
}

#[tokio::test]
async fn a_verdict_decides_over_the_rule() {
    on_each_engine(async |home: Home| {
        let listener = Arc::new(Obliging::default());
        let model = Scripted::default().says("one").says("two");
        let stage = Stage::heard_by(home.open().await, model, vec![listener.clone()]);
        let group = in_a_group("").session;
        assert!(matches!(
            arrive(&stage, in_a_group("hi")).await,
            Arrived::Heard
        ));
        assert!(matches!(
            arrive(&stage, in_a_group("force")).await,
            Arrived::Turn(_)
        ));
        assert!(matches!(stage.hears("no turn").await, Arrived::Heard));
        assert!(matches!(stage.hears("hide").await, Arrived::Heard));
        assert!(matches!(stage.hears("taken").await, Arrived::Taken));
        assert!(matches!(stage.hears("hi").await, Arrived::Turn(_)));
        assert_eq!(stage.sent(), ["one", "two"]);
        let store = stage.agent.store();
        assert_eq!(store.log().waiting().await.unwrap(), []);
        let rows = store.log().list(&session(), 10).await.unwrap();
        let hidden: Vec<bool> = rows.iter().map(|row| row.hidden).collect();
        assert_eq!(hidden, [false, true, false, false, false]);
        let heard = listener.heard.lock().unwrap();
        let wanted: Vec<bool> = heard.iter().map(|facts| facts.wanted).collect();
        assert_eq!(wanted, [false, false, true, true, true, true]);
        assert_eq!((heard[0].session.clone(), &*heard[0].name), (group, "ANN"));
    })
    .await;
}

#[tokio::test]
async fn of_several_verdicts_the_strongest_counts() {
    for (one, other, strongest) in [
        (Verdict::Pass, Verdict::NoTurn, "heard"),
        (Verdict::NoTurn, Verdict::Force, "answered"),
        (Verdict::Taken, Verdict::Force, "taken"),
        (Verdict::Taken, Verdict::Hide, "heard"),
    ] {
        let home = Home::sqlite();
        let listeners: Vec<Arc<dyn Listener>> =
            vec![Arc::new(Always(one)), Arc::new(Always(other))];
        let model = Scripted::default().says("yes");
        let stage = Stage::heard_by(home.open().await, model, listeners);
        let came_of_it = match stage.hears("hi").await {
            Arrived::Heard => "heard",
            Arrived::Taken => "taken",
            Arrived::Turn(_) => "answered",
            other => panic!("{other:?}"),
        };
        assert_eq!(came_of_it, strongest, "{one:?} and {other:?}");
    }
}

#[tokio::test]
async fn who_is_blocked_stays_blocked_and_is_not_told_to_listeners() {
    let home = Home::sqlite();
    let stage = Stage::heard_by(
        home.open().await,
        Scripted::default(),
        vec![Arc::new(Always(Verdict::Force))],
    );
    let settings = stage.agent.store().settings();
    let rule = serde_json::json!({"block": ["cli:ann"]});
    settings
        .change_session(&session(), |settings| settings.answer = Some(rule))
        .await
        .unwrap();
    assert!(matches!(stage.hears("hi").await, Arrived::Heard));
    assert_eq!(stage.agent.store().log().waiting().await.unwrap(), []);
}

/// The wait would never end if the message it waits for queued behind it, and the first message
/// would be answered twice if the turn of the second took it along.
#[tokio::test]
async fn a_handler_may_wait_for_the_next_message() {
    let home = Home::sqlite();
    let listener = Arc::new(Obliging::default());
    let model = Scripted::default().says("second");
    let stage = Stage::heard_by(home.open().await, model, vec![listener.clone()]);
    let first = stage.hears("wait");
    let second = async {
        while listener.waiting.lock().unwrap().is_none() {
            tokio::task::yield_now().await;
        }
        stage.hears("the next").await
    };
    let (first, second) = tokio::join!(first, second);
    assert!(matches!(first, Arrived::Taken), "{first:?}");
    assert!(matches!(second, Arrived::Turn(_)), "{second:?}");
    let rows = stage.agent.store().log().list(&session(), 9).await.unwrap();
    let taken: Vec<bool> = rows.iter().map(|row| row.turn.is_some()).collect();
    assert_eq!(taken, [false, true, false]);
    assert_eq!(stage.sent(), ["second"]);
}

#[tokio::test]
async fn what_listeners_were_cut_off_over_is_answered_without_them() {
    on_each_engine(async |home: Home| {
        let store = home.open().await;
        let offered = Reception {
            offered: true,
            ..Reception::default()
        };
        let message = incoming("ann", "force");
        store.log().receive(&message, offered).await.unwrap();
        let listener = Arc::new(Obliging::default());
        let stage = Stage::heard_by(
            store,
            Scripted::default().says("here I am"),
            vec![listener.clone()],
        );
        stage.agent.recover().await.unwrap();
        assert!(listener.heard.lock().unwrap().is_empty());
        assert_eq!(stage.sent(), ["here I am"]);
        stage.agent.recover().await.unwrap();
        assert_eq!(stage.sent().len(), 1);
    })
    .await;
}

#[tokio::test]
async fn what_listeners_had_said_when_they_were_cut_off_is_the_answer() {
    on_each_engine(async |home: Home| {
        let store = home.open().await;
        let offered = Reception {
            offered: true,
            ..Reception::default()
        };
        let message = incoming("ann", "force");
        store.log().receive(&message, offered).await.unwrap();
        let said = Message {
            session: session(),
            parts: vec![Part::text("said by a plugin")],
        };
        let outbox = store.outbox();
        outbox.send(JournalId::fresh(), &said, true).await.unwrap();
        let stage = Stage::heard_by(store, Scripted::default().says("too much"), Vec::new());
        stage.agent.recover().await.unwrap();
        assert_eq!(stage.sent(), ["said by a plugin"]);
        let left = stage.agent.store().log().offered().await.unwrap();
        assert_eq!(left, []);
    })
    .await;
}

#[tokio::test]
async fn a_session_that_begins_anew_is_told() {
    let home = Home::sqlite();
    let listener = Arc::new(Obliging::default());
    let stage = Stage::heard_by(
        home.open().await,
        Scripted::default(),
        vec![listener.clone()],
    );
    for command in ["/new", "/reset", "/stats"] {
        assert!(matches!(stage.hears(command).await, Arrived::Command));
    }
    assert_eq!(*listener.resets.lock().unwrap(), [session(), session()]);
    assert!(
        listener.heard.lock().unwrap().is_empty(),
        "commands are ours"
    );
}

/// Hides `act` and counts the rounds it was asked in.
#[derive(Default)]
struct Contributing(Mutex<u32>);

impl Listener for Contributing {
    fn points(&self) -> Points {
        Points::COLLECT
    }

    fn collect<'a>(&'a self, _: &'a TurnFacts) -> BoxFuture<'a, Contribution> {
        let mut rounds = self.0.lock().unwrap();
        *rounds += 1;
        let text = format!("this is round {rounds}");
        let contribution = Contribution {
            prompt: vec![("weather".into(), text), ("empty".into(), String::new())],
            hidden: vec!["builtin/act".into()],
        };
        Box::pin(async { contribution })
    }
}

#[tokio::test]
async fn each_round_of_code_mode_is_contributed_to() {
    let home = Home::sqlite();
    let model = Scripted::default()
        .says(&python("search x"))
        .says(&python("act y"))
        .says("It is not there.");
    let listeners: Vec<Arc<dyn Listener>> = vec![Arc::new(Contributing::default())];
    let stage = Stage::heard_by(home.open().await, model, listeners);
    stage.hears("go").await;
    let requests = stage.model.requests();
    let [first, second, third] = &requests[..] else {
        panic!("{requests:?}");
    };
    for (request, round) in [(first, 1), (second, 2), (third, 3)] {
        let all = format!("{:?}", request.messages);
        let text = format!("# From plugins\n## weather\nthis is round {round}");
        let Some(ModelMessage::User { parts }) = request.messages.last() else {
            panic!("{all}");
        };
        assert_eq!(parts.last(), Some(&Part::text(text)));
        assert_eq!(all.matches("From plugins").count(), 1, "{all}");
        let ModelMessage::System { text } = &request.messages[0] else {
            panic!("{all}");
        };
        assert!(
            !text.contains("def act(") && text.contains("def look("),
            "{text}"
        );
    }
    let told = format!("{:?}", third.messages);
    assert!(told.contains("act") && told.contains("not"), "{told}");
    assert_eq!(stage.ran.counts().1, 0, "a hidden method was called");
}

#[tokio::test]
async fn mentions_and_replies_reach_the_model_in_words() {
    let home = Home::sqlite();
    let stage = Stage::new(home.open().await, Scripted::default().says("a").says("b"));
    let mut message = incoming("ann", "look");
    message.parts = vec![
        Part::Reply {
            to: "m7".into(),
            text: Some("the plan".into()),
        },
        Part::Mention {
            id: "7".into(),
            name: "Bo".into(),
        },
        Part::text("look at that"),
    ];
    arrive(&stage, message.clone()).await;
    let code = format!("{:?}", stage.model.requests()[0].messages);
    assert!(
        code.contains("reply to \\\\\\\"the plan\\\\\\\"") || code.contains("the plan"),
        "{code}"
    );
    assert!(code.contains("@Bo look at that"), "{code}");
    let tools = Override {
        mode: Some(callgate_contract::Mode::Tools),
        ..Override::default()
    };
    let arrived = stage.agent.arrive(message, tools, Watch::default());
    arrived.await.unwrap();
    let parts = match stage.model.requests()[1].messages.last() {
        Some(ModelMessage::User { parts }) => parts.clone(),
        other => panic!("{other:?}"),
    };
    let texts = ["[reply to: the plan]", "@Bo", "look at that"];
    assert_eq!(parts[..3], texts.map(Part::text));
}
