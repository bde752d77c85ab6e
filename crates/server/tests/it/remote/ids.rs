//! An id belongs to whoever used it first: everybody else who says it is refused, and the owner notices
//! nothing.

use callgate_store::ClientState;
use serde_json::{Value as Json, json};

use super::{client::Client, scene::Scene};

const NAMESPACES: [&str; 6] = [
    "/function_call",
    "/llm",
    "/rooms",
    "/clients",
    "/auth",
    "/sillytavern",
];

async fn refused(scene: &Scene, namespace: &str, auth: &Json) -> String {
    let come = Client::connect(&scene.address, namespace, auth.clone()).await;
    let said = come.map(drop).unwrap_err();
    assert!(said.contains("belongs to somebody else"), "{said}");
    said
}

#[tokio::test]
async fn an_id_is_bound_to_the_key_that_used_it_first_for_good() {
    let scene = Scene::new().await;
    let (own, other) = (scene.key().await, scene.key().await);
    let operator = scene.key_for(&["operator"]).await;
    let auth = |key: &str| json!({ "clientId": "mine", "clientType": "test", "key": key });
    let mut owner = Client::connect(&scene.address, "/function_call", auth(&own))
        .await
        .unwrap();
    for namespace in NAMESPACES {
        for key in [&other, &operator] {
            let said = refused(&scene, namespace, &auth(key)).await;
            assert!(said.starts_with("Invalid key."), "{said}");
        }
        for guest in [json!({ "clientId": "mine" }), auth("getKey")] {
            let said = refused(&scene, namespace, &guest).await;
            assert!(said.starts_with("Client is not trusted."), "{said}");
        }
    }
    assert_eq!(owner.call("add", json!([1, 2])).await["result"], 3.0);
    assert_eq!(scene.remote.roster().sockets("mine").len(), 1);

    // Also when nobody is connected, after a restart, and when the key is gone.
    drop(owner);
    let scene = scene.restarted().await;
    refused(&scene, "/llm", &auth(&other)).await;
    refused(&scene, "/llm", &json!({ "clientId": "mine" })).await;
    let held = scene.store.keys().verify(&own).await.unwrap().unwrap();
    scene.store.keys().revoke(&held.id).await.unwrap();
    refused(&scene, "/llm", &auth(&other)).await;

    // The operator hands it on by making a key for it.
    let handed = scene.remote.clients().issue("mine").await.unwrap();
    let mut next = Client::connect(&scene.address, "/function_call", auth(&handed))
        .await
        .unwrap();
    assert_eq!(next.call("add", json!([1, 2])).await["result"], 3.0);
    refused(&scene, "/llm", &auth(&other)).await;
}

#[tokio::test]
async fn a_key_made_for_an_id_ends_whoever_used_it_by_another() {
    let scene = Scene::new().await;
    let mut squatter = scene.client("mine").await;
    scene.remote.clients().issue("mine").await.unwrap();
    assert_eq!(squatter.hear().await.as_deref(), Some("1/function_call,"));
}

#[tokio::test]
async fn nobody_bears_our_names_a_rooms_or_that_of_another_key() {
    let scene = Scene::new().await;
    let key = scene.key().await;
    let other = scene.client("other").await;
    let (id, _) = scene
        .store
        .keys()
        .create(&["methods".to_owned()])
        .await
        .unwrap();
    scene.store.rooms().create("tea", "other").await.unwrap();
    for name in ["server", "System", &format!("key-{id}"), "tea", "other"] {
        let auth = json!({ "clientId": name, "key": key });
        let come = Client::connect(&scene.address, "/llm", auth).await;
        assert!(come.is_err(), "{name}");
        let auth = json!({ "clientId": "mine", "identity": name, "key": key });
        let come = Client::connect(&scene.address, "/llm", auth).await;
        assert!(come.is_err(), "{name} as identity");
    }
    // A key for one client has a say in that client's instances alone.
    let bound = scene.remote.clients().issue("shop").await.unwrap();
    for (identity, admitted) in [("shop-2", true), ("victim", false), ("other", false)] {
        let auth = json!({ "clientId": "shop", "identity": identity, "key": bound });
        let come = Client::connect(&scene.address, "/llm", auth).await;
        assert_eq!(come.is_ok(), admitted, "{identity}");
    }
    drop(other);
}

/// The extension from one page, and others that say the same id.
async fn page(scene: &Scene, origin: Option<&'static str>, key: &str) -> Result<Client, String> {
    let headers: Vec<(&'static str, &str)> = origin
        .map(|origin| ("Origin", origin))
        .into_iter()
        .collect();
    let mut client = Client::open(&scene.address, &headers).await;
    let auth = json!({ "clientId": "SillyTavern-8000", "clientType": "SillyTavern", "key": key });
    let namespace = if key == "getKey" {
        "/sillytavern"
    } else {
        "/llm"
    };
    client.join(namespace, auth).await.map(|()| client)
}

async fn identify(client: &mut Client) -> Json {
    let said = json!({ "clientId": "SillyTavern-8000" });
    client.ask("IDENTIFY_SILLYTAVERN", &[said]).await
}

const HOME: Option<&str> = Some("http://localhost:8000");

#[tokio::test]
async fn an_approval_is_for_the_one_page_that_was_approved() {
    let scene = Scene::new().await;
    let first = identify(&mut page(&scene, HOME, "getKey").await.unwrap()).await;
    let first = first["key"].as_str().unwrap().to_owned();
    let mut one = page(&scene, HOME, &first).await.unwrap();

    // While it waits for the operator's word, another page asks under the same id.
    for origin in [HOME, Some("http://localhost:9000"), None] {
        let answer = identify(&mut page(&scene, origin, "getKey").await.unwrap()).await;
        assert_eq!(answer["status"], "error", "{answer}");
        let message = answer["message"].as_str().unwrap();
        assert!(message.starts_with("SillyTavern extension already connected."));
    }
    let decide = async |state| {
        let clients = scene.remote.clients();
        clients.decide("SillyTavern-8000", state).await.unwrap();
    };
    let request = json!({ "requestId": "r", "message": "hello" });
    let early = one.ask("LLM_REQUEST", std::slice::from_ref(&request)).await;
    assert_eq!(early["status"], "error", "{early}");
    decide(ClientState::Approved).await;
    let taken = one.ask("LLM_REQUEST", std::slice::from_ref(&request)).await;
    assert_eq!(
        taken["status"], "ok",
        "the page that was approved is let in"
    );

    // Now another page of the same origin: it may come, as a guest, and is given nothing.
    let mut second = page(&scene, HOME, "getKey").await.unwrap();
    let answer = identify(&mut second).await;
    assert_eq!(answer["status"], "error", "{answer}");
    // Of another origin, or a program: that id is not theirs to say.
    for origin in [Some("http://localhost:9000"), None] {
        let said = page(&scene, origin, "getKey").await.map(drop).unwrap_err();
        assert!(said.contains("belongs to somebody else"), "{said}");
        let said = page(&scene, origin, &first).await.map(drop);
        assert_eq!(said, Err("Invalid key.".to_owned()), "nor is its key");
    }
    let taken = one.ask("LLM_REQUEST", &[request]).await;
    assert_eq!(taken["status"], "ok", "the first is undisturbed");

    // Once it is gone, the same page comes back, and the key before is worth nothing.
    drop(one);
    let answer = identify(&mut second).await;
    let next = answer["key"].as_str().expect("a key").to_owned();
    page(&scene, HOME, &next).await.unwrap();
    let late = page(&scene, HOME, &first).await.map(drop);
    assert_eq!(late, Err("Invalid key.".to_owned()));
}

#[tokio::test]
async fn who_waits_for_approval_hears_nothing_meant_for_the_id() {
    let scene = Scene::new().await;
    let asked = identify(&mut page(&scene, HOME, "getKey").await.unwrap()).await;
    let pending = page(&scene, HOME, asked["key"].as_str().unwrap())
        .await
        .unwrap();
    // Meanwhile somebody with a key uses the id, which is then theirs.
    let key = scene.key().await;
    let auth = json!({ "clientId": "SillyTavern-8000", "key": key });
    let _owner = Client::connect(&scene.address, "/llm", auth).await.unwrap();
    let heard = scene.remote.roster().of("/llm", "SillyTavern-8000");
    assert_eq!(heard.len(), 1, "messages for the id go to its owner alone");
    let approved = scene
        .remote
        .clients()
        .decide("SillyTavern-8000", ClientState::Approved)
        .await;
    assert!(approved.is_err(), "an id that is taken cannot be given");
    drop(pending);
}

#[tokio::test]
async fn a_static_resource_is_its_declarers() {
    let scene = Scene::new().await;
    scene.put("a/index.html", "a");
    scene.put("b/index.html", "b");
    let mut owner = scene.client("owner").await;
    let declare = |url: &str, path: &str| json!([{ url: path }]);
    let mine = owner
        .call("addStaticResources", declare("/shop", "a"))
        .await;
    assert_eq!(mine["result"]["success"], true, "{mine}");
    let mut other = scene.client("other").await;
    for url in ["/shop", "/shop/deeper"] {
        let refused = other.call("addStaticResources", declare(url, "b")).await;
        assert_eq!(refused["result"]["success"], false, "{refused}");
        let why = refused["result"]["results"][0]["message"].as_str().unwrap();
        assert!(why.contains("belongs to another client"), "{why}");
    }
    let answer = super::statics::get(&scene.address, "/shop", &[]).await;
    assert!(answer.ends_with('a'), "{answer}");
    let scene = scene.restarted().await;
    let mut other = scene.client("other").await;
    let refused = other
        .call("addStaticResources", declare("/shop", "b"))
        .await;
    assert_eq!(refused["result"]["success"], false, "{refused}");
}
