//! A hundred histories from seeds, each through the whole agent and both engines: messages, replies with
//! calls, and a death in the midst of one of them. Both engines come to the same journal, every message is
//! answered once and in order, and nothing is done twice.

use std::time::Duration;

use callgate_agent::{Override, Watch};
use callgate_contract::{Mode, ModelReply, SessionKey};
use callgate_store::{LogRole, Store};
use callgate_testkit::Home;

use crate::stage::{Scripted, Stage, incoming, tool_calls};

const HISTORIES: u64 = 100;

/// The messages of a history, each with the replies that answer it; and the reply, counted over all, that
/// never comes.
struct Plan {
    messages: Vec<Vec<ModelReply>>,
    dies_at: usize,
}

fn planned(seed: u64) -> Plan {
    let mut state = seed;
    let mut below = |bound: u64| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % bound
    };
    let messages: Vec<Vec<ModelReply>> = (0..1 + below(3))
        .map(|message| {
            let mut replies: Vec<ModelReply> = (0..below(4))
                .map(|round| {
                    let text = format!("{message}.{round}");
                    let name = if below(2) == 0 { "act" } else { "look" };
                    let calls = [(name, text.as_str()), ("act", "again")];
                    ModelReply {
                        tool_calls: tool_calls(&calls[..1 + below(2) as usize]),
                        ..ModelReply::default()
                    }
                })
                .collect();
            replies.push(ModelReply {
                text: format!("Answer {message}."),
                ..ModelReply::default()
            });
            replies
        })
        .collect();
    let replies: usize = messages.iter().map(Vec::len).sum();
    Plan {
        dies_at: below(replies as u64 + 1) as usize,
        messages,
    }
}

fn model(replies: &[ModelReply]) -> Scripted {
    let each = replies.iter().cloned();
    each.fold(Scripted::default(), Scripted::replies)
}

/// Returns what was said to people, what was done and what is on record.
async fn perform(
    plan: &Plan,
    store: &Store,
    session: &SessionKey,
) -> (Vec<String>, usize, Vec<String>) {
    let replies: Vec<ModelReply> = plan.messages.iter().flatten().cloned().collect();
    let hangs = ModelReply {
        text: "!hang".into(),
        ..ModelReply::default()
    };
    let (before, after) = replies.split_at(plan.dies_at);
    let first = Stage::new(store.clone(), model(&[before, &[hangs]].concat()));
    let second = Stage::new(store.clone(), model(after));
    let hears = async |stage: &Stage, text: &str| {
        let mut message = incoming("ann", text);
        message.session = session.clone();
        let by_tools = Override {
            mode: Some(Mode::Tools),
            ..Override::default()
        };
        let arrived = stage.agent.arrive(message, by_tools, Watch::default());
        arrived.await.unwrap();
    };
    let mut is_dead = false;
    let mut answered = 0;
    for (number, of_message) in plan.messages.iter().enumerate() {
        let text = format!("message {number}");
        answered += of_message.len();
        if is_dead {
            hears(&second, &text).await;
        } else if answered <= plan.dies_at {
            hears(&first, &text).await;
        } else {
            is_dead = true;
            let asked = plan.dies_at + 1;
            tokio::select! {
                () = hears(&first, &text) => unreachable!("it hangs"),
                () = async {
                    while first.model.requests().len() < asked {
                        tokio::time::sleep(Duration::from_millis(1)).await;
                    }
                } => {}
            }
            let recovered = second.agent.recover().await.unwrap();
            assert_eq!(recovered.turns.len(), 1);
        }
    }
    let sent = [first.sent(), second.sent()].concat();
    let done = first.ran.counts().1 + second.ran.counts().1;
    (sent, done, journal(store, session).await)
}

/// Without ids and times.
async fn journal(store: &Store, session: &SessionKey) -> Vec<String> {
    let mut lines = Vec::new();
    for row in store.log().list(session, 1_000).await.unwrap() {
        lines.push(format!("{:?} {:?}", row.role, row.parts));
    }
    for turn in store.turns().list(session, 1_000).await.unwrap() {
        let id = turn.start.id;
        let finish = turn.finish.unwrap();
        lines.push(format!("turn {} {:?}", turn.start.principal, finish.stop));
        for round in store.turns().rounds(id).await.unwrap() {
            let reply = round.answer.map(|answer| answer.reply);
            lines.push(format!("round {} {reply:?}", round.number));
        }
        for call in store.journal().recorded(id).await.unwrap() {
            let (intent, value) = (call.intent, call.outcome.map(|outcome| outcome.result));
            lines.push(format!(
                "call {} {} {value:?}",
                intent.sequence, intent.method
            ));
        }
    }
    lines
}

#[tokio::test(flavor = "multi_thread")]
async fn both_engines_come_to_the_same_journal() {
    let (sqlite, postgres) = (Home::sqlite(), Home::postgres().await);
    let (one, other) = (sqlite.open().await, postgres.open().await);
    for seed in 0..HISTORIES {
        let plan = planned(seed);
        let session = format!("cli:FriendMessage:{seed}").parse().unwrap();
        let on_sqlite = perform(&plan, &one, &session).await;
        let on_postgres = perform(&plan, &other, &session).await;
        assert_eq!(on_sqlite, on_postgres, "seed {seed}");
        let (sent, done, lines) = on_sqlite;
        let expected: Vec<String> = (0..plan.messages.len())
            .map(|message| format!("Answer {message}."))
            .collect();
        assert_eq!(sent, expected, "seed {seed}");
        let calls = plan
            .messages
            .iter()
            .flatten()
            .flat_map(|reply| &reply.tool_calls);
        let effects = calls.filter(|call| call.name == "act").count();
        assert_eq!(done, effects, "seed {seed}: {lines:#?}");
        let users = lines
            .iter()
            .filter(|line| line.starts_with(&format!("{:?}", LogRole::User)));
        assert_eq!(users.count(), plan.messages.len(), "seed {seed}");
    }
}
