//! Who tries again: after a rate limit the session itself, when it ends; after a disconnection whoever is
//! connected again, for every chat of the platform. And whoever ends in good order waits for what is being sent.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex},
    time::Duration,
};

use callgate_agent::{Agent, Coder, Sessions, Wiring};
use callgate_contract::{
    BoxFuture, DeliveryError, JournalId, Message, Models, NamedModel, Outbox, Part, Piece, Receipt,
    SessionKey,
};
use callgate_gate::Gate;
use callgate_store::Store;
use callgate_testkit::Home;
use tokio::sync::Notify;

use crate::{
    scene::Reader,
    stage::{Scripted, settings},
};

/// Gives each chat these answers in turn, and then takes everything.
#[derive(Default)]
struct Platform {
    answers: Mutex<HashMap<String, VecDeque<DeliveryError>>>,
    told: Mutex<Vec<String>>,
    /// Where a delivery waits, if it does, after it has begun.
    slow: Option<[Notify; 2]>,
}

impl Platform {
    fn answers(&self, chat: &SessionKey, errors: impl IntoIterator<Item = DeliveryError>) {
        let errors = errors.into_iter().collect();
        self.answers
            .lock()
            .unwrap()
            .insert(chat.to_string(), errors);
    }

    fn told(&self) -> Vec<String> {
        let mut told = self.told.lock().unwrap().clone();
        told.sort();
        told
    }
}

impl Outbox for Platform {
    fn deliver<'a>(&'a self, piece: Piece<'a>) -> BoxFuture<'a, Result<Receipt, DeliveryError>> {
        let chat = piece.session.to_string();
        let mut answers = self.answers.lock().unwrap();
        let answer = answers.get_mut(&chat).and_then(VecDeque::pop_front);
        self.told.lock().unwrap().push(chat);
        let answer = answer.map_or(Ok(Receipt::default()), Err);
        Box::pin(async move {
            if let Some([begun, goes_on]) = &self.slow {
                begun.notify_one();
                goes_on.notified().await;
            }
            answer
        })
    }
}

fn agent(store: Store, outbox: Arc<Platform>) -> Agent {
    let named = NamedModel {
        id: "nobody".into(),
        model: Arc::new(Scripted::default()),
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

async fn queue(store: &Store, chat: &str) -> SessionKey {
    let message = Message {
        session: chat.parse().unwrap(),
        parts: vec![Part::text("hello")],
    };
    let outbox = store.outbox();
    let sent = outbox.send(JournalId::fresh(), &message, true).await;
    sent.unwrap();
    message.session
}

#[tokio::test]
async fn what_came_too_fast_is_sent_when_the_limit_ends() {
    let home = Home::sqlite();
    let (store, platform) = (home.open().await, Arc::new(Platform::default()));
    let agent = agent(store.clone(), platform.clone());
    let chat = queue(&store, "qq:GroupMessage:1").await;
    let limited = |_| DeliveryError::Later {
        after: Duration::from_millis(1),
        reason: "too fast".to_owned(),
    };
    platform.answers(&chat, (0..3).map(limited));
    agent.deliver(&chat).await;
    while !store.outbox().pending(None).await.unwrap().is_empty() {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    assert_eq!(platform.told().len(), 4);
}

#[tokio::test]
async fn a_platform_that_is_connected_again_gets_what_waits_for_it() {
    let home = Home::sqlite();
    let (store, platform) = (home.open().await, Arc::new(Platform::default()));
    let agent = agent(store.clone(), platform.clone());
    let unreachable = || DeliveryError::Unreachable {
        reason: "not connected".to_owned(),
    };
    for chat in [
        "qq:GroupMessage:1",
        "qq:GroupMessage:2",
        "tg:GroupMessage:3",
    ] {
        let chat = queue(&store, chat).await;
        platform.answers(&chat, [unreachable()]);
        agent.deliver(&chat).await;
    }
    platform.told.lock().unwrap().clear();
    agent.deliver_platform("qq").await.unwrap();
    assert_eq!(platform.told(), ["qq:GroupMessage:1", "qq:GroupMessage:2"]);
    let waiting = store.outbox().sessions().await.unwrap();
    assert_eq!(waiting, ["tg:GroupMessage:3".parse().unwrap()]);
}

#[tokio::test]
async fn what_is_being_sent_is_waited_for_at_the_end() {
    let home = Home::sqlite();
    let platform = Arc::new(Platform {
        slow: Some([Notify::new(), Notify::new()]),
        ..Platform::default()
    });
    let store = home.open().await;
    let agent = agent(store.clone(), platform.clone());
    let chat = queue(&store, "qq:GroupMessage:1").await;
    let sends = agent.clone();
    let sending = tokio::spawn(async move { sends.deliver(&chat).await });
    let [begun, goes_on] = platform.slow.as_ref().unwrap();
    begun.notified().await;
    agent.close();
    tokio::select! {
        biased;
        () = agent.idle() => panic!("a message is on its way"),
        () = std::future::ready(()) => {}
    }
    goes_on.notify_one();
    agent.idle().await;
    assert_eq!(store.outbox().pending(None).await.unwrap(), []);
    sending.await.unwrap();
}
