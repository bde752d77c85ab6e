//! What requests have in common is stored once, and gone when nothing has it any more.

use callgate_contract::{ConversationId, JournalId};
use callgate_store::{Keep, KeptRequest, NewConversation, Parameter, Store, TurnStart};
use callgate_testkit::on_each_engine;

use crate::common::{end, session, turn};

const WEEKS: i64 = 30 * 24 * 60 * 60 * 1_000;

/// What a conversation is always asked: long, and nowhere like itself.
fn instructions(of: &str) -> String {
    let line = |number: usize| format!("{of} 第 {number} 条: {}\n", number * number * 7_919);
    (0..400).map(line).collect()
}

async fn conversation(store: &Store) -> ConversationId {
    let conversations = store.conversations();
    let new = NewConversation::default();
    conversations.create(&session("a"), new).await.unwrap().id
}

fn kept(of: ConversationId, text: &str) -> KeptRequest {
    KeptRequest {
        text: serde_json::to_string(text).unwrap(),
        shared_in: Some(of),
    }
}

/// A turn that asks this; ended or not.
async fn asks(store: &Store, of: ConversationId, text: &str, ended: bool) -> JournalId {
    let start = TurnStart {
        conversation: Some(of),
        ..turn(JournalId::fresh(), session("a"))
    };
    store.turns().begin(&start, &[]).await.unwrap();
    let turns = store.turns();
    turns
        .asked(start.id, 1, Some(kept(of, text)))
        .await
        .unwrap();
    if ended {
        turns.finish(start.id, end(&[], &[])).await.unwrap();
    }
    start.id
}

async fn asked(store: &Store, turn: JournalId) -> Option<String> {
    let rounds = store.turns().rounds(turn).await.unwrap();
    let request = rounds[0].request.as_ref()?;
    request.as_str().map(str::to_owned)
}

async fn number(store: &Store, select: &'static str) -> i64 {
    let found = store.read(move |tx| tx.scalar(select, &[])).await;
    found.unwrap().unwrap()
}

/// Bytes of all requests.
async fn stored(store: &Store) -> i64 {
    let select = "SELECT CAST(COALESCE(SUM(OCTET_LENGTH(request)
                      + COALESCE(OCTET_LENGTH(splices), 0)
                      + COALESCE(OCTET_LENGTH(shared), 0)), 0) AS BIGINT) FROM model_request";
    number(store, select).await
}

async fn sharing(store: &Store) -> i64 {
    let select = "SELECT COUNT(*) FROM model_request WHERE shared IS NOT NULL";
    number(store, select).await
}

/// As if all had been asked long ago.
async fn age(store: &Store) {
    let update = "UPDATE model_request SET asked_at = asked_at - ?1";
    let aged = store.write(move |tx| Ok(tx.execute(update, &[Parameter::Integer(Some(WEEKS))])?));
    aged.await.unwrap();
}

#[tokio::test]
async fn requests_read_back_as_they_were_and_cost_what_is_new_in_them() {
    on_each_engine(async |home| {
        let mut store = home.open().await;
        let (of, head, tail) = (
            conversation(&store).await,
            instructions("a"),
            instructions("z"),
        );
        let mut said = String::new();
        let mut made = Vec::new();
        for message in 0..60 {
            if message == 30 {
                // A process that remembers nothing finds what another one has written.
                store = home.open().await;
            }
            said += &format!("[#{message}] \"嗨\" \u{0} she said, for the {message}th time\n");
            let text = format!("{head}{said}It is {message} o'clock.{tail}");
            let before = stored(&store).await;
            let turn = asks(&store, of, &text, true).await;
            let added = stored(&store).await - before;
            assert!(message == 0 || added < 3_000, "{message}: {added}");
            made.push((turn, text));
        }
        let first = i64::try_from(head.len() + tail.len()).unwrap();
        let stored = stored(&store).await;
        assert!(stored < first + 60 * 1_500, "{stored}");
        for (turn, text) in made {
            assert_eq!(asked(&store, turn).await, Some(text));
        }
    })
    .await;
}

#[tokio::test]
async fn a_conversation_shares_with_itself_alone() {
    on_each_engine(async |home| {
        let store = home.open().await;
        let (one, other) = (conversation(&store).await, conversation(&store).await);
        let text = instructions("both");
        let first = asks(&store, one, &text, true).await;
        let second = asks(&store, other, &text, true).await;
        assert_eq!(sharing(&store).await, 2);
        // A turn of one that is deleted meanwhile asks on, and nothing of it can be read.
        let conversations = store.conversations();
        conversations
            .delete(&session("a"), Some(one))
            .await
            .unwrap();
        let late = asks(&store, one, &text, false).await;
        assert_eq!(sharing(&store).await, 1);
        for erased in [first, late] {
            assert_eq!(asked(&store, erased).await, None);
        }
        assert_eq!(asked(&store, second).await, Some(text));
    })
    .await;
}

#[tokio::test]
async fn what_no_round_needs_any_more_is_deleted_with_the_last_that_did() {
    on_each_engine(async |home| {
        let store = home.open().await;
        let (of, journal) = (conversation(&store).await, store.journal());
        let texts = ["ended", "open", "kept"].map(instructions);
        let ended = asks(&store, of, &texts[0], true).await;
        let open = asks(&store, of, &texts[1], false).await;
        let kept = asks(&store, of, &texts[2], true).await;
        journal.prune(Keep::newest(1)).await.unwrap();
        assert_eq!(sharing(&store).await, 3, "others may be about to use it");

        age(&store).await;
        journal.prune(Keep::newest(1)).await.unwrap();
        assert_eq!(sharing(&store).await, 2);
        assert!(store.turns().rounds(ended).await.unwrap().is_empty());
        assert_eq!(asked(&store, open).await.as_ref(), Some(&texts[1]));
        assert_eq!(asked(&store, kept).await.as_ref(), Some(&texts[2]));

        // What is too old to be referred to is stored anew.
        let again = asks(&home.open().await, of, &texts[2], true).await;
        assert_eq!(sharing(&store).await, 3);
        journal.prune(Keep::newest(1)).await.unwrap();
        assert_eq!(sharing(&store).await, 2);
        assert_eq!(asked(&store, again).await.as_ref(), Some(&texts[2]));
    })
    .await;
}

/// A round that is asked again after a crash neither loses what others have of it nor itself.
#[tokio::test]
async fn a_round_that_is_asked_again_goes_on_sharing() {
    on_each_engine(async |home| {
        let store = home.open().await;
        let of = conversation(&store).await;
        let (text, other) = (instructions("one"), instructions("another"));
        let first = asks(&store, of, &text, false).await;
        let second = asks(&store, of, &text, true).await;
        // Whichever instance asks.
        store.leases().let_go(first).await.unwrap();
        for again in [&text, &other, &format!("{text}{other}"), &text] {
            for store in [&store, &home.open().await] {
                let turns = store.turns();
                turns.asked(first, 1, Some(kept(of, again))).await.unwrap();
                assert_eq!(asked(store, first).await.as_ref(), Some(again));
                assert_eq!(asked(store, second).await.as_ref(), Some(&text));
            }
        }
        let third = asks(&store, of, &text, true).await;
        assert_eq!(asked(&store, third).await, Some(text));
        assert_eq!(sharing(&store).await, 1);
    })
    .await;
}
