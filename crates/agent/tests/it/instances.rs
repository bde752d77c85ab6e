//! Two instances on one PostgreSQL: turns of a session never overlap, every message is answered once,
//! every answer is sent once; and what one leaves that dies, the other brings to its end.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
    time::Duration,
};

use callgate_agent::{Agent, Arrived, Override, Sessions, Watch, Wiring};
use callgate_contract::{
    BoxFuture, DeliveryError, Mode, Model, ModelError, ModelEvent, ModelMessage, ModelRequest,
    ModelStream, Models, NamedModel, Outbox, Part, Piece, Receipt, SessionKey,
};
use callgate_store::{Incoming, LogRole, Sender, Store};
use callgate_testkit::Home;
use tokio::{runtime::Runtime, task::JoinSet};

use crate::{
    scene::{Ran, coder},
    seeds::troupe::words,
    stage::{Scripted, Stage, incoming, session as anns, settings},
};

fn session(number: usize) -> SessionKey {
    format!("many:GroupMessage:{number}").parse().unwrap()
}

/// What all instances together do: who answers which session now, and what has left.
#[derive(Default)]
struct World {
    answering: Mutex<HashMap<String, usize>>,
    overlaps: Mutex<Vec<String>>,
    sent: Mutex<Vec<(i64, SessionKey)>>,
}

/// Takes its time, and sees whether anybody else answers the same session meanwhile.
struct Slow(Arc<World>);

impl Model for Slow {
    fn stream(&self, request: ModelRequest) -> BoxFuture<'_, Result<ModelStream, ModelError>> {
        let Some(ModelMessage::User { parts }) = request.messages.last() else {
            panic!("{:?}", request.messages);
        };
        let said = words(parts);
        // The moment names the session.
        let of = (0..SESSIONS).map(|number| session(number).to_string());
        let of = of.into_iter().find(|key| said.contains(key.as_str()));
        let key = of.unwrap_or_else(|| panic!("{said}"));
        Box::pin(async move {
            let others = {
                let mut answering = self.0.answering.lock().unwrap();
                let count = answering.entry(key.clone()).or_default();
                *count += 1;
                *count - 1
            };
            if others > 0 {
                self.0.overlaps.lock().unwrap().push(key.clone());
            }
            tokio::time::sleep(Duration::from_millis(15)).await;
            *self.0.answering.lock().unwrap().get_mut(&key).unwrap() -= 1;
            Ok(ModelStream::of(vec![
                ModelEvent::TextDelta {
                    text: "Yes.".into(),
                },
                ModelEvent::Finished {
                    reason: Default::default(),
                },
            ]))
        })
    }
}

struct Together(Arc<World>);

impl Outbox for Together {
    fn deliver<'a>(&'a self, piece: Piece<'a>) -> BoxFuture<'a, Result<Receipt, DeliveryError>> {
        Box::pin(async move {
            tokio::time::sleep(Duration::from_millis(1)).await;
            self.0
                .sent
                .lock()
                .unwrap()
                .push((piece.id, piece.session.clone()));
            Ok(Receipt::default())
        })
    }
}

fn instance(store: Store, world: &Arc<World>) -> Agent {
    let named = NamedModel {
        id: "slow".into(),
        model: Arc::new(Slow(world.clone())),
    };
    Agent::new(Wiring {
        coder: coder(store, Default::default(), &Ran::default()),
        models: Models::new(named, Vec::new(), None, None),
        settings: settings(),
        listeners: Vec::new(),
        outbox: Arc::new(Together(world.clone())),
        packages: Vec::new(),
        sessions: Sessions::default(),
    })
}

const SESSIONS: usize = 5;
const MESSAGES: usize = 200;

fn message(number: usize) -> Incoming {
    // Users of their own, so that none joins the turn of another.
    let user = format!("user {number}");
    Incoming {
        session: session(number % SESSIONS),
        sender: Sender {
            id: user.clone(),
            name: user,
        },
        parts: vec![Part::text(format!("question {number}"))],
        message_id: Some(format!("m{number}")),
        hidden: false,
        mentioned: true,
        sent_at: None,
    }
}

fn by_tools() -> Override {
    Override {
        mode: Some(Mode::Tools),
        ..Override::default()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn messages_from_both_sides_are_answered_once_and_never_at_once() {
    let home = Home::postgres().await;
    let other = home.of_another();
    let world = Arc::new(World::default());
    let agents = [
        instance(home.open().await, &world),
        instance(other.open().await, &world),
    ];
    let mut arriving = JoinSet::new();
    for number in 0..MESSAGES {
        // A platform may deliver the same message to both.
        let sides = if number % 20 == 0 { 2 } else { 1 };
        for side in 0..sides {
            let agent = agents[(number + side) % 2].clone();
            arriving.spawn(async move {
                let arrived = agent.arrive(message(number), by_tools(), Watch::default());
                arrived.await.unwrap()
            });
        }
    }
    let arrived = arriving.join_all().await;
    let turns = arrived
        .iter()
        .filter(|one| matches!(one, Arrived::Turn(_)))
        .count();
    let repeated = arrived
        .iter()
        .filter(|one| matches!(one, Arrived::Repeated));
    assert_eq!(repeated.count(), MESSAGES / 20);

    assert_eq!(*world.overlaps.lock().unwrap(), Vec::<String>::new());
    let store = agents[0].store();
    let (mut answered, mut answers) = (0, 0);
    for number in 0..SESSIONS {
        let log = store.log().list(&session(number), 1_000).await.unwrap();
        for row in log {
            match row.role {
                LogRole::User => {
                    assert!(row.turn.is_some(), "{row:?}");
                    answered += 1;
                }
                _ => answers += 1,
            }
        }
        let turns = store.turns().list(&session(number), 1_000).await.unwrap();
        let mut before = None;
        for turn in turns {
            let end = turn.finish.as_ref().unwrap().at;
            // Milliseconds: one may begin in that in which another ends.
            assert!(
                before.is_none_or(|before| before <= turn.started_at),
                "{turn:?}"
            );
            before = Some(end);
        }
    }
    assert_eq!(answered, MESSAGES);
    assert_eq!(answers, turns, "each turn answers once");
    assert_eq!(store.outbox().pending(None).await.unwrap(), []);
    let mut sent: Vec<i64> = world
        .sent
        .lock()
        .unwrap()
        .iter()
        .map(|(id, _)| *id)
        .collect();
    assert_eq!(sent.len(), turns);
    sent.sort_unstable();
    sent.dedup();
    assert_eq!(sent.len(), turns, "each answer left once");
}

/// An instance in a runtime of its own, so that it can die.
pub fn mortal() -> Runtime {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap()
}

pub async fn until(what: impl AsyncFn() -> bool) {
    while !what().await {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_dead_instance_was_doing_another_finishes_and_does_not_repeat() {
    // However slow this machine is, one that lives is not taken for gone.
    let home = Home::postgres().await.with_term(Duration::from_secs(3_600));
    let other = home.of_another();
    let dying = mortal();
    let options = home.options();
    let first = dying.spawn(async move {
        let model = Scripted::default().calls(&[("act", "b")]).says("!hang");
        Stage::new(Store::open(options).await.unwrap(), model)
    });
    let first = Arc::new(first.await.unwrap());
    let hears = first.clone();
    dying.spawn(async move { hears.hears_from("ann", "go", Some(Mode::Tools)).await });
    until(async || first.model.requests().len() == 2).await;
    // Came while it was busy, and only it has heard of it.
    let hears = first.clone();
    dying.spawn(async move { hears.hears_from("bob", "and me?", Some(Mode::Tools)).await });
    let store = other.open().await;
    until(async || store.log().list(&anns(), 9).await.unwrap().len() == 2).await;

    let second = Scripted::default().says("Done.").says("You too.");
    let second = Stage::new(store.clone(), second);
    let left_alone = second.agent.take_over().await.unwrap();
    assert_eq!(
        (left_alone.turns.len(), left_alone.messages),
        (0, 0),
        "it lives"
    );
    let recovered = second.agent.recover().await.unwrap();
    assert_eq!(
        (recovered.turns.len(), recovered.messages),
        (0, 0),
        "whoever asks"
    );

    // Killed: nothing is given back. And silent until its term has run out.
    dying.shutdown_background();
    home.open().await.leave().await.unwrap();
    let (sent, ran) = (first.sent(), first.ran.counts());
    let taken_over = second.agent.take_over().await.unwrap();
    assert_eq!((taken_over.turns.len(), taken_over.messages), (1, 1));
    assert_eq!(second.sent(), ["Done.", "You too."]);
    assert_eq!((sent, first.sent()), (Vec::new(), Vec::new()));
    assert_eq!(
        (ran.1, second.ran.counts().1),
        (1, 0),
        "the recorded call is not made again"
    );
    let asked = second.model.requests();
    assert_eq!(asked.len(), 2, "the recorded reply is not asked for again");
    assert!(format!("{:?}", asked[0].messages).contains("did b"));
    assert_eq!(store.turns().unfinished().await.unwrap(), []);
    assert_eq!(store.log().waiting().await.unwrap(), []);
    let again = second.agent.take_over().await.unwrap();
    assert_eq!((again.turns.len(), again.messages), (0, 0));
}

/// One that was silent for too long and lives still is refused whatever it does, and says so.
#[tokio::test(flavor = "multi_thread")]
async fn an_instance_that_wakes_up_late_does_nothing_more() {
    let home = Home::postgres().await;
    let other = home.of_another();
    let (model, speaks) = (Scripted::default(), Arc::new(tokio::sync::Notify::new()));
    let late = Stage::new(
        home.open().await,
        model.waits(speaks.clone()).calls(&[("act", "b")]),
    );
    let late = Arc::new(late);
    let hears = late.clone();
    let turn = tokio::spawn(async move {
        let agent = hears.agent.clone();
        agent
            .arrive(incoming("ann", "go"), by_tools(), Watch::default())
            .await
    });
    until(async || late.model.requests().len() == 1).await;
    late.agent.store().leave().await.unwrap();
    let quick = Stage::new(other.open().await, Scripted::default().says("Done."));
    let recovered = quick.agent.take_over().await.unwrap();
    assert_eq!(recovered.turns.len(), 1);
    assert_eq!(quick.sent(), ["Done."]);

    speaks.notify_one();
    let ended = turn.await.unwrap().unwrap_err().to_string();
    assert!(ended.contains("another instance"), "{ended}");
    assert_eq!((late.ran.counts(), late.sent()), ((0, 0), Vec::new()));
    let log = quick.agent.store().log().list(&anns(), 9).await.unwrap();
    assert_eq!(log.len(), 2, "a question and its answer");
}

/// It was left by an earlier life of this instance, and while another has the session nobody forgets that.
#[tokio::test(flavor = "multi_thread")]
async fn what_was_left_comes_first_also_where_the_session_was_elsewhere_at_first() {
    let home = Home::postgres().await;
    let (store, other) = (home.open().await, home.of_another().open().await);
    let first = Stage::new(store.clone(), Scripted::default().says("First."));
    first.hears_from("ann", "one", Some(Mode::Tools)).await;
    let mut left = store
        .turns()
        .list(&anns(), 1)
        .await
        .unwrap()
        .remove(0)
        .start;
    left.id = callgate_contract::JournalId::fresh();
    store.turns().begin(&left, &[]).await.unwrap();

    let held = other.leases().take(&anns()).await.unwrap().unwrap();
    let model = Scripted::default().says("Left.").says("New.");
    let second = Arc::new(Stage::new(store.clone(), model));
    let hears = second.clone();
    let heard = tokio::spawn(async move {
        hears.hears_from("ann", "two", Some(Mode::Tools)).await;
    });
    until(async || !store.log().unanswered(&anns()).await.unwrap().is_empty()).await;
    // Refused at least once meanwhile.
    tokio::time::sleep(Duration::from_millis(100)).await;
    other.leases().give_up(&held).await.unwrap();
    heard.await.unwrap();
    assert_eq!(second.sent(), ["Left.", "New."]);
    assert_eq!(store.turns().unfinished().await.unwrap(), []);
}

/// A turn was open when its instance died. One that takes the session just as it ends itself begins nothing
/// there, and whoever comes next has to know of that turn all the same.
#[tokio::test(flavor = "multi_thread")]
async fn one_that_ends_leaves_a_session_as_it_was_left_to_it() {
    let home = Home::postgres().await;
    let (dead, ends) = (home.open().await, home.of_another().open().await);
    dead.leases().take(&anns()).await.unwrap().unwrap();
    dead.leave().await.unwrap();

    let ending = Stage::new(ends.clone(), Scripted::default());
    ending.agent.close();
    let message = ending
        .agent
        .arrive(incoming("ann", "hello"), by_tools(), Watch::default());
    let arrived = message.await.unwrap();
    assert!(matches!(arrived, Arrived::Joined), "{arrived:?}");
    // It has let go of the session by then.
    tokio::time::sleep(Duration::from_millis(200)).await;
    ends.leave().await.unwrap();
    let next = home.of_another().open().await;
    let lease = next.leases().take(&anns()).await.unwrap().unwrap();
    assert!(lease.was_left());
}
