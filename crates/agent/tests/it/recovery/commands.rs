//! A command cut off after its turn began: done again where that does no more than doing it once,
//! else its sender is told. Its sender keeps the role they had when it came.

use std::{
    os::unix::process::ExitStatusExt,
    process::{Command, Stdio},
};

use callgate_agent::{Override, Watch};
use callgate_contract::Role;
use callgate_store::{Reception, Store, StoreOptions};
use callgate_testkit::{Home, on_each_engine};

use crate::stage::{Scripted, Stage, incoming, session};

/// What the process that is killed does: this binary once more, with the name of the test.
async fn victim(data: String) {
    let store = Store::open(StoreOptions {
        url: std::env::var("CALLGATE_TEST_URL").ok(),
        ..StoreOptions::new(data)
    });
    let stage = Stage::new(store.await.unwrap(), Scripted::default());
    let command = std::env::var("CALLGATE_TEST_COMMAND").unwrap();
    let overrule = Override {
        role: Some(Role::Operator),
        ..Override::default()
    };
    let message = incoming("ann", &command);
    let arrived = stage.agent.arrive(message, overrule, Watch::default());
    arrived.await.unwrap();
}

#[allow(clippy::disallowed_methods, reason = "a process to kill")]
fn kill(home: &Home, command: &str, point: &str) {
    let mut victim = Command::new(std::env::current_exe().unwrap());
    victim
        .args([
            "--exact",
            "recovery::commands::a_command_cut_off_is_done_again_or_reported",
        ])
        .env("CALLGATE_TEST_DATA", home.data())
        .env("CALLGATE_TEST_COMMAND", command)
        .env("CALLGATE_CRASH_AT", point)
        .stdout(Stdio::null());
    if let Some(url) = home.options().url {
        victim.env("CALLGATE_TEST_URL", url);
    }
    assert_eq!(victim.status().unwrap().signal(), Some(9), "{command}");
}

#[tokio::test]
async fn a_command_cut_off_is_done_again_or_reported() {
    if let Ok(data) = std::env::var("CALLGATE_TEST_DATA") {
        return victim(data).await;
    }
    on_each_engine(async |home: Home| {
        for (command, said) in [
            ("/model script", "The model is script from now on."),
            ("/new", "I was interrupted at /new"),
        ] {
            for point in ["turn.after_begin", "turn.before_finish"] {
                kill(&home, command, point);
                let stage = Stage::new(home.open().await, Scripted::default());
                stage.agent.recover().await.unwrap();
                let [sent] = &stage.sent()[..] else {
                    panic!("{:?}", stage.sent());
                };
                assert!(sent.starts_with(said), "{sent}");
                stage.agent.recover().await.unwrap();
                assert_eq!(stage.sent().len(), 1);
            }
        }
        let store = home.open().await;
        let settings = store.settings().session(&session()).await.unwrap();
        assert_eq!(settings.value.model.as_deref(), Some("script"));
    })
    .await;
}

#[tokio::test]
async fn a_recovered_command_keeps_the_role_it_came_with() {
    on_each_engine(async |home: Home| {
        for (role, said) in [
            (Some(Role::Operator), "approval"),
            (None, "Only administrators"),
        ] {
            let store = home.open().await;
            let reception = Reception {
                role,
                ..Reception::default()
            };
            let message = incoming("ann", "/approve 99");
            store.log().receive(&message, reception).await.unwrap();
            let stage = Stage::new(store, Scripted::default());
            stage.agent.recover().await.unwrap();
            assert!(stage.sent()[0].contains(said), "{:?}", stage.sent());
        }
    })
    .await;
}
