//! Answers that stand: for whom, for what, and until when.

use callgate_contract::Arguments;
use callgate_store::{Decision, Standing};

use super::{rule, stage::Stage};
use crate::scene::{answering, named};

const EVERYONE: Standing = Standing {
    everyone: true,
    same_arguments: false,
};
const SAME: Standing = Standing {
    everyone: false,
    same_arguments: true,
};

/// Who asks is told `pending`; the question that is open is answered.
async fn answer(stage: &Stage, decision: Decision, standing: Standing) {
    let pending = Some(callgate_store::ApprovalState::Pending);
    let open = stage.scene.store.approvals().list(pending).await.unwrap();
    let id = open.last().unwrap().id;
    let gate = &stage.scene.gate;
    let answered = gate.answer_as(Some("terminal"), id, decision, Some(standing));
    answered.await.unwrap();
}

async fn is(stage: &Stage, who: &str, way: &str, expected: &str) {
    let outcome = stage.outcome(who, way, "send").await;
    assert_eq!(outcome, (expected.to_owned(), true), "{who} {way}");
}

#[tokio::test]
async fn always_is_for_the_person_in_that_chat_by_every_way() {
    let stage = Stage::new(vec![rule("ask method=send")]).await;
    is(&stage, "ann", "code", "ask").await;
    answer(&stage, Decision::Allow, Standing::default()).await;
    for way in [
        "code",
        "tool>agent",
        "code>plugin",
        "timer",
        "tool>agent>plugin",
    ] {
        is(&stage, "ann", way, "allow").await;
        // The same number on another platform, and others there, are asked about.
        is(&stage, "eve", way, "ask").await;
        is(&stage, "root", way, "ask").await;
        is(&stage, "ann-dm", way, "ask").await;
    }
}

#[tokio::test]
async fn for_everyone_means_in_that_chat() {
    let stage = Stage::new(vec![rule("ask method=send")]).await;
    is(&stage, "ann", "code", "ask").await;
    answer(&stage, Decision::Allow, EVERYONE).await;
    is(&stage, "root", "code>plugin", "allow").await;
    is(&stage, "bob", "code", "ask").await;
    is(&stage, "eve", "code", "ask").await;
}

#[tokio::test]
async fn never_is_not_even_offered() {
    let stage = Stage::new(vec![rule("ask method=send")]).await;
    is(&stage, "ann", "code", "ask").await;
    answer(&stage, Decision::Deny, Standing::default()).await;
    is(&stage, "ann", "tool>agent", "deny").await;
    is(&stage, "root", "tool>agent", "ask").await;
}

#[tokio::test]
async fn an_answer_settles_a_question_and_lifts_no_refusal() {
    let stage = Stage::new(vec![rule("ask method=send")]).await;
    is(&stage, "ann", "code", "ask").await;
    answer(&stage, Decision::Allow, Standing::default()).await;
    is(&stage, "ann", "code", "allow").await;
    let gate = &stage.scene.gate;
    let deny = gate
        .add_rule(&rule("deny person=onebot:42"), "terminal")
        .await;
    is(&stage, "ann", "code", "deny").await;
    gate.remove_rule(deny.unwrap().id).await.unwrap();
    is(&stage, "ann", "code", "allow").await;
}

#[tokio::test]
async fn a_method_that_takes_something_else_is_asked_about_again() {
    let stage = Stage::new(vec![rule("ask method=send")]).await;
    is(&stage, "ann", "code", "ask").await;
    answer(&stage, Decision::Allow, Standing::default()).await;
    is(&stage, "ann", "code", "allow").await;
    let gate = &stage.scene.gate;
    let as_it_was = gate.find("send").unwrap();
    let parameters = serde_json::json!({"properties": {"to": {"type": "string"}}});
    stage.scene.add(answering("send", "").taking(parameters));
    let caller = stage.caller("ann", "code").await;
    let asked = gate.call(&caller, 1, "send", Arguments::default()).await;
    let asked = asked.unwrap_err().to_string();
    assert!(
        asked.contains("waits for the operator's approval"),
        "{asked}"
    );
    gate.register(as_it_was).unwrap();
    is(&stage, "ann", "code", "allow").await;
}

#[tokio::test]
async fn an_answer_for_these_arguments_is_for_no_others() {
    let stage = Stage::new(vec![rule("ask method=pay")]).await;
    let parameters = serde_json::json!({"properties": {"sum": {"type": "number"}}});
    stage.scene.add(answering("pay", "paid").taking(parameters));
    let gate = &stage.scene.gate;
    let pay = async |sum: f64| {
        let caller = stage.caller("ann", "code").await;
        let paid = gate
            .call(&caller, 1, "pay", named([("sum", sum.into())]))
            .await;
        paid.map(drop).map_err(|error| error.to_string())
    };
    assert!(pay(0.1).await.is_err());
    answer(&stage, Decision::Allow, SAME).await;
    assert_eq!(pay(0.1).await, Ok(()));
    let other = pay(1e6).await.unwrap_err();
    assert!(other.contains("waits"), "{other}");
    // What is said last counts first, and this leaves the first sum alone.
    answer(&stage, Decision::Deny, SAME).await;
    assert!(pay(1e6).await.unwrap_err().contains("denied"));
    assert_eq!(pay(0.1).await, Ok(()));
    assert!(pay(2.0).await.unwrap_err().contains("waits"));
    answer(&stage, Decision::Deny, Standing::default()).await;
    assert!(pay(0.1).await.unwrap_err().contains("denied"));
}
