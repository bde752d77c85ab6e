//! What becomes of a message: stored first, then a command, an answer, or nothing.

use std::time::Duration;

use callgate_agent::{Arrived, Override, Watch};
use callgate_contract::{Mode, TurnStop};
use callgate_gate::GatePolicy;
use callgate_store::NewPersona;
use callgate_testkit::{Home, on_each_engine};

use crate::stage::{Scripted, Stage, incoming, python, session, settings};

#[tokio::test]
async fn commands_are_answered_and_stay_out_of_the_conversation() {
    let home = Home::sqlite();
    let stage = Stage::new(home.open().await, Scripted::default().says("Hi."));
    for (command, expected) in [
        ("/help", "/new"),
        ("/model", "The model is script"),
        ("/model nope", "no model 'nope'"),
        ("/persona", "default answers"),
        ("/stop", "Nothing is being done"),
        ("/stats", "0 tokens"),
        ("/approve 1", "Only administrators"),
        ("/new", "new conversation"),
    ] {
        assert!(
            matches!(stage.hears(command).await, Arrived::Command),
            "{command}"
        );
        let sent = stage.sent();
        assert!(
            sent.last().unwrap().contains(expected),
            "{command}: {sent:?}"
        );
    }
    stage.hears("hello").await;
    let conversations = stage.agent.store().conversations();
    let current = conversations.current(&session()).await.unwrap().unwrap();
    let history = conversations.history(current).await.unwrap();
    assert_eq!(history.len(), 2, "{history:?}");
}

#[tokio::test]
async fn a_message_delivered_twice_is_one_message() {
    let home = Home::sqlite();
    let stage = Stage::new(home.open().await, Scripted::default().says("Once."));
    for expected in ["turn", "repeated"] {
        let mut message = incoming("ann", "hello");
        message.message_id = Some("m1".into());
        let arrived = stage
            .agent
            .arrive(message, Override::default(), Watch::default())
            .await
            .unwrap();
        assert_eq!(
            matches!(arrived, Arrived::Turn(_)),
            expected == "turn",
            "{arrived:?}"
        );
    }
    assert_eq!(stage.sent(), ["Once."]);
}

#[tokio::test]
async fn a_chosen_persona_speaks_with_its_own_prompt_and_methods() {
    let home = Home::sqlite();
    let stage = Stage::new(home.open().await, Scripted::default().says("Meow."));
    let cat = NewPersona {
        name: "cat".into(),
        system_prompt: "You are a cat.".into(),
        begin_dialogs: Some(vec!["hi".into(), "purr".into()]),
        methods: Some(vec!["look".into()]),
        mode: Mode::Tools,
        model: None,
    };
    stage.agent.store().personas().create(&cat).await.unwrap();
    stage.hears("/persona cat").await;
    stage.hears("hello").await;
    let request = stage.model.requests().pop().unwrap();
    let messages = format!("{:?}", request.messages);
    assert!(
        messages.contains("You are a cat.") && messages.contains("purr"),
        "{messages}"
    );
    let tools: Vec<&str> = request
        .tools
        .iter()
        .map(|tool| tool.name.as_str())
        .collect();
    assert_eq!(tools, ["look"]);
}

#[tokio::test]
async fn a_turn_waits_for_an_approval_and_goes_on() {
    for mode in [Mode::Code, Mode::Tools] {
        on_each_engine(async |home: Home| {
            let policy = GatePolicy {
                ask: vec!["act".into()],
                approval_wait: Duration::from_millis(1),
                ..GatePolicy::default()
            };
            let model = match mode {
                Mode::Code => Scripted::default().says(&python("look a\nact b\nsearch c")),
                Mode::Tools => Scripted::default()
                    .calls(&[("look", "a")])
                    .calls(&[("act", "b")]),
            };
            let stage = Stage::with(home.open().await, model.says("Done."), policy, settings());
            let Arrived::Turn(report) = stage.hears_from("ann", "go", Some(mode)).await else {
                panic!("no turn")
            };
            assert_eq!((report.stop, stage.ran.counts()), (None, (1, 0)));
            assert!(matches!(
                stage.hears_from("root", "/approve 1", None).await,
                Arrived::Command
            ));
            assert_eq!(
                stage.ran.counts(),
                (1, 1),
                "what was done is not done again"
            );

            assert_eq!(stage.sent(), ["Allowed.", "Done."]);
        })
        .await;
    }
}

#[tokio::test]
async fn a_stopped_turn_ends_and_the_next_one_works() {
    let home = Home::sqlite();
    let stage = Stage::new(
        home.open().await,
        Scripted::default().says("!hang").says("Back."),
    );
    let (turn, _) = tokio::join!(stage.hears("think"), async {
        while stage.model.requests().is_empty() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        stage.hears("/stop").await
    });
    let Arrived::Turn(report) = turn else {
        panic!("{turn:?}")
    };
    assert_eq!(report.stop, Some(TurnStop::Cancelled));
    stage.hears("again").await;
    assert_eq!(stage.sent(), ["Stopped.", "Back."]);
}

#[tokio::test]
async fn an_agent_can_be_asked_and_pays_from_the_same_budget() {
    let home = Home::sqlite();
    let model = Scripted::default().calls(&[("look", "x")]).says("ignored");
    let stage = Stage::new(home.open().await, model);
    let helper = NewPersona {
        name: "helper".into(),
        system_prompt: "You help.".into(),
        methods: Some(vec!["look".into(), "ask_helper".into()]),
        mode: Mode::Tools,
        ..NewPersona::default()
    };
    stage
        .agent
        .store()
        .personas()
        .create(&helper)
        .await
        .unwrap();
    stage.agent.register_personas().await.unwrap();
    assert!(stage.agent.gate().find("ask_helper").is_some());
    let nested = crate::stage::Scripted::default();
    let ask = |text: &str| callgate_contract::ModelReply {
        tool_calls: vec![callgate_contract::ToolCall {
            id: "q".into(),
            name: "ask_helper".into(),
            arguments: callgate_contract::CallArguments::Object(
                [("query".to_owned(), text.into())].into_iter().collect(),
            ),
            extra: None,
        }],
        ..Default::default()
    };
    let nested = nested
        .replies(ask("find x"))
        .calls(&[("look", "x")])
        .says("It is x.")
        .says("The helper says: x.");
    let stage = Stage::new(stage.agent.store().clone(), nested);
    stage.agent.register_personas().await.unwrap();
    let Arrived::Turn(report) = stage.hears_from("ann", "ask", Some(Mode::Tools)).await else {
        panic!("no turn")
    };
    assert_eq!(report.stop, Some(TurnStop::Answered));
    assert_eq!(
        stage.sent(),
        ["The helper says: x."],
        "the agent's own answer is not sent"
    );
    let requests = stage.model.requests();
    assert!(format!("{:?}", requests[1].messages).contains("find x"));
    assert!(
        !format!("{:?}", requests[1].messages).contains("ask\""),
        "no chat for an agent"
    );
    assert!(format!("{:?}", requests[3].messages).contains("It is x."));
}

#[tokio::test]
async fn agents_nest_only_so_deep() {
    let home = Home::sqlite();
    let store = home.open().await;
    let loops = NewPersona {
        name: "deep".into(),
        system_prompt: "Again.".into(),
        mode: Mode::Tools,
        ..NewPersona::default()
    };
    store.personas().create(&loops).await.unwrap();
    let mut model = Scripted::default();
    for _ in 0..6 {
        model = model.replies(callgate_contract::ModelReply {
            tool_calls: vec![callgate_contract::ToolCall {
                id: "q".into(),
                name: "ask_deep".into(),
                arguments: callgate_contract::CallArguments::Object(
                    [("query".to_owned(), "deeper".into())]
                        .into_iter()
                        .collect(),
                ),
                extra: None,
            }],
            ..Default::default()
        });
    }
    for level in 0..6 {
        model = model.says(&format!("level {level}"));
    }
    let stage = Stage::new(store, model);
    stage.agent.register_personas().await.unwrap();
    stage.hears_from("ann", "go", Some(Mode::Tools)).await;
    let requests = stage.model.requests();
    assert_eq!(requests.len(), 12);
    let refused = format!("{:?}", requests[6].messages);
    assert!(refused.contains("nested deeper than 5"), "{refused}");
}

#[tokio::test]
async fn what_was_cut_off_goes_on_after_a_restart() {
    on_each_engine(async |home: Home| {
        let store = home.open().await;
        let first = Scripted::default().calls(&[("act", "b")]).says("!hang");
        let stage = Stage::new(store.clone(), first);
        let cut = stage.hears_from("ann", "go", Some(Mode::Tools));
        assert!(
            tokio::time::timeout(Duration::from_millis(700), cut)
                .await
                .is_err()
        );
        assert_eq!(stage.ran.counts().1, 1);

        let second = Stage::new(store, Scripted::default().says("Done."));
        let recovered = second.agent.recover().await.unwrap();
        assert_eq!(recovered.turns.len(), 1);
        assert_eq!(second.sent(), ["Done."]);
        assert_eq!(
            second.ran.counts().1,
            0,
            "the recorded call is not made again"
        );
        let asked = second.model.requests();
        assert_eq!(asked.len(), 1, "the recorded reply is not asked for again");
        assert!(format!("{:?}", asked[0].messages).contains("did b"));
        assert_eq!(second.agent.recover().await.unwrap().turns.len(), 0);
    })
    .await;
}

#[tokio::test]
async fn a_message_without_a_turn_is_answered_after_a_restart() {
    let home = Home::sqlite();
    let store = home.open().await;
    store
        .log()
        .append_incoming(&incoming("ann", "anybody?"))
        .await
        .unwrap();
    let stage = Stage::new(store, Scripted::default().says("Yes."));
    assert_eq!(stage.agent.recover().await.unwrap().messages, 1);
    assert_eq!(stage.sent(), ["Yes."]);
}
