//! Conversations and personas as turns meet them, on both engines. What the store alone promises
//! of them is tested with the store.

use callgate_agent::Arrived;
use callgate_contract::{ConversationId, Mode, ModelMessage, Part, SessionKey};
use callgate_store::{ConversationUpdate, NewConversation, NewPersona, Persona, Store, StoreError};
use callgate_testkit::{Home, on_each_engine};
use serde_json::{Value as Json, json};

use crate::stage::{Scripted, Stage, python, session};

/// The request of a round as `(role, text)`, without the system prompt; of the last message only
/// what the user said.
fn asked(stage: &Stage, round: usize) -> Vec<(&'static str, String)> {
    let first = |parts: &[Part]| match &parts[0] {
        Part::Text { text } => text.clone(),
        other => panic!("{other:?}"),
    };
    let requests = stage.model.requests();
    let messages = requests[round - 1].messages.iter();
    let shown = messages.filter_map(|message| match message {
        ModelMessage::System { .. } => None,
        ModelMessage::User { parts } => Some(("user", first(parts))),
        ModelMessage::Assistant { text, .. } => Some(("assistant", text.clone())),
        ModelMessage::Tool { parts, .. } => Some(("tool", first(parts))),
    });
    shown.collect()
}

fn said(pairs: &[(&'static str, &str)]) -> Vec<(&'static str, String)> {
    pairs
        .iter()
        .map(|(role, text)| (*role, (*text).to_owned()))
        .collect()
}

fn pair(question: &str, answer: &str) -> Vec<Json> {
    vec![
        json!({"role": "user", "content": question}),
        json!({"role": "assistant", "content": answer}),
    ]
}

async fn current(store: &Store) -> Option<ConversationId> {
    store.conversations().current(&session()).await.unwrap()
}

async fn history(store: &Store, id: ConversationId) -> Vec<Json> {
    let rows = store.conversations().history(id).await.unwrap();
    rows.into_iter().map(|row| row.message).collect()
}

async fn hears(stage: &Stage, text: &str) {
    let arrived = stage.hears_from("ann", text, Some(Mode::Tools)).await;
    assert!(matches!(arrived, Arrived::Turn(_)), "{arrived:?}");
}

fn two_answers() -> Scripted {
    Scripted::default().says("One.").says("Two.")
}

#[tokio::test]
async fn a_turn_leaves_both_messages_in_the_current_conversation() {
    on_each_engine(async |home: Home| {
        let stage = Stage::new(home.open().await, two_answers());
        let store = stage.agent.store();
        assert_eq!(current(store).await, None);
        hears(&stage, "first").await;
        let id = current(store).await.unwrap();
        assert_eq!(history(store, id).await, pair("first", "One."));
        hears(&stage, "second").await;
        assert_eq!(current(store).await, Some(id));
        let expected = [("user", "first"), ("assistant", "One."), ("user", "second")];
        assert_eq!(asked(&stage, 2), said(&expected));
    })
    .await;
}

#[tokio::test]
async fn the_next_turn_uses_the_conversation_switched_to() {
    on_each_engine(async |home: Home| {
        let stage = Stage::new(home.open().await, two_answers());
        let conversations = stage.agent.store().conversations();
        let old = NewConversation {
            messages: pair("of old", "long ago"),
            ..NewConversation::default()
        };
        let old = conversations.create(&session(), old).await.unwrap().id;
        conversations
            .create(&session(), NewConversation::default())
            .await
            .unwrap();
        hears(&stage, "now").await;
        assert_eq!(asked(&stage, 1), said(&[("user", "now")]));
        conversations.switch(&session(), old).await.unwrap();
        hears(&stage, "again").await;
        let expected = [
            ("user", "of old"),
            ("assistant", "long ago"),
            ("user", "again"),
        ];
        assert_eq!(asked(&stage, 2), said(&expected));
    })
    .await;
}

#[tokio::test]
async fn new_and_reset_begin_from_nothing() {
    on_each_engine(async |home: Home| {
        for (command, same) in [("/new", false), ("/reset", true)] {
            let stage = Stage::new(home.open().await, two_answers());
            hears(&stage, "first").await;
            let before = current(stage.agent.store()).await;
            stage.hears(command).await;
            hears(&stage, "second").await;
            assert_eq!(asked(&stage, 2), said(&[("user", "second")]), "{command}");
            assert_eq!(
                current(stage.agent.store()).await == before,
                same,
                "{command}"
            );
            stage.hears("/new").await;
        }
    })
    .await;
}

#[tokio::test]
async fn the_current_conversation_is_deleted_also_right_after_a_restart() {
    on_each_engine(async |home: Home| {
        let stage = Stage::new(home.open().await, two_answers());
        hears(&stage, "first").await;
        let deleted = current(stage.agent.store()).await.unwrap();

        let restarted = Stage::new(home.open().await, two_answers());
        let store = restarted.agent.store();
        assert!(
            store
                .conversations()
                .delete(&session(), None)
                .await
                .unwrap()
        );
        assert_eq!(current(store).await, None);
        assert_eq!(store.conversations().get(deleted).await.unwrap(), None);
        hears(&restarted, "second").await;
        assert_ne!(current(store).await, Some(deleted));
        assert_eq!(asked(&restarted, 1), said(&[("user", "second")]));
    })
    .await;
}

#[tokio::test]
async fn a_history_given_by_an_update_is_what_the_next_turn_sees() {
    on_each_engine(async |home: Home| {
        let stage = Stage::new(home.open().await, two_answers());
        hears(&stage, "first").await;
        let update = ConversationUpdate {
            history: Some(pair("rewritten", "indeed")),
            ..ConversationUpdate::default()
        };
        let conversations = stage.agent.store().conversations();
        assert!(
            conversations
                .update(&session(), None, update)
                .await
                .unwrap()
        );
        hears(&stage, "second").await;
        let expected = [
            ("user", "rewritten"),
            ("assistant", "indeed"),
            ("user", "second"),
        ];
        assert_eq!(asked(&stage, 2), said(&expected));
    })
    .await;
}

fn persona(name: &str) -> NewPersona {
    NewPersona {
        name: name.into(),
        system_prompt: format!("You are {name}."),
        mode: Mode::Tools,
        ..NewPersona::default()
    }
}

#[tokio::test]
async fn personas_are_there_after_a_restart() {
    on_each_engine(async |home: Home| {
        let store = home.open().await;
        assert_eq!(store.personas().list().await.unwrap(), []);
        let mut made = Vec::new();
        for name in ["cat", "dog"] {
            made.push(store.personas().create(&persona(name)).await.unwrap());
        }
        let restarted = home.open().await;
        assert_eq!(restarted.personas().list().await.unwrap(), made);
        assert_eq!((&made[0].begin_dialogs, &made[0].methods), (&None, &None));
        restarted.personas().delete("cat").await.unwrap();
        let restarted = home.open().await;
        assert_eq!(restarted.personas().list().await.unwrap(), made[1..]);
        let missing = restarted.personas().get("cat").await;
        assert!(
            matches!(missing, Err(StoreError::UnknownPersona(_))),
            "{missing:?}"
        );
    })
    .await;
}

#[tokio::test]
async fn opening_dialogues_come_first_and_are_never_saved() {
    on_each_engine(async |home: Home| {
        let stage = Stage::new(home.open().await, two_answers());
        let store = stage.agent.store();
        let lines = |lines: &[&str]| Some(lines.iter().map(|&line| line.into()).collect());
        let even = NewPersona {
            begin_dialogs: lines(&["hi", "yo"]),
            ..persona("even")
        };
        let odd = NewPersona {
            begin_dialogs: lines(&["hi", "yo", "what?"]),
            ..persona("odd")
        };
        store.personas().create(&even).await.unwrap();
        let refused = store.personas().create(&odd).await.unwrap_err();
        assert!(refused.to_string().contains('3'), "{refused}");
        store.personas().create_unchecked(&odd).await.unwrap();

        stage.hears("/persona even").await;
        hears(&stage, "first").await;
        let expected = [("user", "hi"), ("assistant", "yo"), ("user", "first")];
        assert_eq!(asked(&stage, 1), said(&expected));
        let id = current(store).await.unwrap();
        assert_eq!(history(store, id).await, pair("first", "One."));

        stage.hears("/persona odd").await;
        stage.hears("/new").await;
        hears(&stage, "second").await;
        assert_eq!(asked(&stage, 2), said(&[("user", "second")]));
    })
    .await;
}

#[tokio::test]
async fn a_persona_holds_all_methods_or_none_or_those_it_names() {
    on_each_engine(async |home: Home| {
        for (held, tools, looked) in [
            (None, vec!["act", "look", "note", "search", "show"], 1),
            (Some(vec![]), vec![], 0),
            (Some(vec!["look", "no_such_method"]), vec!["look"], 1),
            (Some(vec!["act"]), vec!["act"], 0),
        ] {
            let model = Scripted::default().calls(&[("look", "x")]).says("Seen.");
            let stage = Stage::new(home.open().await, model);
            let name = format!("holds {held:?}").replace(|c: char| !c.is_alphanumeric(), "_");
            let methods = held.map(|held| held.into_iter().map(String::from).collect());
            let new = NewPersona {
                methods,
                ..persona(&name)
            };
            stage.agent.store().personas().create(&new).await.unwrap();
            stage.hears(&format!("/persona {name}")).await;
            hears(&stage, "look").await;
            let request = &stage.model.requests()[0];
            let mut listed: Vec<_> = request
                .tools
                .iter()
                .map(|tool| tool.name.as_str())
                .collect();
            listed.sort_unstable();
            assert_eq!(listed, tools, "{name}");
            assert_eq!(
                stage.ran.counts().0,
                looked,
                "{name}: the gate decides, not the list"
            );
        }
    })
    .await;
}

#[tokio::test]
async fn code_of_a_persona_without_methods_is_refused_at_the_gate() {
    let home = Home::sqlite();
    let model = Scripted::default()
        .says(&python("look x"))
        .says("I may not.");
    let stage = Stage::new(home.open().await, model);
    let none = NewPersona {
        methods: Some(Vec::new()),
        mode: Mode::Code,
        ..persona("none")
    };
    stage.agent.store().personas().create(&none).await.unwrap();
    stage.hears("/persona none").await;
    stage.hears("look").await;
    assert_eq!((stage.ran.counts().0, stage.model.requests().len()), (0, 2));
    let prompt = format!("{:?}", stage.model.requests()[0].messages[0]);
    assert!(!prompt.contains("def look"), "{prompt}");
}

#[tokio::test]
async fn each_session_has_its_own_default_persona() {
    on_each_engine(async |home: Home| {
        let store = home.open().await;
        for name in ["cat", "dog"] {
            store.personas().create(&persona(name)).await.unwrap();
        }
        let other: SessionKey = "p:GroupMessage:a:b!c".parse().unwrap();
        let chosen = [(session(), "cat"), (other, "dog")];
        for (session, name) in &chosen {
            let name = Some((*name).to_owned());
            let settings = store.settings();
            let changed = settings.change_session(session, |settings| settings.persona = name);
            changed.await.unwrap();
        }
        for (session, name) in &chosen {
            assert_eq!(
                store.personas().default(Some(session)).await.unwrap().name,
                *name
            );
        }
        store.personas().delete("cat").await.unwrap();
        let fallen_back = store.personas().default(Some(&session())).await.unwrap();
        assert_eq!(
            fallen_back,
            Persona::built_in(),
            "a persona that is gone counts as none"
        );
        let unset: SessionKey = "p:FriendMessage:new".parse().unwrap();
        assert_eq!(
            store.personas().default(Some(&unset)).await.unwrap(),
            Persona::built_in()
        );

        let stage = Stage::new(store, Scripted::default().says("Hi."));
        hears(&stage, "hello").await;
        let prompt = format!("{:?}", stage.model.requests()[0].messages[0]);
        assert!(prompt.contains("helpful assistant"), "{prompt}");
    })
    .await;
}

/// Turns keep what they read; whatever changes a history from elsewhere is seen all the same.
#[tokio::test]
async fn a_history_changed_from_elsewhere_is_what_the_next_turn_sees() {
    on_each_engine(async |home: Home| {
        let store = home.open().await;
        let model = ["1", "2", "3", "4"]
            .into_iter()
            .fold(Scripted::default(), Scripted::says);
        let stage = Stage::new(store.clone(), model);
        hears(&stage, "one").await;
        let id = current(&store).await.unwrap();
        let elsewhere = home.open().await;
        let conversations = elsewhere.conversations();
        let added = json!({"role": "user", "content": "added"});
        let answer = json!({"role": "assistant", "content": "noted"});
        conversations
            .add_message_pair(id, added, answer)
            .await
            .unwrap();
        hears(&stage, "two").await;
        let told = format!("{:?}", stage.model.requests()[1].messages);
        assert!(told.contains("one") && told.contains("noted"), "{told}");

        let summary = json!({"role": "user", "content": "in short"});
        conversations.compact(id, 4, &summary.into()).await.unwrap();
        hears(&stage, "three").await;
        let told = format!("{:?}", stage.model.requests()[2].messages);
        assert!(
            told.contains("in short") && !told.contains("noted"),
            "{told}"
        );
        assert!(told.contains("two"), "{told}");

        let update = ConversationUpdate {
            history: Some(Vec::new()),
            ..ConversationUpdate::default()
        };
        let session = crate::stage::session();
        conversations.update(&session, None, update).await.unwrap();
        hears(&stage, "four").await;
        let told = format!("{:?}", stage.model.requests()[3].messages);
        assert!(
            !told.contains("in short") && !told.contains("three"),
            "{told}"
        );
    })
    .await;
}

#[tokio::test]
async fn code_mode_shows_the_chat_of_its_own_conversation() {
    on_each_engine(async |home: Home| {
        let stage = Stage::new(home.open().await, two_answers().says("Three."));
        let conversations = stage.agent.store().conversations();
        let say = async |text: &str| {
            stage.hears_from("ann", text, Some(Mode::Code)).await;
            let requests = stage.model.requests();
            let last = requests.last().unwrap().messages.last().cloned();
            format!("{last:?}")
        };
        assert!(say("the first words").await.contains("the first words"));
        let first = current(stage.agent.store()).await.unwrap();
        let new = NewConversation::default();
        conversations.create(&session(), new).await.unwrap();
        let shown = say("the second words").await;
        assert!(shown.contains("the second words"), "{shown}");
        assert!(
            !shown.contains("first words") && !shown.contains("One."),
            "{shown}"
        );
        let copy = conversations.fork(first, None).await.unwrap();
        conversations.switch(&session(), copy.id).await.unwrap();
        let shown = say("the third words").await;
        assert!(
            shown.contains("first words") && shown.contains("One."),
            "{shown}"
        );
        assert!(
            !shown.contains("second words") && !shown.contains("Two."),
            "{shown}"
        );
    })
    .await;
}
