//! Rooms of several people, in a hundred interleavings from seeds: whatever somebody says, nothing is done
//! about it with more than they may, and a turn acts in the name of one who spoke in it.

use std::time::Duration;

use callgate_agent::{Override, Watch};
use callgate_contract::{Mode, Role, SessionKey};
use callgate_store::LogRole;
use callgate_testkit::Home;
use tokio::task::JoinSet;

use crate::stage::{Scripted, Stage, incoming};

const ROOMS: u64 = 100;
const MESSAGES: u64 = 6;
/// The first is an administrator.
const PEOPLE: [&str; 3] = ["root", "ann", "bob"];

/// Replies that keep turns going, so that messages come before, in and after them.
fn model() -> Scripted {
    (0..ROOMS * MESSAGES).fold(Scripted::default(), |model, _| {
        model.calls(&[("look", "x")]).says("Done.")
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn no_text_runs_above_the_role_of_its_author() {
    let home = Home::sqlite();
    let store = home.open().await;
    let (mut narrowed, mut full) = (0, 0);
    for seed in 0..ROOMS {
        let stage = Stage::new(store.clone(), model());
        let session: SessionKey = format!("cli:GroupMessage:{seed}").parse().unwrap();
        let mut state = seed;
        let mut below = |bound: u64| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 33) % bound
        };
        let mut speaking = JoinSet::new();
        for number in 0..MESSAGES {
            let mut message = incoming(PEOPLE[below(3) as usize], &format!("message {number}"));
            message.session = session.clone();
            let pause = Duration::from_micros(below(4) * 700);
            let agent = stage.agent.clone();
            let by_tools = Override {
                mode: Some(Mode::Tools),
                ..Override::default()
            };
            speaking.spawn(async move {
                tokio::time::sleep(pause).await;
                let arrived = agent.arrive(message, by_tools, Watch::default());
                arrived.await.unwrap();
            });
        }
        speaking.join_all().await;

        let log = store.log().list(&session, 100).await.unwrap();
        for turn in store.turns().list(&session, 100).await.unwrap() {
            let start = turn.start;
            let said = log.iter().filter(|row| row.turn == Some(start.id));
            let said: Vec<_> = said.filter(|row| row.role == LogRole::User).collect();
            let least = said.iter().filter_map(|row| row.sender_role).min().unwrap();
            assert!(start.role <= least, "seed {seed}: {start:?}");
            let mut speakers = said.iter().map(|row| row.principal());
            assert!(
                speakers.any(|one| one == start.principal),
                "seed {seed}: {start:?}"
            );
            if start.principal.user() == "root" {
                *if start.role == Role::Admin {
                    &mut full
                } else {
                    &mut narrowed
                } += 1;
            }
        }
        let unanswered = store.log().unanswered(&session).await.unwrap();
        assert_eq!(unanswered, [], "seed {seed}");
    }
    assert!(
        narrowed > 0 && full > 0,
        "{narrowed} of {full}: both happen"
    );
}
