//! Conversations: every operation of the seed's manager, and what concurrency and compaction may
//! not do to a history.

use callgate_contract::{ConversationId, JournalId};
use callgate_store::{
    ConversationUpdate, Conversations, HistoryRow, NewConversation, NewMessage, Store, StoreError,
};
use callgate_testkit::on_each_engine;
use serde_json::{Value as Json, json};

use crate::common::{end, said, session, turn};

fn messages(history: &[HistoryRow]) -> Vec<Json> {
    history.iter().map(|row| row.message.clone()).collect()
}

fn positions(history: &[HistoryRow]) -> Vec<u64> {
    history.iter().map(|row| row.position).collect()
}

async fn with_messages(store: &Store, count: usize) -> ConversationId {
    let new = NewConversation {
        messages: (1..=count).map(|n| said("user", &format!("{n}"))).collect(),
        ..NewConversation::default()
    };
    let created = store.conversations().create(&session("a"), new).await;
    created.unwrap().id
}

fn history(history: Vec<Json>) -> ConversationUpdate {
    ConversationUpdate {
        history: Some(history),
        ..ConversationUpdate::default()
    }
}

async fn is_unknown(conversations: &Conversations<'_>, id: ConversationId) -> bool {
    let found = conversations.history(id).await;
    matches!(found, Err(StoreError::UnknownConversation(unknown)) if unknown == id)
}

#[tokio::test]
async fn a_new_conversation_becomes_the_current_one() {
    on_each_engine(async |home| {
        let store = home.open().await;
        let conversations = store.conversations();
        let key = "p:GroupMessage:a:b!c".parse().unwrap();
        assert_eq!(conversations.current(&key).await.unwrap(), None);
        let plain = conversations.create(&key, NewConversation::default());
        let plain = plain.await.unwrap();
        assert_eq!((&plain.session, &*plain.platform), (&key, "p"));
        assert_eq!((&plain.title, &plain.persona), (&None, &None));
        assert!(plain.created_at.as_second() > 0);
        assert_eq!(plain.created_at, plain.updated_at);
        assert_eq!(conversations.history(plain.id).await.unwrap(), []);

        let first = vec![
            said("user", "hi\0"),
            json!({"role": "tool", "content": [1]}),
        ];
        let full = NewConversation {
            platform: Some("other".to_owned()),
            messages: first.clone(),
            title: Some("标\0题".to_owned()),
            persona: Some("诗人".to_owned()),
        };
        let full = conversations.create(&key, full).await.unwrap();
        assert_eq!(full.platform, "other");
        assert_eq!(full.title.as_deref(), Some("标\0题"));
        assert_eq!(full.persona.as_deref(), Some("诗人"));
        let found = conversations.history(full.id).await.unwrap();
        assert_eq!(messages(&found), first);
        assert_eq!(positions(&found), [1, 2]);

        let store = home.open().await;
        let current = store.conversations().current(&key).await.unwrap();
        assert_eq!(current, Some(full.id));
        let got = store.conversations().get(full.id).await.unwrap();
        assert_eq!(got, Some(full));
    })
    .await;
}

#[tokio::test]
async fn switching_needs_a_conversation_of_the_session() {
    on_each_engine(async |home| {
        let store = home.open().await;
        let conversations = store.conversations();
        let first = with_messages(&store, 0).await;
        let second = with_messages(&store, 0).await;
        conversations.switch(&session("a"), first).await.unwrap();
        let current = async |of| conversations.current(&session(of)).await.unwrap();
        assert_eq!(current("a").await, Some(first));

        let unknown = ConversationId::fresh();
        for (of, id) in [("a", unknown), ("b", second)] {
            let switched = conversations.switch(&session(of), id).await;
            assert!(matches!(switched, Err(StoreError::UnknownConversation(_))));
        }
        assert_eq!(
            (current("a").await, current("b").await),
            (Some(first), None)
        );
        let unchecked = conversations.switch_unchecked(&session("a"), unknown).await;
        unchecked.unwrap();
        assert_eq!(current("a").await, Some(unknown));
    })
    .await;
}

#[tokio::test]
async fn deleting_takes_the_named_or_the_current_one() {
    on_each_engine(async |home| {
        let store = home.open().await;
        let first = with_messages(&store, 2).await;
        let second = with_messages(&store, 2).await;
        let third = with_messages(&store, 2).await;
        let conversations = store.conversations();
        assert!(
            conversations
                .delete(&session("a"), Some(second))
                .await
                .unwrap()
        );
        assert_eq!(
            conversations.current(&session("a")).await.unwrap(),
            Some(third)
        );

        // The current one is known right after a restart.
        let store = home.open().await;
        let conversations = store.conversations();
        assert!(conversations.delete(&session("a"), None).await.unwrap());
        assert_eq!(conversations.current(&session("a")).await.unwrap(), None);
        assert!(!conversations.delete(&session("a"), None).await.unwrap());

        let left = conversations.list(Some(&session("a")), None).await.unwrap();
        assert_eq!(left.iter().map(|c| c.id).collect::<Vec<_>>(), [first]);
        for id in [second, third] {
            assert_eq!(conversations.get(id).await.unwrap(), None);
            assert!(is_unknown(&conversations, id).await);
        }
        for (of, id) in [("a", second), ("b", first)] {
            let deleted = conversations.delete(&session(of), Some(id)).await;
            assert!(matches!(deleted, Err(StoreError::UnknownConversation(_))));
        }
        // What a session was switched to without a check may not exist.
        let unchecked = conversations.switch_unchecked(&session("a"), second).await;
        unchecked.unwrap();
        assert!(!conversations.delete(&session("a"), None).await.unwrap());
    })
    .await;
}

#[tokio::test]
async fn a_missing_conversation_is_made_only_where_asked() {
    on_each_engine(async |home| {
        let store = home.open().await;
        let conversations = store.conversations();
        let unknown = ConversationId::fresh();
        assert_eq!(conversations.get(unknown).await.unwrap(), None);
        assert_eq!(conversations.list(None, None).await.unwrap(), []);

        let made = conversations
            .get_or_create(&session("a"), Some(unknown))
            .await;
        let made = made.unwrap();
        assert_ne!(made.id, unknown);
        let current = conversations.current(&session("a")).await.unwrap();
        assert_eq!(current, Some(made.id));
        let again = conversations
            .get_or_create(&session("a"), Some(made.id))
            .await;
        assert_eq!(again.unwrap(), made);
        // Another session does not reach it.
        let other = conversations
            .get_or_create(&session("b"), Some(made.id))
            .await;
        assert_ne!(other.unwrap().id, made.id);
        let owned = conversations.owned(&session("b"), made.id).await;
        assert!(matches!(owned, Err(StoreError::UnknownConversation(_))));
        let owned = conversations.owned(&session("a"), made.id).await;
        assert_eq!(owned.unwrap(), made);
        let fresh = conversations.get_or_create(&session("c"), None).await;
        assert_eq!(fresh.unwrap().session, session("c"));
    })
    .await;
}

#[tokio::test]
async fn lists_are_newest_first_by_session_and_platform() {
    on_each_engine(async |home| {
        let store = home.open().await;
        let conversations = store.conversations();
        let mut made = Vec::new();
        for (key, platform) in [
            ("p:FriendMessage:1", None),
            ("p:FriendMessage:2", None),
            ("q:FriendMessage:1", Some("p")),
            ("q:FriendMessage:1", None),
        ] {
            let new = NewConversation {
                platform: platform.map(str::to_owned),
                ..NewConversation::default()
            };
            let key = key.parse().unwrap();
            made.push(conversations.create(&key, new).await.unwrap().id);
        }
        let one = "q:FriendMessage:1".parse().unwrap();
        let nobody = "q:FriendMessage:9".parse().unwrap();
        for (session, platform, expected) in [
            (None, None, vec![3, 2, 1, 0]),
            (None, Some("p"), vec![2, 1, 0]),
            (Some(&one), None, vec![3, 2]),
            (Some(&one), Some("q"), vec![3]),
            (Some(&nobody), None, vec![]),
        ] {
            let listed = conversations.list(session, platform).await.unwrap();
            let listed: Vec<_> = listed.iter().map(|c| c.id).collect();
            let expected: Vec<_> = expected.into_iter().map(|n: usize| made[n]).collect();
            assert_eq!(listed, expected);
        }
    })
    .await;
}

#[tokio::test]
async fn an_update_changes_only_what_it_names() {
    on_each_engine(async |home| {
        let store = home.open().await;
        let conversations = store.conversations();
        let a = session("a");
        let nothing = ConversationUpdate::default();
        assert!(!conversations.update(&a, None, nothing).await.unwrap());
        let id = with_messages(&store, 2).await;
        let was = conversations.get(id).await.unwrap().unwrap();

        let title = ConversationUpdate {
            title: Some("t".to_owned()),
            ..ConversationUpdate::default()
        };
        assert!(conversations.update(&a, None, title).await.unwrap());
        let persona = ConversationUpdate {
            persona: Some("p".to_owned()),
            ..ConversationUpdate::default()
        };
        assert!(conversations.update(&a, Some(id), persona).await.unwrap());
        let now = conversations.get(id).await.unwrap().unwrap();
        assert_eq!(now.title.as_deref(), Some("t"));
        assert_eq!(now.persona.as_deref(), Some("p"));
        assert_eq!(now.created_at, was.created_at);
        assert!(now.updated_at >= was.updated_at);
        let kept = conversations.history(id).await.unwrap();
        assert_eq!(kept.len(), 2);

        let new = vec![said("user", "new")];
        conversations
            .update(&a, None, history(new.clone()))
            .await
            .unwrap();
        let replaced = conversations.history(id).await.unwrap();
        assert_eq!((messages(&replaced), positions(&replaced)), (new, vec![3]));
        let now = conversations.get(id).await.unwrap().unwrap();
        assert_eq!(now.title.as_deref(), Some("t"));
        conversations
            .update(&a, None, history(vec![]))
            .await
            .unwrap();
        assert_eq!(conversations.history(id).await.unwrap(), []);
        assert_eq!(conversations.context(id).await.unwrap(), []);

        let foreign = conversations
            .update(&session("b"), Some(id), history(vec![]))
            .await;
        assert!(matches!(foreign, Err(StoreError::UnknownConversation(_))));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_hundred_pairs_at_once_stay_pairs() {
    on_each_engine(async |home| {
        // Two stores on one database, as two processes would have.
        let stores = [home.open().await, home.open().await];
        let id = with_messages(&stores[0], 0).await;
        let mut adding = tokio::task::JoinSet::new();
        for n in 0..100 {
            let store = stores[n % 2].clone();
            adding.spawn(async move {
                let (user, assistant) = (
                    said("user", &n.to_string()),
                    said("assistant", &n.to_string()),
                );
                let added = store
                    .conversations()
                    .add_message_pair(id, user, assistant)
                    .await;
                added.unwrap()
            });
        }
        adding.join_all().await;
        let history = stores[0].conversations().history(id).await.unwrap();
        assert_eq!(positions(&history), (1..=200).collect::<Vec<_>>());
        let mut seen = std::collections::BTreeSet::new();
        let (pairs, _) = history.as_chunks::<2>();
        for [user, assistant] in pairs {
            assert_eq!(user.message["role"], "user");
            assert_eq!(assistant.message["role"], "assistant");
            assert_eq!(user.message["content"], assistant.message["content"]);
            seen.insert(user.message["content"].to_string());
        }
        assert_eq!(seen.len(), 100);
    })
    .await;
}

#[tokio::test]
async fn appending_to_nothing_is_an_error() {
    on_each_engine(async |home| {
        let store = home.open().await;
        let id = ConversationId::fresh();
        let conversations = store.conversations();
        let added = conversations.add_message_pair(id, said("user", "x"), said("assistant", "y"));
        let added = added.await;
        assert!(matches!(added, Err(StoreError::UnknownConversation(_))));
        assert!(is_unknown(&conversations, id).await);
        let context = conversations.context(id).await;
        assert!(matches!(context, Err(StoreError::UnknownConversation(_))));
        let compacted = conversations
            .compact(id, 1, &said("system", "s").into())
            .await;
        assert!(matches!(compacted, Err(StoreError::UnknownConversation(_))));
        let forked = conversations.fork(id, None).await;
        assert!(matches!(forked, Err(StoreError::UnknownConversation(_))));
    })
    .await;
}

#[tokio::test]
async fn a_summary_stands_for_what_it_covers_and_deletes_nothing() {
    on_each_engine(async |home| {
        let store = home.open().await;
        let conversations = store.conversations();
        let id = with_messages(&store, 4).await;
        let summary = |text: &str| NewMessage::from(said("system", text));
        let at = conversations.compact(id, 3, &summary("1-3")).await.unwrap();
        assert_eq!(at, 5);
        conversations
            .append(id, &[said("user", "5").into()])
            .await
            .unwrap();
        let context = conversations.context(id).await.unwrap();
        assert_eq!(positions(&context), [5, 4, 6]);
        assert_eq!(context[0].covers, Some(3));
        let whole = conversations.history(id).await.unwrap();
        assert_eq!(positions(&whole), [1, 2, 3, 4, 5, 6]);

        // A later one takes the place of the first.
        conversations.compact(id, 6, &summary("1-5")).await.unwrap();
        conversations
            .append(id, &[said("user", "6").into()])
            .await
            .unwrap();
        let context = conversations.context(id).await.unwrap();
        let texts: Vec<_> = context.iter().map(|row| &row.message["content"]).collect();
        assert_eq!(texts, ["1-5", "6"]);

        for upto in [0, 9, 99] {
            let refused = conversations.compact(id, upto, &summary("x")).await;
            assert!(
                matches!(refused, Err(StoreError::Position { .. })),
                "{upto}"
            );
        }
        assert_eq!(conversations.history(id).await.unwrap().len(), 8);

        // A replaced history has no summary.
        let replaced = history(vec![said("user", "new")]);
        conversations
            .update(&session("a"), None, replaced)
            .await
            .unwrap();
        let context = conversations.context(id).await.unwrap();
        assert_eq!(messages(&context), [said("user", "new")]);
    })
    .await;
}

#[tokio::test]
async fn a_fork_has_the_history_up_to_its_point() {
    on_each_engine(async |home| {
        let store = home.open().await;
        let conversations = store.conversations();
        let a = session("a");
        let id = with_messages(&store, 1).await;
        let four = (1..=4).map(|n| said("user", &n.to_string())).collect();
        conversations.update(&a, None, history(four)).await.unwrap();
        // Positions 2 to 5, and the summary is 6.
        conversations
            .compact(id, 3, &said("system", "s").into())
            .await
            .unwrap();
        let title = ConversationUpdate {
            title: Some("t".to_owned()),
            ..ConversationUpdate::default()
        };
        conversations.update(&a, None, title).await.unwrap();

        let whole = conversations.fork(id, None).await.unwrap();
        assert_eq!((&whole.session, whole.title.as_deref()), (&a, Some("t")));
        assert_eq!(conversations.current(&a).await.unwrap(), Some(id));
        let copied = conversations.context(whole.id).await.unwrap();
        let original = conversations.context(id).await.unwrap();
        assert_eq!(messages(&copied), messages(&original));
        assert_eq!(positions(&copied), [5, 3, 4]);

        let part = conversations.fork(id, Some(4)).await.unwrap();
        conversations
            .append(part.id, &[said("user", "own").into()])
            .await
            .unwrap();
        let copied = conversations.history(part.id).await.unwrap();
        let texts: Vec<_> = copied.iter().map(|row| &row.message["content"]).collect();
        assert_eq!(texts, ["1", "2", "3", "own"]);
        assert_eq!(positions(&copied), [1, 2, 3, 4]);
        assert_eq!(conversations.history(id).await.unwrap().len(), 5);

        // What is deleted in one stays in the other.
        conversations.delete(&a, Some(id)).await.unwrap();
        assert_eq!(conversations.history(whole.id).await.unwrap().len(), 5);
    })
    .await;
}

#[tokio::test]
async fn a_turn_leaves_its_messages_with_its_id_and_tokens() {
    on_each_engine(async |home| {
        let store = home.open().await;
        let conversation = with_messages(&store, 1).await;
        let id = JournalId::fresh();
        let mut start = turn(id, session("a"));
        start.conversation = Some(conversation);
        store.turns().begin(&start, &[]).await.unwrap();
        let answer = NewMessage {
            message: said("assistant", "a"),
            tokens: Some(7),
        };
        let messages = [said("user", "q").into(), answer];
        store.turns().finish(id, end(&messages, &[])).await.unwrap();
        let history = store.conversations().history(conversation).await.unwrap();
        assert_eq!(positions(&history), [1, 2, 3]);
        assert_eq!((history[0].turn, history[2].turn), (None, Some(id)));
        assert_eq!((history[1].tokens, history[2].tokens), (None, Some(7)));
    })
    .await;
}

#[tokio::test]
async fn a_history_is_searched_by_its_words() {
    on_each_engine(async |home| {
        let store = home.open().await;
        let new = NewConversation {
            messages: vec![said("user", "Where is the Grünkohl?")],
            ..NewConversation::default()
        };
        let conversations = store.conversations();
        let created = conversations.create(&session("a"), new).await.unwrap();
        for (words, holds) in [("grünkohl", true), ("WHERE", true), ("elsewhere", false)] {
            let found = conversations.holds(created.id, words).await.unwrap();
            assert_eq!(found, holds, "{words}");
        }
    })
    .await;
}
