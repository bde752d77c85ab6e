//! Personas: what the seed's manager promises, and who answers where nobody or somebody chose.

use callgate_contract::Mode;
use callgate_store::{
    MAX_PERSONA_NAME, NO_PERSONA, NewConversation, NewPersona, Persona, PersonaUpdate, StoreError,
};
use callgate_testkit::on_each_engine;

use crate::common::session;

fn named(name: &str) -> NewPersona {
    NewPersona {
        name: name.to_owned(),
        system_prompt: "你是\0诗人".to_owned(),
        ..NewPersona::default()
    }
}

fn lines(lines: &[&str]) -> Option<Vec<String>> {
    Some(lines.iter().map(|line| (*line).to_owned()).collect())
}

#[tokio::test]
async fn a_persona_is_made_once_and_reads_back() {
    on_each_engine(async |home| {
        let store = home.open().await;
        let personas = store.personas();
        assert_eq!(personas.list().await.unwrap(), []);
        let plain = personas.create(&named("plain")).await.unwrap();
        assert_eq!((&plain.begin_dialogs, &plain.methods), (&None, &None));
        assert_eq!((plain.mode, &plain.model), (Mode::Code, &None));
        let full = NewPersona {
            begin_dialogs: lines(&["hi\0", "yo"]),
            methods: lines(&[]),
            mode: Mode::Tools,
            model: Some("m".to_owned()),
            ..named("诗人")
        };
        let full = personas.create(&full).await.unwrap();
        assert!(full.id > plain.id);
        assert_eq!(full.begin_dialogs, lines(&["hi\0", "yo"]));
        assert_eq!((&full.methods, full.mode), (&lines(&[]), Mode::Tools));

        let other = NewPersona {
            system_prompt: "other".to_owned(),
            ..named("plain")
        };
        let again = personas.create(&other).await;
        assert!(matches!(again, Err(StoreError::PersonaExists(_))));

        let store = home.open().await;
        let personas = store.personas();
        assert_eq!(personas.get("plain").await.unwrap(), plain);
        assert_eq!(personas.list().await.unwrap(), [plain, full]);
    })
    .await;
}

#[tokio::test]
async fn names_have_bounds() {
    on_each_engine(async |home| {
        let store = home.open().await;
        let personas = store.personas();
        let longest = "名".repeat(MAX_PERSONA_NAME);
        personas.create(&named(&longest)).await.unwrap();
        for name in ["", "a\nb", "a\0", "default", &format!("{longest}名")] {
            let refused = personas.create(&named(name)).await;
            assert!(
                matches!(refused, Err(StoreError::PersonaName { .. })),
                "{name:?}"
            );
            let missing = personas.get(name).await;
            assert!(
                matches!(missing, Err(StoreError::UnknownPersona(_))),
                "{name:?}"
            );
        }
    })
    .await;
}

#[tokio::test]
async fn opening_dialogues_are_pairs() {
    on_each_engine(async |home| {
        let store = home.open().await;
        let personas = store.personas();
        let odd = NewPersona {
            begin_dialogs: lines(&["hi"]),
            ..named("p")
        };
        let refused = personas.create(&odd).await;
        assert!(matches!(refused, Err(StoreError::OddDialogs { count: 1 })));
        assert_eq!(personas.list().await.unwrap(), []);
        // What a plugin gives is stored as it is.
        let stored = personas.create_unchecked(&odd).await.unwrap();
        assert_eq!(stored.begin_dialogs, lines(&["hi"]));
        let update = PersonaUpdate {
            begin_dialogs: lines(&["a", "b", "c"]),
            ..PersonaUpdate::default()
        };
        let refused = personas.update("p", &update).await;
        assert!(matches!(refused, Err(StoreError::OddDialogs { count: 3 })));
        assert_eq!(personas.get("p").await.unwrap(), stored);
        let stored = personas.update_unchecked("p", &update).await.unwrap();
        assert_eq!(stored.begin_dialogs, update.begin_dialogs);
    })
    .await;
}

#[tokio::test]
async fn an_update_changes_only_what_it_names() {
    on_each_engine(async |home| {
        let store = home.open().await;
        let personas = store.personas();
        let mut expected = personas.create(&named("p")).await.unwrap();
        let nothing = PersonaUpdate::default;
        let updates = [
            PersonaUpdate {
                system_prompt: Some("new".to_owned()),
                ..nothing()
            },
            PersonaUpdate {
                begin_dialogs: lines(&["a", "b"]),
                ..nothing()
            },
            PersonaUpdate {
                methods: Some(lines(&["x"])),
                ..nothing()
            },
            PersonaUpdate {
                methods: Some(lines(&[])),
                ..nothing()
            },
            PersonaUpdate {
                mode: Some(Mode::Tools),
                ..nothing()
            },
            PersonaUpdate {
                model: Some(Some("m".to_owned())),
                ..nothing()
            },
            nothing(),
            PersonaUpdate {
                methods: Some(None),
                ..nothing()
            },
            PersonaUpdate {
                model: Some(None),
                ..nothing()
            },
            PersonaUpdate {
                begin_dialogs: lines(&[]),
                ..nothing()
            },
        ];
        for update in updates {
            // Later than the one before, in milliseconds.
            tokio::time::sleep(std::time::Duration::from_millis(2)).await;
            let now = personas.update("p", &update).await.unwrap();
            assert!(now.updated_at > expected.updated_at);
            expected.updated_at = now.updated_at;
            let update = update.clone();
            if let Some(prompt) = update.system_prompt {
                expected.system_prompt = prompt;
            }
            if update.begin_dialogs.is_some() {
                expected.begin_dialogs = update.begin_dialogs;
            }
            if let Some(methods) = update.methods {
                expected.methods = methods;
            }
            if let Some(mode) = update.mode {
                expected.mode = mode;
            }
            if let Some(model) = update.model {
                expected.model = model;
            }
            assert_eq!(now, expected);
            assert_eq!(personas.get("p").await.unwrap(), expected);
        }
        let missing = personas.update("q", &nothing()).await;
        assert!(matches!(missing, Err(StoreError::UnknownPersona(_))));
        assert_eq!(personas.list().await.unwrap().len(), 1);
    })
    .await;
}

#[tokio::test]
async fn a_deleted_persona_is_gone() {
    on_each_engine(async |home| {
        let store = home.open().await;
        store.personas().create(&named("p")).await.unwrap();
        store.personas().delete("p").await.unwrap();
        let store = home.open().await;
        assert_eq!(store.personas().list().await.unwrap(), []);
        let again = store.personas().delete("p").await;
        assert!(matches!(again, Err(StoreError::UnknownPersona(_))));
    })
    .await;
}

#[tokio::test]
async fn the_default_follows_the_session_then_the_operator_then_the_built_in() {
    on_each_engine(async |home| {
        let store = home.open().await;
        let (a, b) = (session("a"), session("b"));
        for name in ["one", "two"] {
            store.personas().create(&named(name)).await.unwrap();
        }
        let personas = store.personas();
        let default = async |of| personas.default(of).await.unwrap().name;
        assert_eq!(personas.default(None).await.unwrap(), Persona::built_in());
        assert_eq!(Persona::built_in().name, "default");

        personas.set_default(Some("one")).await.unwrap();
        let choose = |name: &'static str| {
            move |s: &mut callgate_store::SessionSettings| s.persona = Some(name.to_owned())
        };
        store
            .settings()
            .change_session(&b, choose("two"))
            .await
            .unwrap();
        assert_eq!(default(None).await, "one");
        assert_eq!(default(Some(&a)).await, "one");
        assert_eq!(default(Some(&b)).await, "two");
        store
            .settings()
            .change_session(&b, choose("default"))
            .await
            .unwrap();
        assert_eq!(default(Some(&b)).await, "default");

        // A choice that is gone counts as none.
        store
            .settings()
            .change_session(&b, choose("gone"))
            .await
            .unwrap();
        assert_eq!(default(Some(&b)).await, "one");
        personas.delete("one").await.unwrap();
        assert_eq!(default(Some(&a)).await, "default");
        let missing = personas.set_default(Some("one")).await;
        assert!(matches!(missing, Err(StoreError::UnknownPersona(_))));
        personas.set_default(Some("two")).await.unwrap();
        personas.set_default(None).await.unwrap();
        assert_eq!(default(None).await, "default");
    })
    .await;
}

#[tokio::test]
async fn a_conversation_is_answered_by_the_nearest_choice() {
    on_each_engine(async |home| {
        let store = home.open().await;
        let a = session("a");
        for name in ["one", "two"] {
            store.personas().create(&named(name)).await.unwrap();
        }
        let answering = async |persona: Option<&str>| {
            let new = NewConversation {
                persona: persona.map(str::to_owned),
                ..NewConversation::default()
            };
            let made = store.conversations().create(&a, new).await.unwrap();
            let answering = store.personas().answering(&made).await.unwrap();
            answering.map(|persona| persona.name)
        };
        let is = |name: &str| Some(name.to_owned());
        assert_eq!(answering(None).await, is("default"));
        store.personas().set_default(Some("one")).await.unwrap();
        assert_eq!(answering(None).await, is("one"));
        assert_eq!(answering(Some("")).await, is("one"));
        assert_eq!(answering(Some("gone\0")).await, is("one"));
        assert_eq!(answering(Some("two")).await, is("two"));
        assert_eq!(answering(Some("default")).await, is("default"));
        assert_eq!(answering(Some(NO_PERSONA)).await, None);
        let chosen = store
            .settings()
            .change_session(&a, move |s| s.persona = is("one"))
            .await;
        chosen.unwrap();
        for persona in [None, Some("two"), Some(NO_PERSONA)] {
            assert_eq!(answering(persona).await, is("one"));
        }
    })
    .await;
}
