//! Approvals, notes, log, outbox, keys and sessions, on both engines.

use std::time::Duration;

use callgate_contract::{
    BoxFuture, Change, DeliveryError, Effect, JournalId, Kind, Message, Outbox, Part, Permission,
    Piece, Provenance, Receipt, Role, Rule, SessionKey, Stop,
};
use callgate_store::{
    ApprovalState, Approver, Ask, Decision, KeyHandle, LogRole, MAX_NOTE_NAME, MAX_NOTE_TEXT,
    NewKey, Standing, Store, StoreError,
};
use callgate_testkit::on_each_engine;
use serde_json::json;

use crate::common::{call, run, session, value};

/// Applies changes the only way there is.
async fn apply(store: &Store, changes: &[Change]) -> Result<(), StoreError> {
    let rows = call(JournalId::fresh(), 1, Effect::Rows);
    store.journal().record(&rows, &value(0), changes).await
}

fn note(name: &str, text: &str) -> Change {
    Change::Remember {
        session: session("a"),
        name: name.to_owned(),
        text: text.to_owned(),
    }
}

fn send(to: &str, text: &str) -> Change {
    Change::Send {
        message: Message {
            session: session(to),
            parts: vec![Part::text(text)],
        },
    }
}

fn ask(sequence: u64, journal: JournalId) -> Ask {
    Ask {
        journal,
        sequence,
        session: session("a"),
        principal: "cli:李四".parse().unwrap(),
        method: "builtin/send_message".to_owned(),
        schema: "5c".to_owned(),
        arguments: json!({"text": "你好\u{0}"}),
        approver: Approver::Operator,
        reason: None,
    }
}

#[tokio::test]
async fn an_approval_is_asked_once_and_answered_once() {
    on_each_engine(async |home| {
        let store = home.open().await;
        let approvals = store.approvals();
        let journal = JournalId::fresh();
        let first = approvals.ask(&ask(1, journal), None).await.unwrap();
        assert_eq!((first.id, first.state), (1, ApprovalState::Pending));
        assert_eq!(first.ask, ask(1, journal));
        assert_eq!(approvals.ask(&ask(1, journal), None).await.unwrap(), first);
        let second = approvals.ask(&ask(2, journal), None).await.unwrap();
        assert_eq!(second.id, 2);

        let answered = approvals
            .answer(1, Decision::Allow, None, Some("ann"))
            .await
            .unwrap();
        assert_eq!(answered.state, ApprovalState::Allowed);
        assert!(answered.answered_at.is_some());
        assert_eq!(answered.answered_by.as_deref(), Some("ann"));
        let of_run = approvals.of(journal).await.unwrap();
        assert_eq!(of_run, [answered.clone(), second.clone()]);
        assert_eq!(
            approvals.ask(&ask(1, journal), None).await.unwrap(),
            answered
        );
        let again = approvals
            .answer(1, Decision::Deny, Some(Standing::default()), None)
            .await
            .unwrap_err();
        assert_eq!(again.to_string(), "approval 1 is already allowed");
        let unknown = approvals.answer(9, Decision::Deny, None, None).await;
        assert!(matches!(unknown, Err(StoreError::UnknownApproval(9))));

        // A restart forgets nothing.
        let store = home.open().await;
        let pending = store.approvals().list(Some(ApprovalState::Pending)).await;
        assert_eq!(pending.unwrap(), std::slice::from_ref(&second));
        let all = store.approvals().list(None).await.unwrap();
        assert_eq!(all, [answered, second]);
    })
    .await;
}

#[tokio::test]
async fn always_leaves_a_rule_for_who_asked_or_for_more_or_for_less() {
    on_each_engine(async |home| {
        let store = home.open().await;
        let (approvals, rules) = (store.approvals(), store.rules());
        let everyone = Standing {
            everyone: true,
            same_arguments: false,
        };
        let same = Standing {
            everyone: false,
            same_arguments: true,
        };
        let usual = Standing::default();
        for (decision, standing, expected) in [
            (Decision::Allow, None, 0),
            (Decision::Allow, Some(usual), 1),
            (Decision::Deny, None, 1),
            // In the place of the one before.
            (Decision::Deny, Some(usual), 1),
            (Decision::Allow, Some(everyone), 2),
            (Decision::Allow, Some(same), 3),
        ] {
            let asked = ask(1, JournalId::fresh());
            let asked = approvals.ask(&asked, None).await.unwrap();
            let answered = approvals.answer(asked.id, decision, standing, Some("ann"));
            answered.await.unwrap();
            assert_eq!(rules.list().await.unwrap().len(), expected);
        }
        let asked = ask(1, JournalId::fresh());
        let stored = rules.list().await.unwrap();
        let kept: Vec<_> = stored
            .iter()
            .map(|stored| {
                let arguments = stored.answer.as_ref().unwrap().arguments.clone();
                (stored.rule.then, stored.rule.person.clone(), arguments)
            })
            .collect();
        let who = Some(asked.principal.clone());
        assert_eq!(
            kept,
            [
                (Permission::Deny, who.clone(), None),
                (Permission::Allow, None, None),
                (Permission::Allow, who, Some(asked.arguments.clone())),
            ]
        );
        for stored in &stored {
            assert_eq!(stored.made_by.as_deref(), Some("ann"));
            assert_eq!(stored.rule.group.as_ref(), Some(&asked.session));
            assert_eq!(stored.answer.as_ref().unwrap().schema, asked.schema);
        }
        assert_eq!(rules.remove(stored[0].id).await.unwrap(), stored[0]);
        assert_eq!(rules.list().await.unwrap(), stored[1..]);
        let again = rules.remove(stored[0].id).await;
        assert!(matches!(again, Err(StoreError::UnknownRule(_))));
    })
    .await;
}

#[tokio::test]
async fn a_rule_is_read_back_as_it_was_made_and_replaces_one_about_the_same() {
    on_each_engine(async |home| {
        let store = home.open().await;
        let whole = Rule {
            platform: Some("onebot".to_owned()),
            group: Some(session("a")),
            role: Some(Role::Guest),
            person: Some("onebot:李四".parse().unwrap()),
            key: Some("ab12".to_owned()),
            method: Some("*".to_owned()),
            origin: Some("plugin:a.b".to_owned()),
            kind: Some(Kind::Behavior),
            effect: Some(Effect::Rows),
            then: Permission::Deny,
        };
        let first = store.rules().add(&whole, "terminal").await.unwrap();
        let second = store
            .rules()
            .add(&Rule::new(Permission::Ask), "key 3")
            .await;
        let second = second.unwrap();
        assert_eq!(
            (first.rule.clone(), first.answer.clone()),
            (whole.clone(), None)
        );
        assert_eq!(store.rules().list().await.unwrap(), [first, second.clone()]);
        let otherwise = Rule {
            then: Permission::Allow,
            ..whole
        };
        let third = store.rules().add(&otherwise, "terminal").await.unwrap();
        assert_eq!(store.rules().list().await.unwrap(), [second, third]);
    })
    .await;
}

#[tokio::test]
async fn what_a_run_asked_is_withdrawn_when_it_ends_without_an_answer() {
    on_each_engine(async |home| {
        let store = home.open().await;
        let (approvals, journal) = (store.approvals(), store.journal());
        for (stop, expected) in [
            (Stop::Approval, ApprovalState::Pending),
            (Stop::Cancelled, ApprovalState::Withdrawn),
        ] {
            let run = run(JournalId::fresh());
            journal.begin(&run).await.unwrap();
            let asked = approvals.ask(&ask(1, run.id), None).await.unwrap();
            journal.finish(run.id, stop, &json!({})).await.unwrap();
            let now = approvals.get(asked.id).await.unwrap();
            assert_eq!(now.state, expected, "{stop:?}");
        }
        let waiting = approvals.pending_in(&session("a")).await.unwrap();
        assert_eq!(waiting.len(), 1);
        assert_eq!(approvals.pending_in(&session("b")).await.unwrap(), []);
    })
    .await;
}

#[tokio::test]
async fn notes_are_found_in_any_script_and_case() {
    on_each_engine(async |home| {
        let store = home.open().await;
        let changes = [
            note("Birthday", "ÉLODIE, 3 May"),
            note("饮食", "他不吃香菜\0"),
            note("old", "x"),
            note("old", "new text"),
            note("gone", "x"),
            Change::Forget {
                session: session("a"),
                name: "gone".to_owned(),
            },
        ];
        apply(&store, &changes).await.unwrap();
        for (query, expected) in [
            ("élodie", vec!["Birthday"]),
            ("BIRTH", vec!["Birthday"]),
            ("香菜", vec!["饮食"]),
            ("饮", vec!["饮食"]),
            ("gone", vec![]),
            ("", vec!["Birthday", "old", "饮食"]),
            ("%", vec![]),
        ] {
            let found = store.notes().search(&session("a"), query).await.unwrap();
            let names: Vec<_> = found.iter().map(|note| &*note.name).collect();
            assert_eq!(names, expected, "{query}");
        }
        let get = async |from: &SessionKey, name: &str| store.notes().get(from, name).await;
        let found = get(&session("a"), "饮食").await.unwrap().unwrap();
        assert_eq!(found.text, "他不吃香菜\0");
        assert_eq!(get(&session("a"), "gone").await.unwrap(), None);
        assert_eq!(get(&session("b"), "old").await.unwrap(), None);
        assert_eq!(store.notes().list(&session("b")).await.unwrap(), []);
    })
    .await;
}

#[tokio::test]
async fn a_note_has_bounds() {
    on_each_engine(async |home| {
        let store = home.open().await;
        let long = "n".repeat(MAX_NOTE_NAME);
        let text = "字".repeat(MAX_NOTE_TEXT / 3);
        apply(&store, &[note(&long, &text)]).await.unwrap();
        for (name, text) in [
            ("", "x"),
            ("n", ""),
            (&*format!("{long}n"), "x"),
            ("n", &*format!("{text}字字")),
            ("a\0b", "x"),
            ("a\nb", "x"),
        ] {
            let refused = apply(&store, &[note(name, text)]).await;
            assert!(refused.is_err(), "{name:?}");
        }
        assert_eq!(store.notes().list(&session("a")).await.unwrap().len(), 1);
    })
    .await;
}

/// Refuses what `refuse` names and remembers the rest.
struct Platform {
    refuse: &'static str,
    got: std::sync::Mutex<Vec<(i64, String)>>,
}

impl Outbox for Platform {
    fn deliver<'a>(&'a self, piece: Piece<'a>) -> BoxFuture<'a, Result<Receipt, DeliveryError>> {
        let text = format!("{:?}", piece.parts);
        let answer = if text.contains(self.refuse) {
            Err(DeliveryError::Unreachable {
                reason: "offline".to_owned(),
            })
        } else {
            Ok(Receipt::default())
        };
        if answer.is_ok() {
            self.got
                .lock()
                .unwrap()
                .push((piece.id, piece.session.id().to_owned()));
        }
        Box::pin(std::future::ready(answer))
    }
}

#[tokio::test]
async fn messages_leave_in_order_and_wait_behind_one_that_cannot() {
    on_each_engine(async |home| {
        let store = home.open().await;
        let messages = [
            send("a", "1"),
            send("a", "bad"),
            send("b", "3"),
            send("a", "4"),
        ];
        apply(&store, &messages).await.unwrap();
        let mut platform = Platform {
            refuse: "bad",
            got: Default::default(),
        };
        let done = store
            .outbox()
            .deliver_pending(None, &platform)
            .await
            .unwrap();
        assert_eq!(done.delivered, 2);
        assert_eq!(done.failed, [(2, "offline".to_owned())]);
        let waiting = store.outbox().pending(Some(&session("a"))).await.unwrap();
        let ids: Vec<i64> = waiting.iter().map(|pending| pending.id).collect();
        assert_eq!(ids, [2, 4]);

        platform.refuse = "nothing";
        let store = home.open().await;
        let done = store
            .outbox()
            .deliver_pending(None, &platform)
            .await
            .unwrap();
        assert_eq!((done.delivered, done.failed.len()), (2, 0));
        assert_eq!(store.outbox().pending(None).await.unwrap(), []);
        let got = platform.got.into_inner().unwrap();
        let expected = [(1, "a"), (3, "b"), (2, "a"), (4, "a")];
        assert_eq!(got, expected.map(|(id, to)| (id, to.to_owned())));
    })
    .await;
}

/// However many they are, and though few are read at a time.
#[tokio::test]
async fn all_that_wait_leave_in_order() {
    on_each_engine(async |home| {
        let store = home.open().await;
        let messages: Vec<Change> = (0..150).map(|n| send("a", &n.to_string())).collect();
        apply(&store, &messages).await.unwrap();
        let platform = Platform {
            refuse: "nothing",
            got: Default::default(),
        };
        let outbox = store.outbox();
        let done = outbox.deliver_pending(Some(&session("a")), &platform).await;
        assert_eq!(done.unwrap().delivered, 150);
        let got = platform.got.into_inner().unwrap();
        assert!(got.is_sorted_by_key(|(id, _)| *id), "{got:?}");
        assert_eq!(got.len(), 150);
    })
    .await;
}

#[tokio::test]
async fn the_log_keeps_what_was_said() {
    on_each_engine(async |home| {
        let store = home.open().await;
        let log = store.log();
        let said = [Part::text("问\0题")];
        log.append(&session("a"), LogRole::User, None, &said)
            .await
            .unwrap();
        let row = Change::SystemRow {
            session: session("a"),
            text: "noted".to_owned(),
            provenance: Provenance::Timer,
        };
        apply(&store, &[send("a", "answer"), row]).await.unwrap();
        let rows = log.list(&session("a"), 10).await.unwrap();
        let rows: Vec<_> = rows.into_iter().map(|row| (row.role, row.parts)).collect();
        let expected = [
            (LogRole::User, said.to_vec()),
            (LogRole::Assistant, vec![Part::text("answer")]),
            (LogRole::System, vec![Part::text("noted")]),
        ];
        assert_eq!(rows, expected);
        let newest = log.list(&session("a"), 1).await.unwrap();
        assert_eq!(newest[0].role, LogRole::System);
    })
    .await;
}

#[tokio::test]
async fn a_key_opens_until_revoked_and_is_not_stored() {
    on_each_engine(async |home| {
        let store = home.open().await;
        let scopes = ["models".to_owned()];
        let (id, text) = store.keys().create(&scopes).await.unwrap();
        let (_, other) = store.keys().create(&[]).await.unwrap();
        assert_ne!(text, other);
        let key = store.keys().verify(&text).await.unwrap().unwrap();
        assert_eq!((&key.id, &*key.scopes), (&id, &scopes[..]));
        for wrong in ["", "callgate_", &text.to_uppercase(), &format!("{text}0")] {
            assert_eq!(store.keys().verify(wrong).await.unwrap(), None);
        }
        store.keys().revoke(&id).await.unwrap();
        assert_eq!(store.keys().verify(&text).await.unwrap(), None);
        let again = store.keys().revoke(&id).await;
        assert!(matches!(again, Err(StoreError::UnknownKey(_))));
        let list = store.keys().list().await.unwrap();
        assert_eq!(list.len(), 2);
        let secret = text.trim_start_matches("callgate_");
        assert!(!format!("{list:?}").contains(secret));
        if home.options().url.is_none() {
            for file in ["callgate.db", "callgate.db-wal"] {
                let bytes = std::fs::read(home.data().join(file)).unwrap_or_default();
                let found = bytes.windows(secret.len()).any(|w| w == secret.as_bytes());
                assert!(!found, "the key's text is in {file}");
            }
        }
    })
    .await;
}

#[tokio::test]
async fn a_key_opens_until_it_expires() {
    on_each_engine(async |home| {
        let store = home.open().await;
        let now = jiff::Timestamp::now();
        for (seconds, opens) in [(-1, false), (3_600, true)] {
            let expires_at = now + jiff::SignedDuration::from_secs(seconds);
            let key = NewKey {
                expires_at: Some(expires_at),
                ..NewKey::default()
            };
            let (_, text) = store.keys().create_as(key).await.unwrap();
            let found = store.keys().verify(&text).await.unwrap();
            assert_eq!(found.is_some(), opens);
        }
    })
    .await;
}

#[tokio::test]
async fn a_login_is_no_key_and_ends_with_its_own() {
    on_each_engine(async |home| {
        let store = home.open().await;
        let (keys, logins) = (store.keys(), store.logins());
        let (id, text) = keys.create(&["models".to_owned()]).await.unwrap();
        let key = keys.verify(&text).await.unwrap().unwrap();
        let (one, other) = (logins.begin(&key).await, logins.begin(&key).await);
        let (one, other) = (one.unwrap(), other.unwrap());
        assert_eq!(keys.verify(&one).await.unwrap(), None);
        assert!(logins.verify(&text).await.unwrap().is_none());
        let first = logins.verify(&one).await.unwrap().unwrap();
        let second = logins.verify(&other).await.unwrap().unwrap();
        assert_eq!(first.key.id, id);
        let handles = [
            logins.handle(&first),
            logins.handle(&second),
            keys.handle(&id),
        ];
        let over = || handles.each_ref().map(KeyHandle::is_revoked);
        logins.end(&first.id).await.unwrap();
        assert_eq!(over(), [true, false, false]);
        assert!(logins.verify(&one).await.unwrap().is_none());
        keys.revoke(&id).await.unwrap();
        assert_eq!(over(), [true; 3]);
        assert!(logins.verify(&other).await.unwrap().is_none());
    })
    .await;
}

#[tokio::test]
async fn sessions_get_numbers_from_one_however_many_ask_at_once() {
    on_each_engine(async |home| {
        // Two stores on one database, as two processes would have.
        let stores = [home.open().await, home.open().await];
        let mut asking = tokio::task::JoinSet::new();
        for n in 0..40 {
            let store = stores[n % 2].clone();
            asking.spawn(async move {
                let key = session(&format!("{}", n / 4));
                store.sessions().open(&key).await.unwrap()
            });
        }
        let opened = asking.join_all().await;
        let list = stores[0].sessions().list().await.unwrap();
        assert_eq!(list.len(), 10);
        for session in &opened {
            assert!(list.contains(session));
            let found = stores[1].sessions().get(&session.key).await.unwrap();
            assert_eq!(found.as_ref(), Some(session));
        }
        let mut numbers: Vec<u32> = list.iter().map(|session| session.number).collect();
        numbers.sort();
        assert_eq!(numbers, (1..=10).collect::<Vec<_>>());
        let nobody = stores[0].sessions().get(&session("nobody")).await.unwrap();
        assert_eq!(nobody, None);
    })
    .await;
}

#[tokio::test]
async fn what_could_not_be_sent_is_tried_again() {
    on_each_engine(async |home| {
        let store = home.open().await;
        apply(&store, &[send("a", "bad")]).await.unwrap();
        let mut platform = Platform {
            refuse: "bad",
            got: Default::default(),
        };
        let failed = store.outbox().deliver_pending(None, &platform).await;
        assert_eq!(failed.unwrap().failed.len(), 1);
        platform.refuse = "nothing";
        let done = store.outbox().deliver_pending(None, &platform).await;
        assert_eq!(done.unwrap().delivered, 1);
    })
    .await;
}

#[tokio::test]
async fn whoever_holds_a_key_hears_of_its_end_whoever_revoked_it() {
    on_each_engine(async |home| {
        // As two instances on one database.
        let (here, there) = (home.open().await, home.open().await);
        let soon = Duration::from_secs(20);
        for revokes in [&here, &there] {
            let (id, _) = here.keys().create(&[]).await.unwrap();
            let (other, _) = here.keys().create(&[]).await.unwrap();
            let (held, kept) = (here.keys().handle(&id), here.keys().handle(&other));
            assert!(!held.is_revoked());
            revokes.keys().revoke(&id).await.unwrap();
            tokio::time::timeout(soon, held.revoked()).await.unwrap();
            assert!(held.is_revoked() && here.keys().handle(&id).is_revoked());
            assert!(!kept.is_revoked());
        }
    })
    .await;
}
