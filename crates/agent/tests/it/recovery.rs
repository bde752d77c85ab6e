//! The process is killed at every crash point of a turn, in both modes; the next one goes on, and
//! an outside witness counts: nothing lost, nothing doubled, no recorded reply asked for again,
//! and an effect of which nobody knows is reported and not repeated.

mod after;
mod commands;
mod play;

use std::{
    os::unix::process::ExitStatusExt,
    path::PathBuf,
    process::{Command, Stdio},
};

use callgate_contract::{JournalId, Mode, TurnStop};
use callgate_store::{CRASH_POINTS, LogRole, Store, StoreOptions};
use callgate_testkit::Home;
use serde_json::Value as Json;

use self::play::{Scenario, Step, agent, begin};
use crate::stage::session;

const UNCLEAR: &str = "I do not know whether that was done.";

/// Points that no turn passes; the store's own tests kill there.
const ELSEWHERE: &[&str] = &[
    "approval.after_ask",
    "approval.after_answer",
    "log.before_settle",
    "log.after_settle",
    "request.after_claim",
    "timer.after_claim",
    "journal.after_flush",
    "timer.before_fire_commit",
    "timer.after_fire",
    "outbox.after_intent",
];
const RUNS: &[&str] = &[
    "journal.after_begin",
    "journal.before_finish",
    "journal.after_finish",
];
const FILES: &[&str] = &["files.before_rename", "files.after_rename"];

#[tokio::test]
async fn no_crash_loses_or_doubles_in_code_mode() {
    if let Ok(data) = std::env::var("CALLGATE_TEST_DATA") {
        return victim(PathBuf::from(data)).await;
    }
    at_every_pass(Engine::Sqlite, Scenario::Code, &[ELSEWHERE]).await;
}

#[tokio::test]
async fn no_crash_loses_or_doubles_in_tool_mode() {
    at_every_pass(Engine::Sqlite, Scenario::Tools, &[ELSEWHERE, RUNS]).await;
}

#[tokio::test]
async fn no_crash_makes_a_turn_speak_twice() {
    at_every_pass(Engine::Sqlite, Scenario::Spoken, &[ELSEWHERE, FILES]).await;
}

#[tokio::test]
async fn no_crash_loses_a_message_that_joined() {
    at_every_pass(Engine::Sqlite, Scenario::JoinedCode, &[ELSEWHERE]).await;
    at_every_pass(Engine::Sqlite, Scenario::JoinedTools, &[ELSEWHERE, RUNS]).await;
}

#[tokio::test]
async fn no_crash_loses_or_doubles_in_code_mode_on_postgres() {
    at_every_pass(Engine::Postgres, Scenario::Code, &[ELSEWHERE]).await;
}

#[tokio::test]
async fn no_crash_loses_or_doubles_in_tool_mode_on_postgres() {
    at_every_pass(Engine::Postgres, Scenario::Tools, &[ELSEWHERE, RUNS]).await;
}

#[derive(Clone, Copy)]
enum Engine {
    Sqlite,
    Postgres,
}

impl Engine {
    async fn home(self) -> Home {
        match self {
            Engine::Sqlite => Home::sqlite(),
            Engine::Postgres => Home::postgres().await,
        }
    }
}

/// Kills the first time a process comes past a point, the second time, and so on, until it comes
/// to its end. Of the points, `never` are the ones it does not come past at all.
async fn at_every_pass(engine: Engine, scenario: Scenario, never: &[&[&str]]) {
    let whole = uninterrupted(scenario).await;
    let mut not_passed = Vec::new();
    for point in CRASH_POINTS {
        let mut pass = 1;
        while check(&engine.home().await, scenario, point, pass, &whole).await {
            pass += 1;
        }
        if pass == 1 {
            not_passed.push(*point);
        }
    }
    let mut never = never.concat();
    never.sort_by_key(|never| CRASH_POINTS.iter().position(|point| point == never));
    assert_eq!(not_passed, never);
}

/// What the process that is killed does: this binary once more, with the name of a test.
async fn victim(data: PathBuf) {
    let name = std::env::var("CALLGATE_TEST_SCENARIO").unwrap();
    let named = |scenario: &Scenario| format!("{scenario:?}") == name;
    let scenario = Scenario::ALL.into_iter().find(named).unwrap();
    let witness = data.join("witness");
    let store = Store::open(StoreOptions {
        url: std::env::var("CALLGATE_TEST_URL").ok(),
        ..StoreOptions::new(data)
    });
    begin(&agent(store.await.unwrap(), scenario, &witness), scenario).await;
}

/// False if the process came to its end.
#[allow(clippy::disallowed_methods, reason = "a process to kill")]
fn is_killed(home: &Home, scenario: Scenario, point: &str, pass: usize) -> bool {
    let mut victim = Command::new(std::env::current_exe().unwrap());
    victim
        .args([
            "--exact",
            "recovery::no_crash_loses_or_doubles_in_code_mode",
        ])
        .env("CALLGATE_TEST_DATA", home.data())
        .env("CALLGATE_TEST_SCENARIO", format!("{scenario:?}"))
        .env("CALLGATE_CRASH_AT", format!("{point}:{pass}"))
        .stdout(Stdio::null());
    if let Some(url) = home.options().url {
        victim.env("CALLGATE_TEST_URL", url);
    }
    let status = victim.status().unwrap();
    match status.signal() {
        Some(9) => true,
        _ => {
            assert!(status.success(), "at {point}:{pass}: {status}");
            false
        }
    }
}

/// What a turn leaves behind.
#[derive(Debug, PartialEq)]
struct Left {
    log: Vec<(LogRole, String)>,
    history: Vec<Json>,
    /// Of each round what was asked, and the reply.
    rounds: Vec<(Json, Json)>,
}

/// What the scenario leaves where nothing is cut off.
async fn uninterrupted(scenario: Scenario) -> Left {
    let home = Home::sqlite();
    let store = home.open().await;
    let agent = agent(store.clone(), scenario, &home.data().join("witness"));
    begin(&agent, scenario).await;
    let left = left(&store).await;
    let rounds = scenario.steps().iter().map(|step| step.2).max().unwrap();
    assert_eq!(
        left.rounds.len(),
        rounds + usize::from(scenario.answer().is_some())
    );
    left
}

async fn left(store: &Store) -> Left {
    let turns = store.turns().list(&session(), 9).await.unwrap();
    let [turn] = &*turns else {
        panic!("{turns:?}");
    };
    let id = turn.start.id;
    assert_eq!(turn.finish.as_ref().unwrap().stop, TurnStop::Answered);
    let log = store.log().list(&session(), 99).await.unwrap();
    let mut came = log.iter().filter(|row| row.role == LogRole::User);
    assert!(came.all(|row| row.turn == Some(id)), "{log:?}");
    let conversations = store.conversations();
    let current = conversations.current(&session()).await.unwrap().unwrap();
    let history = conversations.history(current).await.unwrap();
    let rounds = callgate_agent::rounds(store, id).await.unwrap();
    Left {
        log: log
            .iter()
            .map(|row| (row.role, format!("{:?}", row.parts)))
            .collect(),
        history: history
            .iter()
            .map(|row| unnamed(&row.message, id))
            .collect(),
        rounds: rounds
            .iter()
            .zip(callgate_testkit::whole_requests(&rounds))
            .map(|(round, mut request)| {
                let mut asked = request["messages"].take();
                // The moment: the time is in it, and in code mode what was said so far.
                asked[1].take();
                let reply = round.answer.as_ref().unwrap().reply.clone();
                (unnamed(&asked, id), reply)
            })
            .collect(),
    }
}

/// Without the turn's own id, which is in the names of files, and the time of messages.
fn unnamed(json: &Json, turn: JournalId) -> Json {
    let text = json.to_string();
    let text = text.replace(&turn.0.simple().to_string(), "TURN");
    let mut entries = text.split("[#");
    let mut without = entries.next().unwrap().to_owned();
    for entry in entries {
        let (head, rest) = entry.split_once(']').unwrap();
        let number = head.split(' ').next().unwrap();
        without += &format!("[#{number}]{rest}");
    }
    serde_json::from_str(&without).unwrap()
}

/// False if the process never came to this pass of the point.
#[allow(clippy::print_stdout, reason = "which case failed, shown with it only")]
async fn check(home: &Home, scenario: Scenario, point: &str, pass: usize, whole: &Left) -> bool {
    println!("{scenario:?} on {home}, killed at {point}:{pass}");
    if !is_killed(home, scenario, point, pass) {
        return false;
    }
    let store = home.open().await;
    let witness = home.data().join("witness");
    let asked = asked_for(&store, &witness).await;
    let unknown = unknown_step(&store, scenario).await;
    let recovered = agent(store.clone(), scenario, &witness).recover().await;
    recovered.unwrap();

    let seen = std::fs::read_to_string(&witness).unwrap();
    let times = |line: &str| seen.lines().filter(|seen| *seen == line).count();
    for (place, step) in scenario.steps().iter().enumerate() {
        let (name, argument, _) = step;
        let happened = times(&format!("{name} {argument}"));
        match effect(step) {
            Effect::Seen if unknown == Some(place) => assert!(happened <= 1, "{step:?}"),
            Effect::Seen => assert_eq!(happened, made(scenario, unknown, place), "{step:?}"),
            Effect::Repeatable => {}
        }
    }
    assert_eq!(
        times("told that an outcome is unknown") > 0,
        unknown.is_some()
    );
    if unknown.is_none() {
        assert_eq!(&left(&store).await, whole);
        for round in 1..=whole.rounds.len() {
            let twice = asked
                .get(round - 1)
                .is_some_and(|reply| *reply == Reply::Lost);
            assert_eq!(
                times(&format!("asked {round}")),
                1 + usize::from(twice),
                "round {round}"
            );
        }
    }
    check_messages(&seen, scenario, point, pass, unknown);
    assert_eq!(store.turns().unfinished().await.unwrap(), []);
    assert_eq!(store.journal().unfinished().await.unwrap(), []);
    assert_eq!(store.outbox().pending(None).await.unwrap(), []);
    let again = agent(store, scenario, &witness).recover().await.unwrap();
    assert_eq!((again.turns.len(), again.messages), (0, 0));
    true
}

/// What became of a round's reply when the process was killed.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Reply {
    /// It is never asked for again.
    Recorded,
    /// It came, or was on its way, and is asked for once more.
    Lost,
}

/// Of every round that had asked.
async fn asked_for(store: &Store, witness: &std::path::Path) -> Vec<Reply> {
    let seen = std::fs::read_to_string(witness).unwrap_or_default();
    let mut replies = Vec::new();
    for turn in store.turns().list(&session(), 10).await.unwrap() {
        for round in store.turns().rounds(turn.start.id).await.unwrap() {
            let was_asked = seen
                .lines()
                .any(|line| line == format!("asked {}", round.number));
            match (&round.answer, was_asked) {
                (Some(_), _) => replies.push(Reply::Recorded),
                (None, true) => replies.push(Reply::Lost),
                (None, false) => {}
            }
        }
    }
    replies
}

enum Effect {
    /// Made exactly once, or not at all.
    Seen,
    /// Pure, or wholly in our own rows: running it again changes nothing.
    Repeatable,
}

fn effect((name, ..): &Step) -> Effect {
    match *name {
        "look" | "tell" | "hear" => Effect::Repeatable,
        _ => Effect::Seen,
    }
}

/// The step whose outcome nobody can know: killed after its intent and before its outcome was on record.
async fn unknown_step(store: &Store, scenario: Scenario) -> Option<usize> {
    for turn in store.turns().list(&session(), 10).await.unwrap() {
        let id = turn.start.id;
        let mut journals = vec![(id, 0)];
        for run in store.turns().runs(id).await.unwrap() {
            let (_, round) = run.start.turn.unwrap();
            let earlier = scenario.steps().iter();
            let earlier = earlier.filter(|step| step.2 < round as usize);
            journals.push((run.start.id, earlier.count()));
        }
        for (journal, earlier) in journals {
            let calls = store.journal().recorded(journal).await.unwrap();
            let mut unknown = calls.iter().filter(|call| call.outcome.is_none());
            if let Some(call) = unknown.next() {
                return Some(earlier + call.intent.sequence as usize - 1);
            }
        }
    }
    None
}

/// How often the step's effect is to be seen. After an unknown outcome the model gives up: code
/// stops there, while the other tool calls of the same reply are still made.
fn made(scenario: Scenario, unknown: Option<usize>, place: usize) -> usize {
    let steps = scenario.steps();
    match unknown {
        Some(unknown) if place > unknown => {
            let same_reply = steps[place].2 == steps[unknown].2;
            usize::from(scenario.mode() == Mode::Tools && same_reply)
        }
        _ => 1,
    }
}

fn check_messages(
    seen: &str,
    scenario: Scenario,
    point: &str,
    pass: usize,
    unknown: Option<usize>,
) {
    let steps = scenario.steps();
    let tell = steps.iter().position(|step| step.0 == "tell");
    let told = tell.is_some_and(|tell| made(scenario, unknown, tell) > 0);
    let answer = match unknown {
        Some(_) => Some(UNCLEAR),
        None => scenario.answer(),
    };
    let expected = told.then_some("d").into_iter().chain(answer).enumerate();
    // A delivery whose mark was lost is repeated under its id, by which it is known as the same.
    let expected = expected.flat_map(|(place, text)| {
        let twice = point == "outbox.after_delivery" && pass == place + 1;
        std::iter::repeat_n((place, text), 1 + usize::from(twice))
    });
    let sent = seen.lines().filter_map(|line| line.strip_prefix("sent "));
    let sent: Vec<(&str, &str)> = sent.filter_map(|line| line.rsplit_once(" as ")).collect();
    // Ids ascend, with gaps where a transaction was lost.
    let mut ids: Vec<u64> = sent.iter().map(|(_, id)| id.parse().unwrap()).collect();
    assert!(ids.is_sorted(), "{ids:?}");
    ids.dedup();
    let place = |id: &str| {
        ids.iter()
            .position(|known| known.to_string() == id)
            .unwrap()
    };
    let sent: Vec<(usize, &str)> = sent.iter().map(|(text, id)| (place(id), *text)).collect();
    assert_eq!(sent, expected.collect::<Vec<_>>());
}
