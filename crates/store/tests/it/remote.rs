//! Rows of remote clients: who asked to be let in, what was asked before, what is served.

use std::time::Duration;

use callgate_store::{Claim, ClientState, NameOf, NewClient, Resource, StoreError};
use callgate_testkit::on_each_engine;

fn asks<'a>(id: &'a str, origin: Option<&'a str>) -> NewClient<'a> {
    NewClient {
        id,
        kind: "SillyTavern",
        description: "页\0",
        origin,
    }
}

#[tokio::test]
async fn a_client_asks_and_the_answer_stays() {
    on_each_engine(async |home| {
        let store = home.open().await;
        let clients = store.clients();
        let first = clients
            .ask(asks("a", Some("http://localhost:8000")))
            .await
            .unwrap();
        assert_eq!(
            (first.state, first.description.as_str()),
            (ClientState::Pending, "页\0")
        );
        let moved = clients.ask(asks("a", None)).await.unwrap();
        assert_eq!(moved.origin, None, "who waits may come from elsewhere");
        clients
            .ask(asks("a", Some("http://localhost:8000")))
            .await
            .unwrap();
        clients.decide("a", ClientState::Approved).await.unwrap();
        let again = clients
            .ask(asks("a", Some("http://evil.example")))
            .await
            .unwrap();
        assert_eq!(again.state, ClientState::Approved);
        assert_eq!(
            again.origin.as_deref(),
            Some("http://localhost:8000"),
            "and then it is fixed"
        );
        let unknown = clients.decide("b", ClientState::Approved).await;
        assert!(matches!(unknown, Err(StoreError::UnknownClient(_))));
        for number in 0..300 {
            clients
                .ask(asks(&format!("many-{number}"), None))
                .await
                .unwrap();
        }
        let listed = clients.list().await.unwrap();
        assert_eq!(listed.len(), 257, "256 that wait, and the approved one");
        assert!(listed.iter().any(|client| client.id == "a"));
    })
    .await;
}

#[tokio::test]
async fn a_clients_name_is_its_first_users_for_good() {
    on_each_engine(async |home| {
        let store = home.open().await;
        let names = store.client_names();
        let claim = async |name: &str, of, owner: &str| names.claim(name, of, owner).await;
        claim("ada", NameOf::Client, "key-1").await.unwrap();
        claim("ada", NameOf::Client, "key-1").await.unwrap();
        let taken = claim("ada", NameOf::Client, "key-2").await;
        assert!(matches!(taken, Err(StoreError::NameTaken(name)) if name == "ada"));
        assert_eq!(names.owner("ada").await.unwrap().as_deref(), Some("key-1"));

        // Whoever asked meanwhile cannot be approved under it; nothing is decided then.
        let clients = store.clients();
        clients.ask(asks("ada", None)).await.unwrap();
        let refused = clients.decide("ada", ClientState::Approved).await;
        assert!(matches!(refused, Err(StoreError::NameTaken(_))));
        let known = clients.find("ada").await.unwrap().unwrap();
        assert_eq!(known.state, ClientState::Pending);

        // A key for a client that only asks changes nothing; one that the operator makes does.
        let (keys, scopes) = (store.keys(), ["methods".to_owned()]);
        keys.create_asking(&scopes, "ada").await.unwrap();
        assert_eq!(names.owner("ada").await.unwrap().as_deref(), Some("key-1"));
        let (id, _) = keys
            .create_as(callgate_store::NewKey {
                scopes: scopes.to_vec(),
                client: Some("ada".to_owned()),
                ..Default::default()
            })
            .await
            .unwrap();
        keys.revoke(&id).await.unwrap();
        let owner = names.owner("ada").await.unwrap();
        assert_eq!(owner.as_deref(), Some("client-ada"));
        clients.decide("ada", ClientState::Approved).await.unwrap();

        // Instances may be new at every start: old ones make room, unless they are in one.
        claim("kept", NameOf::Instance, "key-1").await.unwrap();
        store.rooms().create("tea", "kept").await.unwrap();
        claim("first", NameOf::Instance, "key-1").await.unwrap();
        for number in 0..1_000 {
            let name = format!("instance-{number}");
            claim(&name, NameOf::Instance, "key-1").await.unwrap();
        }
        for (name, owner) in [
            ("kept", Some("key-1")),
            ("first", None),
            ("instance-999", Some("key-1")),
        ] {
            assert_eq!(names.owner(name).await.unwrap().as_deref(), owner, "{name}");
        }
    })
    .await;
}

#[tokio::test]
async fn an_answer_is_about_one_key_at_a_time() {
    on_each_engine(async |home| {
        let store = home.open().await;
        let clients = store.clients();
        let (here, there) = (Some("http://localhost:8000"), Some("http://localhost:9000"));
        clients.ask(asks("a", here)).await.unwrap();
        for key in ["one", "two"] {
            assert!(clients.hold(asks("a", here), key).await.unwrap());
            let known = clients.find("a").await.unwrap().unwrap();
            assert_eq!(known.key.as_deref(), Some(key));
        }
        for origin in [there, None] {
            assert!(!clients.hold(asks("a", origin), "three").await.unwrap());
        }
        clients.decide("a", ClientState::Revoked).await.unwrap();
        assert!(!clients.hold(asks("a", here), "three").await.unwrap());
        let known = clients.find("a").await.unwrap().unwrap();
        assert_eq!(known.key.as_deref(), Some("two"));
    })
    .await;
}

#[tokio::test]
async fn a_name_leads_to_the_journal_of_its_call_and_to_no_other() {
    on_each_engine(async |home| {
        let store = home.open().await;
        let hour = Duration::from_secs(3600);
        let claim = async |asker: &str, name: &str, call: &str| {
            let claimed = store
                .requests()
                .claim(asker, name, call.as_bytes(), hour)
                .await;
            claimed.unwrap()
        };
        let Claim::First(journal) = claim("me", "1", "call").await else {
            panic!("nobody asked before");
        };
        assert_eq!(claim("me", "1", "call").await, Claim::Repeated(journal));
        for (asker, name) in [("you", "1"), ("me", "2"), ("m", "e1")] {
            let claimed = claim(asker, name, "call").await;
            assert!(matches!(claimed, Claim::First(_)), "{asker} {name}");
        }
        assert_eq!(claim("me", "1", "other").await, Claim::OtherCall);
        assert_eq!(claim("me", "1", "call").await, Claim::Repeated(journal));
        tokio::time::sleep(Duration::from_millis(5)).await;
        let late = store
            .requests()
            .claim("me", "1", b"other", Duration::from_millis(1))
            .await;
        assert!(matches!(late, Ok(Claim::First(_))), "after the window");
    })
    .await;
}

#[tokio::test]
async fn resources_and_keys_of_clients_read_back() {
    on_each_engine(async |home| {
        let store = home.open().await;
        let resource = |path: &str| Resource {
            url: "/x".to_owned(),
            path: path.to_owned(),
            client: "me".to_owned(),
        };
        store.resources().put(&resource("web")).await.unwrap();
        store.resources().put(&resource("other")).await.unwrap();
        assert_eq!(store.resources().list().await.unwrap(), [resource("other")]);

        let scopes = ["methods".to_owned()];
        let (id, text) = store
            .keys()
            .create_as(callgate_store::NewKey {
                scopes: scopes.to_vec(),
                client: Some("a".to_owned()),
                ..Default::default()
            })
            .await
            .unwrap();
        store.keys().create(&scopes).await.unwrap();
        // Before it is used: that it was is written down meanwhile.
        let held = store.keys().of_client("a").await.unwrap();
        let key = store.keys().verify(&text).await.unwrap().unwrap();
        assert_eq!(key.client.as_deref(), Some("a"));
        assert_eq!(held, [key]);
        store.keys().revoke(&id).await.unwrap();
        assert!(store.keys().of_client("a").await.unwrap().is_empty());
    })
    .await;
}
