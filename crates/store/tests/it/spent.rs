//! What turns cost: by turn with its agents, by conversation, by user and for everyone since a
//! time.

use callgate_contract::{Effect, JournalId, Principal, Usage};
use callgate_store::{Counted, NewConversation, RunStart, Scope, Spent, Store, TurnStart};
use callgate_testkit::on_each_engine;
use jiff::{SignedDuration, Timestamp};
use serde_json::json;

use crate::common::{call, charge, end, run, session, turn, value};

/// One round of `tokens` in and one out, and one call of the turn's own.
async fn spend(store: &Store, start: &TurnStart, tokens: u64, money: Option<u64>) {
    store.turns().begin(start, &[]).await.unwrap();
    store.turns().asked(start.id, 1, None).await.unwrap();
    let usage = Usage {
        input: tokens,
        output: 1,
        ..Usage::default()
    };
    let reply = json!({});
    let replied = store
        .turns()
        .replied(start.id, 1, &reply, &charge(usage, money))
        .await;
    replied.unwrap();
    let soon = call(start.id, 1, Effect::Pure);
    store.journal().outcome_soon(soon, value(1)).await.unwrap();
}

async fn spent(store: &Store, scope: Scope<'_>) -> (u64, u64, u64) {
    let spent = store.turns().spent(scope).await.unwrap();
    (spent.tokens_in, spent.tokens_out, spent.calls)
}

#[tokio::test]
async fn nothing_costs_nothing() {
    on_each_engine(async |home| {
        let store = home.open().await;
        let scope = Scope::Turn(JournalId::fresh());
        let nothing = store.turns().spent(scope).await.unwrap();
        assert_eq!(nothing, Spent::default());
        assert_eq!(nothing.money, None);
    })
    .await;
}

#[tokio::test]
async fn a_turn_counts_before_and_after_its_end_with_its_runs() {
    on_each_engine(async |home| {
        let store = home.open().await;
        let start = turn(JournalId::fresh(), session("a"));
        spend(&store, &start, 10, None).await;
        let code = RunStart {
            turn: Some((start.id, 1)),
            ..run(JournalId::fresh())
        };
        store.journal().begin(&code).await.unwrap();
        let rows = call(code.id, 1, Effect::Rows);
        store.journal().record(&rows, &value(1), &[]).await.unwrap();
        let scope = Scope::Turn(start.id);
        assert_eq!(spent(&store, scope).await, (10, 1, 2));
        store.turns().finish(start.id, end(&[], &[])).await.unwrap();
        let after = store.turns().spent(scope).await.unwrap();
        assert_eq!((after.tokens_in, after.tokens_out, after.calls), (10, 1, 2));
        assert_eq!(after.millis, 1500);
        assert_eq!(after.money, None);
    })
    .await;
}

#[tokio::test]
async fn each_scope_sums_its_turns_and_their_agents() {
    on_each_engine(async |home| {
        let store = home.open().await;
        let conversations = store.conversations();
        let made = conversations
            .create(&session("a"), NewConversation::default())
            .await;
        let conversation = made.unwrap().id;
        let root = TurnStart {
            conversation: Some(conversation),
            ..turn(JournalId::fresh(), session("a"))
        };
        let child = TurnStart {
            parent: Some(root.id),
            depth: 1,
            ..turn(JournalId::fresh(), session("a"))
        };
        let grandchild = TurnStart {
            parent: Some(child.id),
            depth: 2,
            ..turn(JournalId::fresh(), session("a"))
        };
        let second = TurnStart {
            conversation: Some(conversation),
            ..turn(JournalId::fresh(), session("a"))
        };
        let other = TurnStart {
            principal: "cli:other".parse().unwrap(),
            ..turn(JournalId::fresh(), session("b"))
        };
        spend(&store, &root, 1, Some(5)).await;
        spend(&store, &child, 10, None).await;
        spend(&store, &grandchild, 100, Some(6)).await;
        spend(&store, &second, 1_000, None).await;
        spend(&store, &other, 10_000, None).await;
        store.turns().finish(child.id, end(&[], &[])).await.unwrap();

        let hour = SignedDuration::from_hours(1);
        let (past, future) = (Timestamp::now() - hour, Timestamp::now() + hour);
        let people = ["cli:张三", "cli:other", "onebot:other"];
        let people = people.map(|who| who.parse::<Principal>().unwrap());
        let all = Counted::everybody;
        let user = |person, since| {
            Scope::Of(Counted {
                principal: Some(person),
                ..all(since)
            })
        };
        let keys = [session("a"), session("b")];
        let of_session = |id: &str, since| {
            Scope::Of(Counted {
                session: Some(&keys[usize::from(id == "b")]),
                ..all(since)
            })
        };
        let on = |platform, since| {
            Scope::Of(Counted {
                platform: Some(platform),
                ..all(since)
            })
        };
        for (scope, expected) in [
            (Scope::Turn(root.id), (111, 3, 3)),
            (Scope::Turn(grandchild.id), (100, 1, 1)),
            (Scope::Conversation(conversation), (1_111, 4, 4)),
            (user(&people[0], past), (1_111, 4, 4)),
            (user(&people[1], past), (10_000, 1, 1)),
            (user(&people[1], future), (0, 0, 0)),
            (user(&people[2], past), (0, 0, 0)),
            (of_session("a", past), (1_111, 4, 4)),
            (of_session("b", past), (10_000, 1, 1)),
            (of_session("a", future), (0, 0, 0)),
            (on("cli", past), (11_111, 5, 5)),
            (on("cl", past), (0, 0, 0)),
            (Scope::Of(all(past)), (11_111, 5, 5)),
            (Scope::Of(all(future)), (0, 0, 0)),
        ] {
            assert_eq!(spent(&store, scope).await, expected, "{scope:?}");
        }
        let money = async |scope| store.turns().spent(scope).await.unwrap().money;
        assert_eq!(money(Scope::Turn(root.id)).await, Some(11));
        assert_eq!(money(Scope::Turn(second.id)).await, None);
        let whole = store.turns().spent(Scope::Turn(root.id)).await.unwrap();
        assert_eq!(whole.unpriced, 1, "of the child nobody knows the price");
    })
    .await;
}
