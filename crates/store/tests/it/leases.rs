//! Instances that share a database: who has what, until when, and what one that lost it can still do.

use std::time::Duration;

use callgate_contract::{
    BoxFuture, DeliveryError, Effect, Found, JournalId, Outbox, Piece, Receipt, Repetition,
    SessionKey, Stop, TurnStop,
};
use callgate_store::{LeftBy, Reception, Store, StoreError};
use callgate_testkit::{Home, on_each_engine};
use serde_json::json;
use tokio::sync::Notify;

use crate::common::{call, charge, end, incoming, run, send, session, turn, value};

/// Two instances; what one that is silent for a moment held, the other may take.
async fn two() -> (Instance, Instance) {
    let home = Home::postgres().await;
    let other = home.of_another();
    (Instance::at(home).await, Instance::at(other).await)
}

struct Instance {
    store: Store,
    home: Home,
}

impl Instance {
    async fn at(home: Home) -> Self {
        // Never in a test unless it says so.
        let home = home.with_term(Duration::from_secs(3_600));
        Instance {
            store: home.open().await,
            home,
        }
    }

    /// It holds what it held, and counts as gone.
    async fn falls_silent(&self) {
        self.store.leave().await.unwrap();
    }

    /// The same instance, after a restart or a long pause.
    async fn wakes(&self) {
        drop(self.home.open().await);
    }
}

fn is_elsewhere<T: std::fmt::Debug>(result: Result<T, StoreError>) -> bool {
    matches!(result, Err(StoreError::Elsewhere(_)))
}

#[tokio::test]
async fn a_session_has_one_holder_as_long_as_that_lives() {
    let (one, other) = two().await;
    let key = session("a");
    let first = one.store.leases().take(&key).await.unwrap().unwrap();
    assert_eq!(other.store.leases().take(&key).await.unwrap(), None);
    let elsewhere = other.store.leases().take(&session("b")).await.unwrap();
    assert!(elsewhere.is_some());

    // Taken anew by the same one, so that giving the first up changes nothing.
    let second = one.store.leases().take(&key).await.unwrap().unwrap();
    one.store.leases().give_up(&first).await.unwrap();
    assert_eq!(other.store.leases().take(&key).await.unwrap(), None);
    one.store.leases().give_up(&second).await.unwrap();
    let others = other.store.leases().take(&key).await.unwrap();
    assert!(others.is_some());
    assert_eq!(one.store.leases().take(&key).await.unwrap(), None);

    other.falls_silent().await;
    assert!(one.store.leases().take(&key).await.unwrap().is_some());
    other.wakes().await;
    assert_eq!(other.store.leases().take(&key).await.unwrap(), None);
}

/// A lease belongs to a life: the next one of the same instance does not know what the one before had.
#[tokio::test]
async fn a_restarted_instance_holds_no_session_that_it_does_not_know_of() {
    let (one, other) = two().await;
    let (key, id) = (session("a"), JournalId::fresh());
    one.store.leases().take(&key).await.unwrap().unwrap();
    let start = turn(id, key.clone());
    one.store.turns().begin(&start, &[]).await.unwrap();
    assert_eq!(other.store.leases().take(&key).await.unwrap(), None);

    // Killed: nothing is given back. And started again at once.
    let again = one.home.open().await;
    let taken = other.store.leases().take(&key).await.unwrap();
    let taken = taken.expect("it is nobody's");
    assert!(taken.was_left(), "its turn comes before any new one");
    let of_others = other.store.turns().cut_off(LeftBy::Others).await.unwrap();
    assert_eq!(of_others, [], "its turns are its own");
    let own = again.turns().cut_off(LeftBy::Earlier).await.unwrap();
    assert_eq!(own.len(), 1);
    assert!(again.leases().adopt(id).await.unwrap());
    // And the life before, should it be one still, writes to nothing any more.
    assert!(is_elsewhere(one.store.turns().asked(id, 1, None).await));
}

/// A copy of a data directory is another instance, whoever of the two starts when.
#[tokio::test]
async fn a_copied_data_directory_gets_a_name_of_its_own() {
    let (one, other) = (Home::postgres().await, "instance");
    let copy = one.of_another();
    let first = one.open().await;
    let name = |home: &Home| std::fs::read_to_string(home.data().join(other)).unwrap();
    std::fs::create_dir_all(copy.data()).unwrap();
    std::fs::copy(one.data().join(other), copy.data().join(other)).unwrap();
    assert_eq!(name(&one), name(&copy));
    let key = session("a");
    first.leases().take(&key).await.unwrap().unwrap();
    let id = JournalId::fresh();
    let start = turn(id, key.clone());
    first.turns().begin(&start, &[]).await.unwrap();

    let second = copy.open().await;
    assert_ne!(name(&one), name(&copy));
    assert_eq!(second.leases().take(&key).await.unwrap(), None);
    assert!(!second.leases().adopt(id).await.unwrap());
    let own = second.turns().cut_off(LeftBy::Earlier).await.unwrap();
    assert_eq!(own, [], "nothing of the other's is its own");
    first.turns().asked(id, 1, None).await.unwrap();
    // Started again, it has the name it took.
    let kept = name(&copy);
    drop(second);
    copy.open().await;
    assert_eq!(name(&copy), kept);
}

/// No word of its end, only silence.
#[tokio::test]
async fn what_an_instance_held_that_died_is_anybodys_after_its_term() {
    let home = Home::postgres().await.with_term(Duration::from_millis(300));
    let (other, options) = (home.of_another(), home.options());
    let dying = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        runtime.unwrap().block_on(async {
            let store = Store::open(options).await.unwrap();
            store.leases().take(&session("a")).await.unwrap().unwrap();
            let id = JournalId::fresh();
            store
                .turns()
                .begin(&turn(id, session("a")), &[])
                .await
                .unwrap();
            id
        })
    });
    let id = dying.join().unwrap();
    let store = other.open().await;
    while store.leases().take(&session("a")).await.unwrap().is_none() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert!(store.leases().adopt(id).await.unwrap());
}

/// A process that is stopped within a transaction keeps what it has locked from others for a term, as it
/// keeps its sessions, and not for longer. Here it stands still until another has written there.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_transaction_that_stands_still_is_in_nobodys_way_after_a_term() {
    let home = Home::postgres().await.with_term(Duration::from_secs(1));
    let (standing, other) = (home.open().await, home.of_another().open().await);
    let (locked, locks) = std::sync::mpsc::channel();
    let (go_on, goes_on) = std::sync::mpsc::channel::<()>();
    let set = |value: &str| format!("INSERT INTO setting (name, value) VALUES ('it', '{value}')");
    let (first, second) = (set("1"), set("2"));
    let stands = tokio::spawn(async move {
        let work = move |tx: &mut dyn callgate_store::Tx| {
            tx.execute(&first, &[])?;
            locked.send(()).unwrap();
            goes_on.recv().unwrap();
            Ok(())
        };
        standing.write(work).await
    });
    let waiting = tokio::task::spawn_blocking(move || locks.recv().unwrap());
    waiting.await.unwrap();
    let written = other.write(move |tx| Ok(tx.execute(&second, &[])?)).await;
    assert_eq!(written.unwrap(), 1);
    go_on.send(()).unwrap();
    assert!(stands.await.unwrap().is_err(), "it has lost its place");
    let select = "SELECT value FROM setting WHERE name = 'it'";
    let kept: Option<String> = other.read(|tx| tx.scalar(select, &[])).await.unwrap();
    assert_eq!(kept.as_deref(), Some("2"));
}

#[tokio::test]
async fn one_who_owns_the_database_is_never_refused() {
    let home = Home::sqlite();
    let (one, again) = (home.open().await, home.open().await);
    for store in [&one, &again, &one] {
        let lease = store.leases().take(&session("a")).await.unwrap();
        store.leases().give_up(&lease.unwrap()).await.unwrap();
        assert!(store.leases().adopt(JournalId::fresh()).await.unwrap());
    }
    assert_eq!(one.term(), None);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_many_who_ask_at_once_one_holds() {
    let home = Home::postgres().await;
    let mut asking = tokio::task::JoinSet::new();
    for _ in 0..8 {
        let home = home.of_another();
        asking.spawn(async move {
            let store = home.open().await;
            let held = store.leases().take(&session("a")).await.unwrap();
            (held.is_some(), store)
        });
    }
    let held = asking.join_all().await;
    assert_eq!(held.iter().filter(|(held, _)| *held).count(), 1);
}

#[tokio::test]
async fn a_turn_begins_only_under_a_lease_that_holds() {
    let (one, other) = two().await;
    let key = session("a");
    let lease = one.store.leases().take(&key).await.unwrap().unwrap();
    let begin = async |store: &Store, lease| {
        let start = turn(JournalId::fresh(), key.clone());
        store.turns().begin_under(Some(lease), &start, &[]).await
    };
    begin(&one.store, &lease).await.unwrap();

    one.falls_silent().await;
    let others = other.store.leases().take(&key).await.unwrap().unwrap();
    one.wakes().await;
    assert!(is_elsewhere(begin(&one.store, &lease).await));
    begin(&other.store, &others).await.unwrap();
}

/// Everything that would be done twice, or go into a record that another instance continues.
#[tokio::test]
async fn a_turn_that_was_taken_over_can_no_longer_be_written_to() {
    let (one, other) = two().await;
    let (id, code, key) = (JournalId::fresh(), JournalId::fresh(), session("张三"));
    let late = incoming(key.clone(), "late", None);
    let late = one.store.log().append_incoming(&late).await.unwrap();
    let turns = one.store.turns();
    turns.begin(&turn(id, key.clone()), &[]).await.unwrap();
    turns.asked(id, 1, None).await.unwrap();
    let mut of_turn = run(code);
    of_turn.turn = Some((id, 1));
    let journal = one.store.journal();
    journal.begin(&of_turn).await.unwrap();
    journal
        .intent(&call(code, 1, Effect::Effectful))
        .await
        .unwrap();
    assert!(!other.store.leases().adopt(id).await.unwrap());
    let gone = other.store.turns().cut_off(LeftBy::Earlier).await.unwrap();
    assert_eq!(gone, [], "its instance lives");

    one.falls_silent().await;
    let gone = other.store.turns().cut_off(LeftBy::Others).await.unwrap();
    assert_eq!(gone.len(), 1, "whenever it began");
    assert!(other.store.leases().adopt(id).await.unwrap());
    one.wakes().await;

    assert!(!one.store.leases().adopt(id).await.unwrap());
    assert!(is_elsewhere(turns.asked(id, 1, None).await));
    let (reply, cost) = (said(), charge(Default::default(), None));
    assert!(is_elsewhere(turns.replied(id, 1, &reply, &cost).await));
    let answer = [send(key.clone(), "twice")];
    assert!(is_elsewhere(turns.finish(id, end(&[], &answer)).await));
    let taken = one.store.log().take_for_turn(id, &[late.row.id]).await;
    assert!(is_elsewhere(taken));
    let next = call(code, 2, Effect::Effectful);
    assert!(is_elsewhere(journal.intent(&next).await));
    let outcome = journal.outcome(code, 1, &value(1), &answer).await;
    assert!(is_elsewhere(outcome));
    let rows = call(code, 2, Effect::Rows);
    assert!(is_elsewhere(
        journal.record(&rows, &value(1), &answer).await
    ));
    let finished = journal.finish(code, Stop::Finished, &json!({})).await;
    assert!(is_elsewhere(finished));
    let mut another = run(JournalId::fresh());
    another.turn = Some((id, 2));
    assert!(is_elsewhere(journal.begin(&another).await));

    // And the other can.
    let turns = other.store.turns();
    turns.asked(id, 1, None).await.unwrap();
    turns.replied(id, 1, &reply, &cost).await.unwrap();
    other.store.journal().intent(&next).await.unwrap();
    turns.finish(id, end(&[], &answer)).await.unwrap();
    let ended = one.store.turns().get(id).await.unwrap().finish.unwrap();
    assert_eq!(ended.stop, TurnStop::Answered);
    assert_eq!(one.store.outbox().pending(None).await.unwrap().len(), 1);
}

fn said() -> serde_json::Value {
    json!({"text": "hello"})
}

#[tokio::test]
async fn agents_and_code_of_a_turn_go_with_it() {
    let (one, other) = two().await;
    let [above, agent, below] = [(); 3].map(|()| JournalId::fresh());
    let mut parent = None;
    for id in [above, agent, below] {
        let mut start = turn(id, session("a"));
        start.parent = parent.replace(id);
        one.store.turns().begin(&start, &[]).await.unwrap();
    }
    let mut code = run(JournalId::fresh());
    code.turn = Some((below, 1));
    one.store.journal().begin(&code).await.unwrap();
    one.falls_silent().await;
    assert!(other.store.leases().adopt(above).await.unwrap());
    one.wakes().await;
    for id in [agent, below] {
        assert!(is_elsewhere(one.store.turns().asked(id, 1, None).await));
    }
    let next = call(code.id, 1, Effect::Effectful);
    assert!(is_elsewhere(one.store.journal().intent(&next).await));
}

#[tokio::test]
async fn what_waits_for_an_approval_is_anybodys() {
    let (one, other) = two().await;
    let id = JournalId::fresh();
    one.store
        .turns()
        .begin(&turn(id, session("a")), &[])
        .await
        .unwrap();
    one.store.leases().let_go(id).await.unwrap();
    assert!(other.store.leases().adopt(id).await.unwrap());
    assert!(!one.store.leases().adopt(id).await.unwrap());

    let code = run(JournalId::fresh());
    one.store.journal().begin(&code).await.unwrap();
    let report = json!({});
    let asks = one.store.journal().finish(code.id, Stop::Approval, &report);
    asks.await.unwrap();
    other.store.journal().reopen(code.id).await.unwrap();
    assert!(is_elsewhere(one.store.journal().reopen(code.id).await));
}

/// What belongs to an instance that lives is never taken up; what one left that is gone, or we
/// ourselves before a restart, is.
#[tokio::test]
async fn what_was_left_behind_is_found_by_who_left_it() {
    on_each_engine(async |home: Home| {
        let mine = home.open().await;
        begin_everything(&mine).await;
        assert_eq!(found(&mine, LeftBy::Anyone).await, [1; 4]);
        for by in [LeftBy::Earlier, LeftBy::Others] {
            assert_eq!(found(&mine, by).await, [0; 4], "of our own, now");
        }
        if home.options().url.is_some() {
            let other = home.of_another().open().await;
            assert_eq!(found(&other, LeftBy::Earlier).await, [0; 4]);
            mine.leave().await.unwrap();
            assert_eq!(found(&other, LeftBy::Others).await, [1; 4]);
        }
    })
    .await;
}

/// A clock that was set back makes everything of the life before seem to be still to come.
#[tokio::test]
async fn what_an_earlier_life_left_is_told_by_no_clock() {
    on_each_engine(async |home: Home| {
        let before = home.open().await;
        begin_everything(&before).await;
        let later = [
            "UPDATE log SET written_at = written_at + 3600000",
            "UPDATE turn SET started_at = started_at + 3600000",
            "UPDATE run SET started_at = started_at + 3600000",
        ];
        let written = before.write(move |tx| {
            for update in later {
                tx.execute(update, &[])?;
            }
            Ok(())
        });
        written.await.unwrap();
        let next = home.open().await;
        assert_eq!(found(&next, LeftBy::Earlier).await, [1; 4]);
        begin_everything(&next).await;
        assert_eq!(found(&next, LeftBy::Earlier).await, [1; 4]);
        assert_eq!(found(&next, LeftBy::Anyone).await, [2; 4]);
    })
    .await;
}

/// A message, one that listeners have, a turn and a run, none of which comes to its end.
async fn begin_everything(store: &Store) {
    let (key, offered) = (
        session("a"),
        Reception {
            offered: true,
            ..Reception::default()
        },
    );
    let plain = incoming(key.clone(), "plain", None);
    store.log().append_incoming(&plain).await.unwrap();
    let other = incoming(key.clone(), "offered", None);
    store.log().receive(&other, offered).await.unwrap();
    let begun = turn(JournalId::fresh(), key);
    store.turns().begin(&begun, &[]).await.unwrap();
    let code = run(JournalId::fresh());
    store.journal().begin(&code).await.unwrap();
}

async fn found(store: &Store, by: LeftBy) -> [usize; 4] {
    [
        store.log().left_unanswered(by).await.unwrap().len(),
        store.log().left_offered(by).await.unwrap().len(),
        store.turns().cut_off(by).await.unwrap().len(),
        store.journal().cut_off(by).await.unwrap().len(),
    ]
}

/// Takes a moment for each message, so that others come in between.
#[derive(Default)]
struct Slow(std::sync::Mutex<Vec<(i64, String)>>);

impl Outbox for Slow {
    fn deliver<'a>(&'a self, piece: Piece<'a>) -> BoxFuture<'a, Result<Receipt, DeliveryError>> {
        Box::pin(async move {
            tokio::time::sleep(Duration::from_millis(5)).await;
            let to = piece.session.id().to_owned();
            self.0.lock().unwrap().push((piece.id, to));
            Ok(Receipt::default())
        })
    }
}

async fn says(store: &Store, chat: &str) {
    let changes = [send(session(chat), "x")];
    let id = JournalId::fresh();
    store
        .turns()
        .begin(&turn(id, session(chat)), &[])
        .await
        .unwrap();
    store.turns().finish(id, end(&[], &changes)).await.unwrap();
}

#[tokio::test]
async fn two_instances_never_send_one_message_twice() {
    let (one, other) = two().await;
    let platform = Slow::default();
    let talks = async |store: &Store| {
        for n in 0..10 {
            let chat = ["a", "b"][n % 2];
            says(store, chat).await;
            let key = session(chat);
            let done = store.outbox().deliver_pending(Some(&key), &platform).await;
            assert_eq!(done.unwrap().failed, []);
        }
    };
    tokio::join!(talks(&one.store), talks(&other.store));
    assert_eq!(one.store.outbox().pending(None).await.unwrap(), []);
    let got = platform.0.into_inner().unwrap();
    for chat in ["a", "b"] {
        let ids = got.iter().filter(|(_, to)| to == chat).map(|(id, _)| *id);
        let ids: Vec<i64> = ids.collect();
        let mut once = ids.clone();
        once.sort_unstable();
        once.dedup();
        assert_eq!(ids, once, "in order, and each once");
    }
    assert_eq!(got.len(), 20);
}

/// Never comes back from a delivery, and says that one has begun.
struct Stuck(Repetition, Notify);

impl Outbox for Stuck {
    fn repetition(&self, _: &SessionKey) -> Repetition {
        self.0
    }

    fn deliver<'a>(&'a self, _: Piece<'a>) -> BoxFuture<'a, Result<Receipt, DeliveryError>> {
        self.1.notify_one();
        Box::pin(std::future::pending())
    }
}

#[tokio::test]
async fn what_an_instance_that_is_gone_did_not_send_another_does() {
    let (one, other) = two().await;
    says(&one.store, "a").await;
    let sending = one.store.outbox();
    let stuck = Stuck(Repetition::Recognized, Notify::new());
    tokio::select! {
        biased;
        _ = sending.deliver_pending(None, &stuck) => unreachable!(),
        // However long it takes: it lives.
        () = says(&other.store, "a") => {}
    }
    let platform = Slow::default();
    let outbox = other.store.outbox();
    let key = session("a");
    let done = outbox.deliver_pending(Some(&key), &platform).await.unwrap();
    assert_eq!(done.delivered, 0, "the one before it has not arrived");
    assert_eq!(outbox.left_behind().await.unwrap(), []);

    one.falls_silent().await;
    assert_eq!(outbox.left_behind().await.unwrap(), [session("a")]);
    let done = outbox.deliver_pending(Some(&key), &platform).await.unwrap();
    assert_eq!(done.delivered, 2);
    let ids: Vec<i64> = platform
        .0
        .into_inner()
        .unwrap()
        .iter()
        .map(|(id, _)| *id)
        .collect();
    assert!(ids.is_sorted());
}

/// Says what it has, and takes what is sent.
struct Asked(Found);

impl Outbox for Asked {
    fn repetition(&self, _: &SessionKey) -> Repetition {
        Repetition::Harmful
    }

    fn deliver<'a>(&'a self, _: Piece<'a>) -> BoxFuture<'a, Result<Receipt, DeliveryError>> {
        Box::pin(std::future::ready(Ok(Receipt::default())))
    }

    fn look_for<'a>(&'a self, _: Piece<'a>) -> BoxFuture<'a, Found> {
        Box::pin(std::future::ready(self.0.clone()))
    }
}

#[tokio::test]
async fn what_an_instance_that_is_gone_may_have_sent_another_looks_for() {
    for (found, expected) in [
        (Found::Delivered(Receipt::default()), (2, 0)),
        (Found::Missing, (2, 0)),
        (Found::Unknown, (1, 1)),
    ] {
        let (one, other) = two().await;
        says(&one.store, "a").await;
        let sending = one.store.outbox();
        let stuck = Stuck(Repetition::Harmful, Notify::new());
        tokio::select! {
            biased;
            _ = sending.deliver_pending(None, &stuck) => unreachable!(),
            () = stuck.1.notified() => {}
        }
        one.falls_silent().await;
        says(&other.store, "a").await;
        let (outbox, key) = (other.store.outbox(), session("a"));
        let platform = Asked(found);
        let done = outbox.deliver_pending(Some(&key), &platform).await.unwrap();
        assert_eq!((done.delivered, done.given_up.len()), expected);
    }
}
