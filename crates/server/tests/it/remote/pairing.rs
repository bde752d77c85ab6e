//! How a client without a key gets in.

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
    let _socket = join(scene, "getKey").await?;
    let peers = scene.remote.roster().sockets("SillyTavern-8000");
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
    // It keeps no key, so it asks again at every start, and the one before is over.
    drop(client);
    let another = identify(&scene).await.unwrap();
    assert_ne!(another, key);
    let mut client = join(&scene, &another).await.unwrap();
    let refused = join(&scene, &key).await.map(drop);
    assert_eq!(refused, Err("Invalid key.".to_owned()));

    scene
        .remote
        .clients()
        .decide("SillyTavern-8000", ClientState::Revoked)
        .await
        .unwrap();
    assert_eq!(client.hear().await.as_deref(), Some("1/function_call,"));
    let refused = join(&scene, &another).await.map(drop);
    assert_eq!(refused, Err("Invalid key.".to_owned()));
    let refused = join(&scene, "getKey").await.map(drop);
    assert_eq!(refused, Err("Client is not trusted.".to_owned()));
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
    assert_eq!(keys.len(), 1);
}
