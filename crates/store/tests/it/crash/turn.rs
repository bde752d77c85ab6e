//! The turn of the script: a message and a timer arrive, a model is asked twice, an answer goes
//! out.

use callgate_contract::{ConversationId, JournalId, Part, Role};
use callgate_store::{Charge, LogRole, NewConversation, NewTimer, Store, StoreError, TurnStart};
use callgate_testkit::Witness;
use jiff::Timestamp;
use serde_json::json;
use uuid::Uuid;

use super::Delivering;
use crate::common::{end, incoming, said, send, session, turn};

const ROUNDS: [u32; 2] = [1, 2];

/// As the agent does it, at first and again: what is recorded is not done again.
pub(super) async fn script(store: &Store, run: JournalId, witness: &Witness) {
    let message = incoming(session("turn"), "question", Some("m1"));
    store.log().append_incoming(&message).await.unwrap();
    let timer = NewTimer {
        id: run.0,
        session: session("turn"),
        principal: "cli:u1".parse().unwrap(),
        role: Role::Member,
        due_at: Timestamp::UNIX_EPOCH,
        text: "timer".to_owned(),
    };
    store.timers().set(&timer).await.unwrap();
    store.timers().fire(timer.id).await.unwrap();

    let id = id(run);
    begin(store, id).await;
    let begun = store.turns().get(id).await.unwrap();
    if begun.finish.is_none() {
        rounds(store, id, witness).await;
        let messages = [said("user", "q").into(), said("assistant", "a").into()];
        let changes = [send(session("turn"), "answer")];
        store
            .turns()
            .finish(id, end(&messages, &changes))
            .await
            .unwrap();
    }
    let outbox = Delivering(witness);
    store.outbox().deliver_pending(None, &outbox).await.unwrap();
}

fn id(run: JournalId) -> JournalId {
    JournalId(Uuid::from_u128(run.0.as_u128() ^ 1))
}

async fn begin(store: &Store, id: JournalId) {
    if !matches!(store.turns().get(id).await, Err(StoreError::UnknownTurn(_))) {
        return;
    }
    let start = TurnStart {
        conversation: Some(conversation(store).await),
        ..turn(id, session("turn"))
    };
    let rows = store.log().unanswered(&session("turn")).await.unwrap();
    let rows: Vec<i64> = rows.iter().map(|row| row.id).collect();
    store.turns().begin(&start, &rows).await.unwrap();
}

async fn conversation(store: &Store) -> ConversationId {
    let conversations = store.conversations();
    match conversations.current(&session("turn")).await.unwrap() {
        Some(id) => id,
        None => {
            let new = NewConversation::default();
            let made = conversations.create(&session("turn"), new).await;
            made.unwrap().id
        }
    }
}

async fn rounds(store: &Store, id: JournalId, witness: &Witness) {
    let recorded = store.turns().rounds(id).await.unwrap();
    for number in ROUNDS {
        let known = recorded.iter().find(|round| round.number == number);
        if known.is_some_and(|round| round.answer.is_some()) {
            continue;
        }
        store.turns().asked(id, number, None).await.unwrap();
        witness.saw(&format!("asked {number}"));
        let reply = json!({ "number": number });
        let replied = store
            .turns()
            .replied(id, number, &reply, &Charge::default())
            .await;
        replied.unwrap();
    }
}

pub(super) async fn check(store: &Store, run: JournalId, witness: &Witness, point: &str) {
    let id = id(run);
    assert_eq!(store.turns().unfinished().await.unwrap(), []);
    let log = store.log().list(&session("turn"), 99).await.unwrap();
    let came: Vec<_> = log.iter().filter(|row| row.role == LogRole::User).collect();
    let texts: Vec<_> = came.iter().map(|row| row.parts.clone()).collect();
    let expected = ["question", "timer"].map(|text| vec![Part::text(text)]);
    assert_eq!(texts, expected);
    assert!(came.iter().all(|row| row.turn == Some(id)));
    assert_eq!(log.len(), 3);

    for round in store.turns().rounds(id).await.unwrap() {
        let (times, attempts) = asked(point, round.number);
        let number = round.number;
        assert_eq!(witness.times(&format!("asked {number}")), times);
        assert_eq!(round.attempts, attempts);
        assert_eq!(round.answer.unwrap().reply["number"], number);
    }
    let conversation = conversation(store).await;
    let history = store.conversations().history(conversation).await.unwrap();
    assert_eq!(history.len(), 2);
    let delivered: usize = (1..9)
        .map(|id| witness.times(&format!("answer as {id}")))
        .sum();
    assert_eq!(delivered, 1);
}

/// How often a model was really asked in a round, and how often it was meant to be.
fn asked(point: &str, number: u32) -> (usize, u32) {
    let (name, pass) = point.split_once(':').unwrap_or((point, "1"));
    match name {
        _ if pass != number.to_string() => (1, 1),
        "turn.after_asked" => (1, 2),
        // The answer that came was not recorded: this is the one request more.
        "turn.before_reply" => (2, 2),
        _ => (1, 1),
    }
}
