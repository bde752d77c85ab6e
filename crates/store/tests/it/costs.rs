//! What models cost, told apart by everything the operator may ask for; and vectors, kept by text.

use callgate_contract::{JournalId, Usage};
use callgate_store::{Charge, CostBy, CostLine, CostSum, Expense, Keep, Store, TurnStart, Vectors};
use callgate_testkit::on_each_engine;
use jiff::{SignedDuration, Timestamp};
use serde_json::json;

use crate::common::{charge, session, turn};

const USAGE: Usage = Usage {
    input: 100,
    cached: 40,
    written: 10,
    output: 5,
    reasoning: 2,
    money: None,
};

async fn round(store: &Store, start: &TurnStart, charge: &Charge) {
    store.turns().begin(start, &[]).await.unwrap();
    store.turns().asked(start.id, 1, None).await.unwrap();
    let replied = store.turns().replied(start.id, 1, &json!({}), charge).await;
    replied.unwrap();
}

fn by_plugin(model: &str, money: Option<u64>, method: Option<&str>) -> Charge {
    Charge {
        model: model.to_owned(),
        origin: Some("plugin:weather".to_owned()),
        method: method.map(str::to_owned),
        ..charge(USAGE, money)
    }
}

fn keys(rows: &[CostLine]) -> Vec<(Option<&str>, u64)> {
    let key = |row: &CostLine| row.sum.requests;
    let rows = rows.iter();
    rows.map(|row| (row.key.as_deref(), key(row))).collect()
}

#[tokio::test]
async fn each_request_counts_once_whichever_way_it_is_looked_at() {
    on_each_engine(async |home| {
        let store = home.open().await;
        let own = turn(JournalId::fresh(), session("a"));
        round(&store, &own, &charge(USAGE, Some(70))).await;
        let called = TurnStart {
            parent: Some(own.id),
            principal: "cli:bob".parse().unwrap(),
            ..turn(JournalId::fresh(), session("b"))
        };
        round(&store, &called, &by_plugin("large", Some(900), Some("ask"))).await;
        let other = Expense {
            turn: None,
            session: session("a"),
            principal: "cli:bob".parse().unwrap(),
            charge: by_plugin("small", None, None),
        };
        store.costs().add(&other).await.unwrap();

        let hour = SignedDuration::from_hours(1);
        let (past, future) = (Timestamp::now() - hour, Timestamp::now() + hour);
        let sum = async |by| store.costs().sum(by, past).await.unwrap();
        let days = sum(CostBy::Day).await;
        let total = days
            .iter()
            .fold(CostSum::default(), |all, row| all.plus(row.sum));
        assert_eq!(
            total,
            CostSum {
                requests: 3,
                tokens_in: 300,
                cached: 120,
                written: 30,
                tokens_out: 15,
                money: 970,
                unpriced: 1,
            }
        );
        assert!(
            days[0].key.as_deref().unwrap().starts_with("20"),
            "{days:?}"
        );
        let (a, b) = (session("a").to_string(), session("b").to_string());
        let (one, two) = (own.id.0.to_string(), called.id.0.to_string());
        for (by, expected) in [
            (
                CostBy::User,
                [(Some("bob"), 2), (Some(own.principal.user().as_ref()), 1)].as_slice(),
            ),
            (
                CostBy::Session,
                &[(Some(b.as_str()), 1), (Some(a.as_str()), 2)],
            ),
            (CostBy::Plugin, &[(Some("plugin:weather"), 2), (None, 1)]),
            (
                CostBy::Method,
                &[
                    (Some("plugin:weather/ask"), 1),
                    (None, 1),
                    (Some("plugin:weather"), 1),
                ],
            ),
            (
                CostBy::Model,
                &[(Some("large"), 1), (Some("model"), 1), (Some("small"), 1)],
            ),
            (
                CostBy::Turn,
                &[(Some(two.as_str()), 1), (Some(one.as_str()), 1), (None, 1)],
            ),
        ] {
            assert_eq!(keys(&sum(by).await), expected, "{by:?}");
        }
        let none = store.costs().sum(CostBy::Hour, future).await.unwrap();
        assert_eq!(none, []);
        store.journal().prune(Keep::newest(0)).await.unwrap();
        assert_eq!(sum(CostBy::Day).await, days, "costs outlive the journal");
    })
    .await;
}

#[tokio::test]
async fn vectors_are_kept_by_model_and_text() {
    on_each_engine(async |home| {
        let store = home.open().await;
        let hash = Vectors::hash("天气");
        let kept = [(hash.clone(), vec![0.5, -1.0, f32::MIN_POSITIVE])];
        store.vectors().keep("m", &kept).await.unwrap();
        store.vectors().keep("m", &kept).await.unwrap();
        let found = home.open().await.vectors().of("m").await.unwrap();
        assert_eq!(found.get(&hash), Some(&kept[0].1));
        assert!(store.vectors().of("other").await.unwrap().is_empty());
    })
    .await;
}
