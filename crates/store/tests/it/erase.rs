//! A deleted conversation leaves no text behind, in no table, and no turn brings any back.

use callgate_contract::{
    BoxFuture, Choice, DeliveryError, Effect, JournalId, Outbox, Part, Piece, Receipt, SessionKey,
    Stop, StrangeValue, StrangeValues, Usage,
};
use callgate_store::{
    Approver, Ask, CallOutcome, ConversationUpdate, NewConversation, RunStart, Store, Success,
    TurnStart,
};
use callgate_testkit::{Home, on_each_engine};
use serde_json::json;

use crate::common::{ask, call, charge, end, incoming, kept, run, said, send, session, turn};

const SECRET: &str = "s3cr3t";

struct Anywhere;

impl Outbox for Anywhere {
    fn deliver<'a>(&'a self, _: Piece<'a>) -> BoxFuture<'a, Result<Receipt, DeliveryError>> {
        Box::pin(std::future::ready(Ok(Receipt::default())))
    }
}

/// Nobody knows whether it took a message.
struct Silent;

impl Outbox for Silent {
    fn deliver<'a>(&'a self, _: Piece<'a>) -> BoxFuture<'a, Result<Receipt, DeliveryError>> {
        let reason = "no answer came".to_owned();
        Box::pin(std::future::ready(Err(DeliveryError::Unknown { reason })))
    }
}

/// A turn that says the secret wherever a turn can.
async fn confide(store: &Store, start: &TurnStart, ended: bool) {
    let journal = store.journal();
    let message = incoming(start.session.clone(), SECRET, None);
    let row = store.log().append_incoming(&message).await.unwrap().row;
    store.turns().begin(start, &[row.id]).await.unwrap();
    let secret = json!({ SECRET: SECRET });
    // Long, so that it is shared with other requests of the conversation.
    let request = json!({ SECRET: SECRET.repeat(1_000) });
    store
        .turns()
        .asked(start.id, 1, Some(kept(&request, start.conversation)))
        .await
        .unwrap();
    let usage = Usage::default();
    let replied = store
        .turns()
        .replied(start.id, 1, &secret, &charge(usage, None))
        .await;
    replied.unwrap();

    let code = RunStart {
        turn: Some((start.id, 1)),
        // Long, so that it has pages of its own.
        code: Some(SECRET.repeat(10_000)),
        ..run(JournalId::fresh())
    };
    journal.begin(&code).await.unwrap();
    for (id, result) in [
        (
            start.id,
            Ok(Success {
                value: SECRET.into(),
                text: Some(SECRET.to_owned()),
                parts: vec![Part::text(SECRET)],
            }),
        ),
        (code.id, Err(SECRET.to_owned())),
    ] {
        let mut made = call(id, 1, Effect::Rows);
        made.arguments = SECRET.into();
        let changes = [send(start.session.clone(), SECRET)];
        let outcome = CallOutcome {
            result,
            detail: Some(SECRET.to_owned()),
            micros: 1,
        };
        journal.record(&made, &outcome, &changes).await.unwrap();
        let ask = Ask {
            journal: id,
            sequence: 1,
            session: start.session.clone(),
            principal: start.principal.clone(),
            method: "m".to_owned(),
            schema: String::new(),
            arguments: secret.clone(),
            approver: Approver::Requester,
            reason: Some(StrangeValues {
                values: vec![StrangeValue {
                    parameter: "to".to_owned(),
                    choice: Choice::Recipient,
                    value: SECRET.to_owned(),
                }],
                sources: Vec::new(),
            }),
        };
        store.approvals().ask(&ask, None).await.unwrap();
    }
    journal
        .finish(code.id, Stop::Finished, &secret)
        .await
        .unwrap();
    if ended {
        finish(store, start).await;
    }
}

async fn finish(store: &Store, start: &TurnStart) {
    let messages = [said("user", SECRET).into()];
    let changes = [send(start.session.clone(), SECRET)];
    let report = json!({ SECRET: SECRET });
    let mut end = end(&messages, &changes);
    end.report = &report;
    store.turns().finish(start.id, end).await.unwrap();
}

async fn secret_conversation(store: &Store, to: &SessionKey) -> TurnStart {
    let new = NewConversation {
        messages: vec![said("user", SECRET)],
        title: Some(SECRET.to_owned()),
        ..NewConversation::default()
    };
    let made = store.conversations().create(to, new).await.unwrap();
    // A replaced history is erased as well.
    let replace = ConversationUpdate {
        history: Some(vec![said("user", SECRET)]),
        ..ConversationUpdate::default()
    };
    store
        .conversations()
        .update(to, None, replace)
        .await
        .unwrap();
    TurnStart {
        conversation: Some(made.id),
        plan: json!(SECRET),
        ..turn(JournalId::fresh(), to.clone())
    }
}

/// The tables and columns that hold the secret.
async fn holding(home: &Home) -> Vec<String> {
    let mut holding = Vec::new();
    for (table, columns) in [
        ("log", "parts"),
        ("outbox", "parts"),
        ("conversation", "title"),
        ("message", "message"),
        ("turn", "plan report"),
        ("model_request", "request shared reply"),
        ("run", "code report"),
        ("call", "arguments value text parts error detail"),
        ("approval", "arguments"),
    ] {
        for column in columns.split(' ') {
            let found = ask(home, &format!("SELECT {column} FROM {table}")).await;
            let holds =
                |bytes: &Vec<u8>| bytes.windows(SECRET.len()).any(|w| w == SECRET.as_bytes());
            if found.iter().any(holds) {
                holding.push(format!("{table}.{column}"));
            }
        }
    }
    holding
}

/// The files of SQLite that hold the secret, in pages no row points at.
fn files_holding(home: &Home) -> Vec<&'static str> {
    let holds = |file: &&str| {
        let bytes = std::fs::read(home.data().join(file)).unwrap_or_default();
        bytes.windows(SECRET.len()).any(|w| w == SECRET.as_bytes())
    };
    let files = ["callgate.db", "callgate.db-wal"];
    files.into_iter().filter(holds).collect()
}

#[tokio::test]
async fn a_deleted_conversation_leaves_no_text() {
    on_each_engine(async |home| {
        let store = home.open().await;
        let a = session("a");
        let root = secret_conversation(&store, &a).await;
        let id = root.conversation.unwrap();
        confide(&store, &root, true).await;
        let child = TurnStart {
            parent: Some(root.id),
            depth: 1,
            conversation: None,
            plan: json!(SECRET),
            ..turn(JournalId::fresh(), a.clone())
        };
        confide(&store, &child, true).await;
        let before = holding(&home).await;
        assert_eq!(before.len(), 18, "{before:?}");
        store
            .outbox()
            .deliver_pending(None, &Anywhere)
            .await
            .unwrap();

        store.conversations().delete(&a, Some(id)).await.unwrap();
        assert_eq!(holding(&home).await, [] as [String; 0]);
        assert_eq!(files_holding(&home), [] as [&str; 0]);
        // What happened is still on record, and reads back.
        for start in [&root, &child] {
            let turn = store.turns().get(start.id).await.unwrap();
            assert!(turn.finish.unwrap().report.is_null());
            let rounds = store.turns().rounds(start.id).await.unwrap();
            assert!(rounds[0].answer.as_ref().unwrap().reply.is_null());
            let runs = store.turns().runs(start.id).await.unwrap();
            assert_eq!((runs.len(), &runs[0].start.code), (1, &None));
            let calls = store.journal().recorded(start.id).await.unwrap();
            let outcome = calls[0].outcome.as_ref().unwrap();
            assert_eq!(outcome.result, Ok(Success::default()));
            let calls = store.journal().recorded(runs[0].start.id).await.unwrap();
            let outcome = calls[0].outcome.as_ref().unwrap();
            assert_eq!(outcome.result, Err(String::new()));
        }
        let log = store.log().list(&a, 99).await.unwrap();
        assert_eq!(log.len(), 8);
    })
    .await;
}

#[tokio::test]
async fn another_conversation_keeps_its_text() {
    on_each_engine(async |home| {
        let store = home.open().await;
        let a = session("a");
        let kept = secret_conversation(&store, &a).await;
        confide(&store, &kept, true).await;
        let before = holding(&home).await;
        let new = NewConversation::default();
        let other = store.conversations().create(&a, new).await.unwrap();
        store
            .conversations()
            .delete(&a, Some(other.id))
            .await
            .unwrap();
        assert_eq!(holding(&home).await, before);
    })
    .await;
}

/// What waits for the operator only would keep it for ever.
#[tokio::test]
async fn messages_of_which_nobody_knows_go_with_their_conversation() {
    on_each_engine(async |home| {
        let store = home.open().await;
        let a = session("a");
        let start = secret_conversation(&store, &a).await;
        confide(&store, &start, true).await;
        let outbox = store.outbox();
        let done = outbox.deliver_pending(None, &Silent).await.unwrap();
        assert!(!done.given_up.is_empty());
        let conversations = store.conversations();
        conversations.delete(&a, start.conversation).await.unwrap();
        assert_eq!(holding(&home).await, [] as [String; 0]);
        assert_eq!(outbox.undelivered(None, 0, 9).await.unwrap(), []);
    })
    .await;
}

#[tokio::test]
async fn a_turn_that_outlives_its_conversation_answers_and_leaves_nothing() {
    on_each_engine(async |home| {
        let store = home.open().await;
        let a = session("a");
        let start = secret_conversation(&store, &a).await;
        confide(&store, &start, false).await;
        store
            .outbox()
            .deliver_pending(None, &Anywhere)
            .await
            .unwrap();
        store
            .conversations()
            .delete(&a, start.conversation)
            .await
            .unwrap();
        // The reply that was there is erased and still counts as given.
        let rounds = store.turns().rounds(start.id).await.unwrap();
        assert!(rounds[0].answer.is_some());

        finish(&store, &start).await;
        assert_eq!(store.outbox().pending(None).await.unwrap().len(), 1);
        assert_eq!(holding(&home).await, ["outbox.parts"]);
        store
            .outbox()
            .deliver_pending(None, &Anywhere)
            .await
            .unwrap();
        assert_eq!(holding(&home).await, [] as [String; 0]);
    })
    .await;
}

#[tokio::test]
async fn a_turn_of_no_conversation_is_erased_by_itself() {
    on_each_engine(async |home| {
        let store = home.open().await;
        let start = TurnStart {
            plan: json!(SECRET),
            ..turn(JournalId::fresh(), session("a"))
        };
        let below = TurnStart {
            id: JournalId::fresh(),
            parent: Some(start.id),
            depth: 1,
            ..start.clone()
        };
        for turn in [&start, &below] {
            confide(&store, turn, true).await;
        }
        let outbox = store.outbox();
        outbox.deliver_pending(None, &Anywhere).await.unwrap();
        store.turns().erase(start.id).await.unwrap();
        assert_eq!(holding(&home).await, [] as [String; 0]);
        assert_eq!(files_holding(&home), [] as [&str; 0]);
        let turn = store.turns().get(start.id).await.unwrap();
        assert!(turn.finish.unwrap().report.is_null());
    })
    .await;
}
