//! How a client without a key gets in.

use callgate_server::remote::Rights;
use callgate_store::ClientState;
use serde_json::json;

use super::{client::Client, scene::Scene};

const ORIGIN: [(&str, &str); 1] = [("Origin", "http://localhost:8000")];

async fn join(scene: &Scene, key: &str) -> Result<Client, String> {
    let mut client = Client::open(&scene.address, &ORIGIN).await;
    let auth = json!({ "clientId": "SillyTavern-8000", "clientType": "SillyTavern", "key": key });
    client.join("/function_call", auth).await.map(|()| client)
}

async fn identify(scene: &Scene) -> Result<String, String> {
    let _socket = join(scene, "getKey").await.unwrap();
    let peers = scene
        .remote
        .roster()
        .of("/function_call", "SillyTavern-8000");
    scene.remote.clients().identify(peers.last().unwrap()).await
}

#[tokio::test]
async fn a_client_asks_is_approved_and_shut_out_again() {
    let scene = Scene::new().await;
    let key = identify(&scene).await.unwrap();
    let mut client = join(&scene, &key).await.unwrap();
    let save = json!(["./settings/server_settings.json", { "a": 1 }]);
    let refused = client.call("saveJsonToFile", save.clone()).await;
    assert_eq!(refused["success"], false, "the key alone opens nothing");

    scene
        .remote
        .clients()
        .decide("SillyTavern-8000", ClientState::Approved)
        .await
        .unwrap();
    let saved = client.call("saveJsonToFile", save.clone()).await;
    assert_eq!(
        saved["result"],
        json!({ "success": true }),
        "while it is connected"
    );
    let read = client
        .call("readJsonFromFile", json!(["settings/server_settings.json"]))
        .await;
    assert_eq!(read["result"]["result"], json!({ "a": 1 }));

    let scene = scene.restarted().await;
    let mut client = join(&scene, &key)
        .await
        .expect("the key survives a restart");
    assert_eq!(client.call("saveJsonToFile", save).await["success"], true);
    // It keeps no key, so it asks again at every start.
    let another = identify(&scene).await.unwrap();
    assert_ne!(another, key);
    join(&scene, &another).await.unwrap();

    scene
        .remote
        .clients()
        .decide("SillyTavern-8000", ClientState::Revoked)
        .await
        .unwrap();
    assert_eq!(client.hear().await.as_deref(), Some("1/function_call,"));
    for key in [key.as_str(), another.as_str()] {
        let refused = join(&scene, key).await.map(drop);
        assert_eq!(refused, Err("Invalid key.".to_owned()));
    }
    let refused = join(&scene, "getKey").await.map(drop);
    assert_eq!(refused, Err("Client is not trusted.".to_owned()));
}

#[tokio::test]
async fn who_only_says_the_name_of_an_approved_client_gets_nothing() {
    let scene = Scene::new().await;
    identify(&scene).await.unwrap();
    scene
        .remote
        .clients()
        .decide("SillyTavern-8000", ClientState::Approved)
        .await
        .unwrap();
    // From another page, or from a program.
    for headers in [&[("Origin", "http://localhost:9999")][..], &[]] {
        let mut client = Client::open(&scene.address, headers).await;
        let auth = json!({ "clientId": "SillyTavern-8000" });
        client.join("/function_call", auth).await.unwrap();
        let peers = scene
            .remote
            .roster()
            .of("/function_call", "SillyTavern-8000");
        let peer = peers.last().unwrap();
        assert_eq!(peer.rights(), Rights::Guest);
        let refused = scene.remote.clients().identify(peer).await;
        assert_eq!(refused, Err("Client is not trusted.".to_owned()));
        client.say("1/function_call,").await;
        client.join("/llm", json!({ "clientId": "x" })).await.ok();
    }
}

#[tokio::test]
async fn keys_of_a_client_do_not_pile_up() {
    let scene = Scene::new().await;
    for _ in 0..20 {
        identify(&scene).await.unwrap();
    }
    let keys = scene
        .store
        .keys()
        .of_client("SillyTavern-8000")
        .await
        .unwrap();
    assert_eq!(keys.len(), 8);
}
