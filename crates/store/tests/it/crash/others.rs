//! What else has a record and an effect: an approval and what it allows, a message and the listeners who are
//! told of it, a call that is to be made once, a plugin's timer.

use std::time::Duration;

use callgate_contract::JournalId;
use callgate_store::{
    Approval, ApprovalState, Approver, Ask, Claim, Decision, LeftRow, PluginTimer, Reception, Store,
};
use callgate_testkit::Witness;
use jiff::Timestamp;
use serde_json::json;

use crate::common::{incoming, session};

const WINDOW: Duration = Duration::from_secs(3_600);

/// As gate, agent and plugins do it, at first and again.
pub(super) async fn script(store: &Store, run: JournalId, witness: &Witness) {
    if asked(store, run).await.state == ApprovalState::Pending {
        answered(store, run).await;
    }
    listeners(store, witness).await;
    claim(store).await;
    timer(store, run, witness).await;
}

async fn asked(store: &Store, run: JournalId) -> Approval {
    let ask = Ask {
        journal: run,
        sequence: 9,
        session: session("a"),
        principal: "cli:u1".parse().unwrap(),
        method: "builtin/send".to_owned(),
        schema: "hash".to_owned(),
        arguments: json!({}),
        approver: Approver::Operator,
        reason: None,
    };
    store.approvals().ask(&ask, None).await.unwrap()
}

async fn answered(store: &Store, run: JournalId) {
    let id = asked(store, run).await.id;
    let approvals = store.approvals();
    let answer = approvals.answer(id, Decision::Allow, None, None);
    answer.await.unwrap();
}

async fn listeners(store: &Store, witness: &Witness) {
    let message = incoming(session("heard"), "for plugins", Some("m9"));
    let reception = Reception {
        offered: true,
        ..Reception::default()
    };
    let arrival = store.log().receive(&message, reception).await.unwrap();
    if !arrival.repeated {
        witness.saw("listeners were told");
    } else if store.left_row(arrival.row.id).await.unwrap().is_none() {
        return;
    }
    store.log().dealt_with(arrival.row.id).await.unwrap();
}

async fn claim(store: &Store) -> Claim {
    let requests = store.requests();
    let claim = requests.claim("asker", "name", b"call", WINDOW);
    claim.await.unwrap()
}

async fn timer(store: &Store, run: JournalId, witness: &Witness) {
    let timer = PluginTimer {
        // The turn has a timer of the run's own id.
        id: uuid::Uuid::from_u128(run.0.as_u128() ^ 2),
        flavour: "nekro".to_owned(),
        plugin: "a.b".to_owned(),
        name: "job".to_owned(),
        payload: Vec::new(),
        session: session("plugin"),
        text: "now".to_owned(),
        due_at: Timestamp::UNIX_EPOCH,
        cron: None,
        timezone: None,
    };
    if witness.times("the timer was set") == 0 {
        store.timers().set_for_plugin(&timer).await.unwrap();
        witness.saw("the timer was set");
    }
    if store.timers().claim(&timer, None).await.unwrap() {
        witness.saw("the timer fired");
    }
}

pub(super) async fn check(store: &Store, run: JournalId, witness: &Witness, point: &str) {
    let approvals = store.approvals().of(run).await.unwrap();
    let states: Vec<_> = approvals.iter().map(|one| one.state).collect();
    assert_eq!(states, [ApprovalState::Allowed]);

    // Whoever was cut off over it is not told again.
    assert_eq!(witness.times("listeners were told"), 1);
    let rows = store.log().list(&session("heard"), 9).await.unwrap();
    let [row] = &*rows else { panic!("{rows:?}") };
    let left = store.left_row(row.id).await.unwrap();
    assert!(!matches!(left, Some(LeftRow::Offered(_))), "{left:?}");

    assert!(matches!(claim(store).await, Claim::Repeated(_)));
    let fired = witness.times("the timer fired");
    assert_eq!(
        fired,
        usize::from(point != "timer.after_claim"),
        "at most once"
    );
}
