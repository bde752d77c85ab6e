//! What else a restart finds: a command nobody obeyed, a timer that fired, an agent cut off in the
//! middle, a turn that cannot go on.

use std::{sync::Arc, time::Duration};

use callgate_agent::{Agent, Coder, Sessions, Wiring};
use callgate_contract::{
    BoxFuture, HostCall, Mode, Models, NamedModel, Report, Role, RunSpec, Sandbox, SandboxError,
    TurnStop,
};
use callgate_store::{NewPersona, NewTimer, Parameter, Store};
use callgate_testkit::{Home, on_each_engine};
use serde_json::json;

use crate::{
    seeds::troupe::calling,
    stage::{Remembering, Scripted, Stage, incoming, python, session, settings},
};

#[tokio::test]
async fn a_command_that_was_only_stored_is_obeyed() {
    on_each_engine(async |home: Home| {
        let store = home.open().await;
        store
            .log()
            .append_incoming(&incoming("ann", "/new"))
            .await
            .unwrap();
        let stage = Stage::new(store.clone(), Scripted::default());
        stage.agent.recover().await.unwrap();
        assert_eq!(stage.sent(), ["A new conversation begins."]);
        assert!(stage.model.requests().is_empty());
        assert_eq!(store.log().waiting().await.unwrap(), []);
    })
    .await;
}

/// Its text may be the model's own: it is never a command of the person it was set for.
#[tokio::test]
async fn what_a_timer_says_is_no_command() {
    let home = Home::sqlite();
    let store = home.open().await;
    let timer = NewTimer {
        id: uuid::Uuid::now_v7(),
        session: session(),
        principal: "cli:root".parse().unwrap(),
        role: Role::Operator,
        due_at: jiff::Timestamp::UNIX_EPOCH,
        text: "/approve 1 always".into(),
    };
    store.timers().set(&timer).await.unwrap();
    store.timers().fire(timer.id).await.unwrap();
    let stage = Stage::new(store, Scripted::default().says("It is time."));
    stage.agent.recover().await.unwrap();
    assert_eq!(stage.sent(), ["It is time."]);
}

#[tokio::test]
async fn an_agent_cut_off_is_unknown_to_the_turn_that_asked_it() {
    on_each_engine(async |home: Home| {
        let store = home.open().await;
        let helper = NewPersona {
            name: "helper".into(),
            system_prompt: "You help.".into(),
            mode: Mode::Tools,
            ..NewPersona::default()
        };
        store.personas().create(&helper).await.unwrap();
        let ask = calling("ask_helper", json!({"query": "find x"}));
        let model = Scripted::default()
            .replies(ask)
            .calls(&[("act", "b")])
            .says("!hang");
        let stage = Stage::new(store.clone(), model);
        stage.agent.register_personas().await.unwrap();
        let cut = stage.hears_from("ann", "go", Some(Mode::Tools));
        let until = async {
            while stage.model.requests().len() < 3 {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::select! {
            arrived = cut => panic!("{arrived:?}"),
            () = until => {}
        }

        let second = Stage::new(store.clone(), Scripted::default().says("I cannot tell."));
        second.agent.register_personas().await.unwrap();
        second.agent.recover().await.unwrap();
        assert_eq!(second.sent(), ["I cannot tell."]);
        assert_eq!((stage.ran.counts().1, second.ran.counts().1), (1, 0));
        let asked = format!("{:?}", second.model.requests()[0].messages);
        assert!(asked.contains("ask_helper' (call 1) is unknown"), "{asked}");
        assert_eq!(store.turns().unfinished().await.unwrap(), []);
    })
    .await;
}

struct NoSandbox;

impl Sandbox for NoSandbox {
    fn run(&self, _: RunSpec, _: HostCall) -> BoxFuture<'_, Result<Report, SandboxError>> {
        Box::pin(std::future::ready(Err(SandboxError::Unavailable {
            reason: "a wall is missing".into(),
            hint: "build it".into(),
        })))
    }
}

fn without_sandbox(store: Store, model: &Scripted, outbox: &Arc<Remembering>) -> Agent {
    let named = NamedModel {
        id: "script".into(),
        model: Arc::new(model.clone()),
    };
    Agent::new(Wiring {
        coder: Coder {
            sandbox: Arc::new(NoSandbox),
            ..crate::scene::coder(store, Default::default(), &Default::default())
        },
        models: Models::new(named, Vec::new(), None, None),
        settings: settings(),
        listeners: Vec::new(),
        outbox: outbox.clone(),
        packages: Vec::new(),
        sessions: Sessions::default(),
    })
}

/// Whether it is found out in the turn or by the process after it, the user is told, and no later
/// start meets the turn again.
#[tokio::test]
async fn a_turn_whose_sandbox_is_gone_ends_in_words() {
    let code = python("look x");
    for cut_off in [false, true] {
        let home = Home::sqlite();
        let store = home.open().await;
        let outbox = Arc::new(Remembering::default());
        if cut_off {
            let first = Stage::new(store.clone(), Scripted::default().says(&python("!crash")));
            let cut = tokio::time::timeout(Duration::from_secs(2), first.hears("go"));
            assert!(cut.await.is_err());
        } else {
            store
                .log()
                .append_incoming(&incoming("ann", "go"))
                .await
                .unwrap();
        }
        let agent = without_sandbox(store.clone(), &Scripted::default().says(&code), &outbox);
        agent.recover().await.unwrap();
        let expected = "I wrote code for this, but it cannot be run here: \
                        the sandbox cannot start: a wall is missing";
        assert_eq!(*outbox.0.lock().unwrap(), [expected]);
        let turns = store.turns().list(&session(), 9).await.unwrap();
        let stops: Vec<_> = turns
            .iter()
            .map(|turn| turn.finish.as_ref().map(|f| f.stop))
            .collect();
        assert_eq!(stops, [Some(TurnStop::Error)]);
        assert_eq!(agent.recover().await.unwrap().turns, []);
    }
}

/// What a newer version would do next is not known here: the turn ends and whoever asked is told.
#[tokio::test]
async fn a_turn_of_a_newer_version_is_not_guessed_at() {
    on_each_engine(async |home: Home| {
        let store = home.open().await;
        let stage = Stage::new(store.clone(), Scripted::default().says("!hang"));
        let cut = tokio::time::timeout(Duration::from_millis(700), stage.hears("go"));
        assert!(cut.await.is_err());
        let open = store.turns().unfinished().await.unwrap().remove(0).start;
        let newer = open
            .plan
            .to_string()
            .replace("\"version\":1", "\"version\":2");
        assert_ne!(newer, open.plan.to_string());
        let set = "UPDATE turn SET plan = ?1 WHERE id = ?2";
        store
            .write(move |tx| {
                let parameters = [
                    Parameter::Text(Some(&newer)),
                    Parameter::Bytes(Some(open.id.0.as_bytes())),
                ];
                tx.execute(set, &parameters)?;
                Ok(())
            })
            .await
            .unwrap();
        let second = Stage::new(store.clone(), Scripted::default());
        second.agent.recover().await.unwrap();
        let told = second.sent().join("\n");
        assert!(told.contains("newer version"), "{told}");
        assert!(second.model.requests().is_empty());
        assert_eq!(store.turns().unfinished().await.unwrap(), []);
    })
    .await;
}
