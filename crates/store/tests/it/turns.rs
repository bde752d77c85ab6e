//! Turns: begun with what they answer, recorded round by round, ended once with everything that
//! comes of them.

use callgate_contract::{Effect, JournalId, Stop, TurnStop, Usage};
use callgate_store::{Charge, Keep, NewConversation, RunStart, Store, StoreError, TurnEnd};
use callgate_testkit::on_each_engine;
use serde_json::{Value as Json, json};

use crate::common::{call, charge, end, incoming, kept, run, said, send, session, turn, value};

const USAGE: Usage = Usage {
    input: 10,
    cached: 3,
    written: 0,
    output: 5,
    reasoning: 2,
    money: None,
};

async fn begun(store: &Store) -> JournalId {
    let id = JournalId::fresh();
    let start = turn(id, session("a"));
    store.turns().begin(&start, &[]).await.unwrap();
    id
}

#[tokio::test]
async fn a_turn_reads_back_as_it_was_begun() {
    on_each_engine(async |home| {
        let store = home.open().await;
        let conversations = store.conversations();
        let conversation = conversations
            .create(&session("a"), NewConversation::default())
            .await;
        let mut parent = turn(JournalId::fresh(), session("a"));
        parent.conversation = Some(conversation.unwrap().id);
        store.turns().begin(&parent, &[]).await.unwrap();
        let mut child = turn(JournalId::fresh(), session("a"));
        child.parent = Some(parent.id);
        child.depth = 1;
        child.persona = None;
        child.plan = Json::Null;
        store.turns().begin(&child, &[]).await.unwrap();

        let store = home.open().await;
        let found = store.turns().unfinished().await.unwrap();
        let starts: Vec<_> = found.iter().map(|turn| turn.start.clone()).collect();
        assert_eq!(starts, [parent.clone(), child.clone()]);
        assert!(found.iter().all(|turn| turn.finish.is_none()));
        assert_eq!(store.turns().get(parent.id).await.unwrap(), found[0]);
        let children = store.turns().children(parent.id).await.unwrap();
        assert_eq!(children, found[1..]);
        assert_eq!(
            store.turns().list(&session("a"), 1).await.unwrap(),
            found[1..]
        );
        assert_eq!(store.turns().list(&session("b"), 9).await.unwrap(), []);
        let unknown = store.turns().get(JournalId::fresh()).await;
        assert!(matches!(unknown, Err(StoreError::UnknownTurn(_))));
    })
    .await;
}

#[tokio::test]
async fn a_turn_begins_once_with_all_it_answers_or_not_at_all() {
    on_each_engine(async |home| {
        let store = home.open().await;
        let message = incoming(session("a"), "1", None);
        let row = store.log().append_incoming(&message).await.unwrap().row;
        let start = turn(JournalId::fresh(), session("a"));
        let failed = store.turns().begin(&start, &[row.id, 99]).await;
        assert!(matches!(failed, Err(StoreError::NotToTake { row: 99, .. })));
        assert_eq!(store.turns().unfinished().await.unwrap(), []);
        assert_eq!(
            store.log().unanswered(&session("a")).await.unwrap().len(),
            1
        );

        store.turns().begin(&start, &[row.id]).await.unwrap();
        assert_eq!(store.log().unanswered(&session("a")).await.unwrap(), []);
        let again = store.turns().begin(&start, &[]).await;
        assert!(matches!(again, Err(StoreError::TurnBegun(id)) if id == start.id));
    })
    .await;
}

#[tokio::test]
async fn a_recorded_reply_stays() {
    on_each_engine(async |home| {
        let store = home.open().await;
        let turns = store.turns();
        let id = begun(&store).await;
        let never = turns.replied(id, 1, &json!({}), &Charge::default()).await;
        assert!(matches!(
            never,
            Err(StoreError::NeverAsked { number: 1, .. })
        ));

        let request = json!({"messages": ["问\u{0}"]});
        turns
            .asked(id, 1, Some(kept(&request, None)))
            .await
            .unwrap();
        // A crash hid the answer.
        let store = home.open().await;
        let turns = store.turns();
        let open = turns.rounds(id).await.unwrap();
        assert_eq!((open[0].attempts, &open[0].answer), (1, &None));
        turns
            .asked(id, 1, Some(kept(&request, None)))
            .await
            .unwrap();
        let reply = json!({"content": "答\u{0}"});
        turns
            .replied(id, 1, &reply, &charge(USAGE, Some(7)))
            .await
            .unwrap();
        turns.asked(id, 2, None).await.unwrap();
        turns
            .replied(id, 2, &Json::Null, &Charge::default())
            .await
            .unwrap();
        turns.asked(id, 3, None).await.unwrap();

        for round in [1, 2] {
            let asked = turns.asked(id, round, None).await;
            assert!(matches!(asked, Err(StoreError::AlreadyReplied { .. })));
            let replied = turns
                .replied(id, round, &json!("new"), &charge(USAGE, None))
                .await;
            assert!(matches!(replied, Err(StoreError::AlreadyReplied { .. })));
        }
        let rounds = home.open().await.turns().rounds(id).await.unwrap();
        let numbers: Vec<_> = rounds.iter().map(|r| (r.number, r.attempts)).collect();
        assert_eq!(numbers, [(1, 2), (2, 1), (3, 1)]);
        assert_eq!(
            (&rounds[0].request, &rounds[1].request),
            (&Some(request), &None)
        );
        let answer = rounds[0].answer.as_ref().unwrap();
        let usage = answer.usage.unwrap();
        assert_eq!((&answer.reply, usage.input), (&reply, USAGE.input));
        assert_eq!((answer.money, usage.money), (Some(7), Some(7)));
        assert!(answer.at >= rounds[0].asked_at);
        let answer = rounds[1].answer.as_ref().unwrap();
        assert_eq!((answer.usage, answer.money), (None, None));
        assert_eq!(rounds[2].answer, None);
    })
    .await;
}

#[tokio::test]
async fn runs_belong_to_their_turn_and_round() {
    on_each_engine(async |home| {
        let store = home.open().await;
        let id = begun(&store).await;
        let mut made = Vec::new();
        for round in [2, 1, 1] {
            let start = RunStart {
                turn: Some((id, round)),
                ..run(JournalId::fresh())
            };
            store.journal().begin(&start).await.unwrap();
            made.push(start);
        }
        store
            .journal()
            .begin(&run(JournalId::fresh()))
            .await
            .unwrap();
        let runs = store.turns().runs(id).await.unwrap();
        let starts: Vec<_> = runs.into_iter().map(|run| run.start).collect();
        assert_eq!(starts, [made[1].clone(), made[2].clone(), made[0].clone()]);
    })
    .await;
}

#[tokio::test]
async fn a_turn_ends_once_with_history_and_answer() {
    on_each_engine(async |home| {
        let store = home.open().await;
        let conversations = store.conversations();
        let conversation = conversations
            .create(&session("a"), NewConversation::default())
            .await;
        let conversation = conversation.unwrap().id;
        let mut start = turn(JournalId::fresh(), session("a"));
        start.conversation = Some(conversation);
        let id = start.id;
        store.turns().begin(&start, &[]).await.unwrap();
        // A call still in memory is on disk with the turn's end.
        let soon = call(id, 1, Effect::Pure);
        store.journal().outcome_soon(soon, value(1)).await.unwrap();

        let messages = [said("user", "q").into(), said("assistant", "a").into()];
        let changes = [send(session("a"), "答\0案")];
        let report = json!({"rounds": 1});
        let end = TurnEnd {
            tainted: false,
            calls: true,
            report: &report,
            ..end(&messages, &changes)
        };
        store.turns().finish(id, end.clone()).await.unwrap();
        let again = store.turns().finish(id, end.clone()).await;
        assert!(matches!(again, Err(StoreError::TurnFinished(_))));
        let unknown = store.turns().finish(JournalId::fresh(), end).await;
        assert!(matches!(unknown, Err(StoreError::UnknownTurn(_))));

        let store = home.open().await;
        assert_eq!(store.turns().unfinished().await.unwrap(), []);
        let finish = store.turns().get(id).await.unwrap().finish.unwrap();
        assert_eq!((finish.stop, finish.report), (TurnStop::Answered, report));
        let history = store.conversations().history(conversation).await.unwrap();
        assert_eq!(history.len(), 2);
        assert_eq!(store.outbox().pending(None).await.unwrap().len(), 1);
        assert_eq!(store.log().list(&session("a"), 9).await.unwrap().len(), 1);
        assert_eq!(store.journal().recorded(id).await.unwrap().len(), 1);
    })
    .await;
}

#[tokio::test]
async fn an_end_that_is_refused_leaves_the_turn_open() {
    on_each_engine(async |home| {
        let store = home.open().await;
        let id = begun(&store).await;
        let refused = callgate_contract::Change::Remember {
            session: session("a"),
            name: String::new(),
            text: String::new(),
        };
        let changes = [send(session("a"), "x"), refused];
        let failed = store.turns().finish(id, end(&[], &changes)).await;
        assert!(matches!(failed, Err(StoreError::NoteSize { .. })));
        assert_eq!(store.outbox().pending(None).await.unwrap(), []);
        assert_eq!(store.turns().unfinished().await.unwrap().len(), 1);
        store
            .turns()
            .finish(id, end(&[], &changes[..1]))
            .await
            .unwrap();
        assert_eq!(store.outbox().pending(None).await.unwrap().len(), 1);
    })
    .await;
}

#[tokio::test]
async fn pruning_keeps_new_turns_open_turns_and_what_was_spent() {
    on_each_engine(async |home| {
        let store = home.open().await;
        let (turns, journal) = (store.turns(), store.journal());
        let mut ids = Vec::new();
        for ended in [false, true, true, true] {
            let id = begun(&store).await;
            turns.asked(id, 1, None).await.unwrap();
            turns
                .replied(id, 1, &json!({}), &charge(USAGE, None))
                .await
                .unwrap();
            let start = RunStart {
                turn: Some((id, 1)),
                ..run(JournalId::fresh())
            };
            journal.begin(&start).await.unwrap();
            for journal_id in [id, start.id] {
                let rows = call(journal_id, 1, Effect::Rows);
                journal.record(&rows, &value(1), &[]).await.unwrap();
            }
            journal
                .finish(start.id, Stop::Finished, &json!({}))
                .await
                .unwrap();
            if ended {
                turns.finish(id, end(&[], &[])).await.unwrap();
            }
            ids.push((id, start.id));
        }
        assert_eq!(journal.prune(Keep::newest(1)).await.unwrap(), 2);
        for (index, (id, run)) in ids.into_iter().enumerate() {
            let kept = usize::from(index == 0 || index == 3);
            assert_eq!(turns.rounds(id).await.unwrap().len(), kept);
            assert_eq!(turns.runs(id).await.unwrap().len(), kept);
            assert_eq!(journal.recorded(id).await.unwrap().len(), kept);
            assert_eq!(journal.recorded(run).await.unwrap().len(), kept);
            let spent = turns.spent(callgate_store::Scope::Turn(id)).await.unwrap();
            assert_eq!((spent.tokens_in, spent.calls), (10, 2));
        }
    })
    .await;
}

/// Written with the next write, which may have failed: whoever goes on with the turn has it all the same.
#[tokio::test]
async fn a_reply_that_is_written_soon_is_on_record_for_whoever_reads_the_rounds() {
    on_each_engine(async |home| {
        let (store, id) = (home.open().await, JournalId::fresh());
        let turns = store.turns();
        turns.begin(&turn(id, session("a")), &[]).await.unwrap();
        turns.asked(id, 1, None).await.unwrap();
        let reply = json!({"content": "here"});
        turns.reply_soon(id, 1, &reply, &charge(USAGE, None));
        let rounds = turns.rounds(id).await.unwrap();
        assert_eq!(rounds[0].answer.as_ref().unwrap().reply, reply);
    })
    .await;
}
