//! The same request again: another call, or for a client that says `once` the recorded answer, never a
//! second effect.

use serde_json::{Value as Json, json};

use super::{client::Client, scene::Scene};

fn request(id: Json, function: &str, args: Json) -> Json {
    json!({ "requestId": id, "functionName": function, "args": args, "target": "server" })
}

fn once(id: Json, function: &str, args: Json) -> Json {
    let mut request = request(id, function, args);
    request["once"] = json!(true);
    request
}

async fn ask(client: &mut Client, request: Json) -> Json {
    client.ask("FUNCTION_CALL", &[request]).await
}

async fn client(scene: &Scene, key: &str, id: &str) -> Client {
    let auth = json!({ "clientId": id, "key": key });
    Client::connect(&scene.address, "/function_call", auth)
        .await
        .unwrap()
}

#[tokio::test]
async fn a_repeated_request_is_answered_from_the_record_also_after_a_restart() {
    let scene = Scene::new().await;
    let key = scene.key().await;
    let once = once(json!("once"), "count", json!([]));
    let mut first = client(&scene, &key, "app").await;
    let made = ask(&mut first, once.clone()).await;
    assert_eq!(made["result"], 1);
    assert_eq!(ask(&mut first, once.clone()).await, made);
    // Over another connection of the same client.
    let mut second = client(&scene, &key, "app").await;
    assert_eq!(ask(&mut second, once.clone()).await, made);
    assert_eq!(scene.witness.times("count"), 1);

    let scene = scene.restarted().await;
    let mut again = client(&scene, &key, "app").await;
    assert_eq!(ask(&mut again, once.clone()).await, made);
    assert_eq!(scene.witness.times("count"), 1, "after a restart");
    // Of another client it is another call.
    let mut other = client(&scene, &key, "other").await;
    assert_eq!(ask(&mut other, once).await["result"], 2);
    // An id is what another call cannot have, and what a call that is made once has.
    for (id, args) in [(json!("once"), json!([7])), (Json::Null, json!([]))] {
        let refused = ask(&mut again, self::once(id, "count", args)).await;
        let message = refused["error"]["message"].as_str().unwrap();
        assert!(message.contains("requestId"), "{message}");
    }
    assert_eq!(scene.witness.times("count"), 2);
}

/// Compat(newage): the document's example, and the extension, use constant ids.
#[tokio::test]
async fn a_request_that_does_not_say_once_is_made_each_time() {
    let scene = Scene::new().await;
    let mut client = client(&scene, &scene.key().await, "app").await;
    for expect in 1..4 {
        let constant = request(json!("123"), "count", json!([]));
        assert_eq!(ask(&mut client, constant).await["result"], expect);
    }
    let mut asked = Vec::new();
    for _ in 0..4 {
        let constant = request(json!("123"), "count", json!([]));
        asked.push(client.emit("FUNCTION_CALL", &[constant]).await);
    }
    for ack in asked {
        client.ack(ack).await;
    }
    assert_eq!(scene.witness.times("count"), 7, "also those that overlap");
}

#[tokio::test]
async fn requests_that_overlap_are_one() {
    let scene = Scene::new().await;
    let key = scene.key().await;
    let mut clients = Vec::new();
    for _ in 0..8 {
        clients.push(client(&scene, &key, "app").await);
    }
    let mut asked = Vec::new();
    for client in &mut clients {
        asked.push(
            client
                .emit("FUNCTION_CALL", &[once(json!(1), "count", json!([]))])
                .await,
        );
    }
    for (client, id) in clients.iter_mut().zip(asked) {
        assert_eq!(client.ack(id).await["result"], 1);
    }
    assert_eq!(scene.witness.times("count"), 1);
}

/// Compat(newage): the extension uses one constant id for all its saves.
#[tokio::test]
async fn the_extensions_saves_and_loads_are_all_made() {
    let scene = Scene::new().await;
    let mut client = scene.client("SillyTavern-8000").await;
    let path = "settings/server_settings.json";
    let save = |value: i64| {
        let args = json!([path, { "v": value }]);
        request(json!("saveSettings"), "saveJsonToFile", args)
    };
    let load = request(json!("loadSettings"), "readJsonFromFile", json!([path]));
    for value in [1, 2, 1] {
        // Somebody else writes between two saves of the same.
        scene.put(path, "{\"v\": 7}");
        let read = ask(&mut client, load.clone()).await;
        assert_eq!(read["result"]["result"]["v"], 7, "reading is always anew");
        for _ in 0..2 {
            scene.put(path, "{\"v\": 7}");
            let saved = ask(&mut client, save(value)).await;
            assert_eq!(saved["result"], json!({ "success": true }));
            let saved: Json = serde_json::from_str(&scene.content(path).unwrap()).unwrap();
            assert_eq!(saved["v"], value);
        }
    }
}

/// Killed between intent and outcome: nobody knows, and nobody tries again by himself.
#[tokio::test]
async fn an_effect_that_was_cut_off_is_told_as_unknown() {
    let scene = Scene::new().await;
    let key = scene.key().await;
    let cut = once(json!("cut"), "hangs", json!([]));
    let mut asking = client(&scene, &key, "app").await;
    asking
        .emit("FUNCTION_CALL", std::slice::from_ref(&cut))
        .await;
    while scene.witness.times("hangs") == 0 {
        tokio::task::yield_now().await;
    }
    let scene = scene.restarted().await;
    let mut again = client(&scene, &key, "app").await;
    let told = ask(&mut again, cut).await;
    let message = told["error"]["message"].as_str().unwrap();
    assert!(message.contains("unknown"), "{message}");
    assert_eq!(scene.witness.times("hangs"), 1);
}
