//! The process is killed at every crash point of a turn, in both modes; the next one goes on, and
//! an outside witness counts: nothing lost, nothing doubled, no recorded reply asked for again,
//! and an effect of which nobody knows is reported and not repeated.

mod play;

use std::{
    collections::BTreeSet,
    os::unix::process::ExitStatusExt,
    path::PathBuf,
    process::{Command, Stdio},
};

use callgate_contract::{ModelMessage, Part, TurnStop};
use callgate_store::{CRASH_POINTS, Durability, LogRole, Store, StoreOptions};
use callgate_testkit::Home;
use serde_json::Value as Json;

use self::play::{Scenario, agent, begin};
use crate::stage::session;

const UNCLEAR: &str = "I do not know whether that was done.";

/// Points that no turn passes; the store's own tests kill there.
const ELSEWHERE: [&str; 2] = ["timer.before_fire_commit", "timer.after_fire"];

#[tokio::test]
async fn no_crash_loses_or_doubles_in_code_mode() {
    at_every_pass(Scenario::Code).await;
}

#[tokio::test]
async fn no_crash_loses_or_doubles_in_tool_mode() {
    at_every_pass(Scenario::Tools).await;
}

#[tokio::test]
async fn no_crash_makes_a_turn_speak_twice() {
    at_every_pass(Scenario::Spoken).await;
}

#[tokio::test]
async fn no_crash_loses_or_doubles_on_postgres() {
    for scenario in [Scenario::Code, Scenario::Tools] {
        let whole = uninterrupted(scenario).await;
        for point in CRASH_POINTS {
            case(&Home::postgres().await, scenario, point, 1, &whole).await;
        }
    }
}

/// Kills the first time a process comes past a point, the second time, and so on, until it comes
/// to its end.
async fn at_every_pass(scenario: Scenario) {
    let whole = uninterrupted(scenario).await;
    for point in CRASH_POINTS {
        let mut pass = 1;
        while case(&Home::sqlite(), scenario, point, pass, &whole).await {
            pass += 1;
        }
    }
}

#[tokio::test]
async fn every_point_of_a_turn_is_passed() {
    let mut passed = BTreeSet::new();
    for scenario in Scenario::ALL {
        for point in CRASH_POINTS {
            if killed_at(&Home::sqlite(), scenario, point) {
                passed.insert(*point);
            }
        }
    }
    let all: BTreeSet<&str> = CRASH_POINTS.iter().copied().collect();
    let not_passed: Vec<_> = all.difference(&passed).copied().collect();
    assert_eq!(not_passed, ELSEWHERE);
}
