//! Who may call what: the cases of `policy/cases.txt`, each through the real gate, with real calls inside
//! calls; and the answers that stand.

mod answers;
mod stage;

use std::{collections::HashMap, sync::Arc, time::Duration};

use callgate_contract::{Arguments, Grant, Permission, Rule, Surface};
use callgate_gate::{CallError, Gate, GatePolicy};
use callgate_testkit::Home;
use serde_json::{Value as Json, json};

use self::stage::Stage;
use crate::scene::{answering, caller};

const CASES: &str = include_str!("policy/cases.txt");

/// Its name, its rules, and its cases: who, by which way, which method, what is expected.
type WrittenPolicy = (&'static str, Vec<Rule>, Vec<[&'static str; 4]>);

/// `deny role=member method=send`.
fn rule(text: &str) -> Rule {
    let (then, conditions) = text.split_once(' ').unwrap_or((text, ""));
    let mut rule = json!({ "then": then });
    for condition in conditions.split_whitespace() {
        let (name, value) = condition.split_once('=').unwrap();
        rule[name] = Json::from(value);
    }
    let rule: Rule = serde_json::from_value(rule).unwrap();
    rule.check().unwrap();
    rule
}

#[tokio::test]
async fn every_case_ends_as_it_was_thought() {
    let mut policies: Vec<WrittenPolicy> = Vec::new();
    for line in CASES.lines().filter(|line| !line.starts_with('#')) {
        if let Some(name) = line.strip_prefix("policy ") {
            policies.push((name, Vec::new(), Vec::new()));
        } else if let Some(text) = line.strip_prefix("rule ") {
            policies.last_mut().unwrap().1.push(rule(text));
        } else if !line.is_empty() {
            let words: Vec<&str> = line.split_whitespace().collect();
            policies
                .last_mut()
                .unwrap()
                .2
                .push(words.try_into().unwrap());
        }
    }
    let (mut count, mut wrong) = (0, Vec::new());
    for (policy, rules, cases) in policies {
        let stage = Stage::new(rules).await;
        for [who, way, method, expected] in cases {
            count += 1;
            let (outcome, agrees) = stage.outcome(who, way, method).await;
            if outcome != expected || !agrees {
                let offered = if agrees {
                    ""
                } else {
                    ", and the catalogue says otherwise"
                };
                wrong.push(format!(
                    "{policy}: {who} {way} {method}: {outcome}{offered}"
                ));
            }
        }
    }
    assert_eq!(wrong, [""; 0]);
    assert!(count >= 200, "{count} cases");
}

/// The same cases hold where rules are stored: the newest is looked at first.
#[tokio::test]
async fn stored_rules_come_first_and_the_newest_of_them_before_the_others() {
    let stage = Stage::new(vec![rule("deny method=look")]).await;
    let gate = &stage.scene.gate;
    let look = async || stage.outcome("ann", "code>plugin", "look").await;
    assert_eq!(look().await, ("deny".to_owned(), true));
    let mut made = HashMap::new();
    for (text, expected) in [
        ("allow method=look", "allow"),
        ("ask method=look role=member", "ask"),
        ("deny person=telegram:42", "ask"),
        ("deny person=onebot:42 method=look", "deny"),
    ] {
        let stored = gate.add_rule(&rule(text), "terminal").await.unwrap();
        made.insert(text, stored.id);
        assert_eq!(look().await, (expected.to_owned(), true), "{text}");
    }
    gate.remove_rule(made["deny person=onebot:42 method=look"])
        .await
        .unwrap();
    assert_eq!(look().await.0, "ask");
    // Another process finds them without being told.
    let other = Gate::new(stage.scene.home.open().await, GatePolicy::default());
    other.register(gate.find("look").unwrap()).unwrap();
    let eve = stage.caller("eve", "code").await;
    let refused = other.call(&eve, 1, "look", Arguments::default()).await;
    assert!(
        matches!(refused, Err(CallError::Denied { .. })),
        "{refused:?}"
    );
    assert!(other.catalogue(&eve).is_empty());
}

/// Also in what is offered, without a call in between.
#[tokio::test]
async fn a_rule_that_another_instance_makes_holds_here_before_long() {
    let home = Home::postgres().await;
    let here = Gate::new(home.open().await, GatePolicy::default());
    let there = Gate::new(home.open().await, GatePolicy::default());
    here.register(Arc::new(answering("look", "seen"))).unwrap();
    here.follow_rules().await.unwrap();
    let caller = caller(Surface::Code, Grant::everything());
    assert_eq!(here.catalogue(&caller).len(), 1);
    let made = there.add_rule(&rule("deny method=look"), "elsewhere").await;
    let until = async |count: usize| {
        while here.catalogue(&caller).len() != count {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    until(0).await;
    let refused = here.call(&caller, 1, "look", Arguments::default()).await;
    assert!(matches!(refused, Err(CallError::Denied { .. })));
    there.remove_rule(made.unwrap().id).await.unwrap();
    until(1).await;
}

#[test]
fn a_rule_that_would_mean_something_else_is_refused() {
    let base = Rule::new(Permission::Deny);
    let empty = |text: &str| Some(text.to_owned());
    for (rule, said) in [
        (
            Rule {
                origin: empty("plugins"),
                ..base.clone()
            },
            "is no origin",
        ),
        (
            Rule {
                origin: empty("mcp:"),
                ..base.clone()
            },
            "is no origin",
        ),
        (
            Rule {
                method: empty(" "),
                ..base.clone()
            },
            "matches nobody",
        ),
        (
            Rule {
                person: Some("onebot:42".parse().unwrap()),
                key: empty("3"),
                ..base.clone()
            },
            "not for both",
        ),
    ] {
        let refused = rule.check().unwrap_err().to_string();
        assert!(refused.contains(said), "{refused}");
    }
    for text in [
        r#"{"then": "forbid"}"#,
        r#"{"then": "deny", "name": "send"}"#,
        "{}",
    ] {
        assert!(serde_json::from_str::<Rule>(text).is_err(), "{text}");
    }
}
