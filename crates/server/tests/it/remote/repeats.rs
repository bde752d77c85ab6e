//! The same request again: the recorded answer, never a second effect.

use serde_json::{Value as Json, json};

use super::{client::Client, scene::Scene};

fn request(id: Json, function: &str, args: Json) -> Json {
    json!({ "requestId": id, "functionName": function, "args": args, "target": "server" })
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
    let once = request(json!("once"), "count", json!([]));
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
    // Without a name every call is a call.
    for expect in 3..5 {
        let unnamed = request(Json::Null, "count", json!([]));
        assert_eq!(ask(&mut again, unnamed).await["result"], expect);
    }
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
                .emit("FUNCTION_CALL", &[request(json!(1), "count", json!([]))])
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
async fn a_name_stands_for_the_last_call_made_under_it() {
    let scene = Scene::new().await;
    let mut client = scene.client("SillyTavern-8000").await;
    let path = "settings/server_settings.json";
    let save = |value: i64| {
        request(
            json!("saveSettings"),
            "saveJsonToFile",
            json!([path, { "v": value }]),
        )
    };
    for value in [1, 2, 1] {
        assert_eq!(
            ask(&mut client, save(value)).await["result"],
            json!({ "success": true })
        );
        let saved: Json = serde_json::from_str(&scene.content(path).unwrap()).unwrap();
        assert_eq!(saved["v"], value);
    }
    let load = request(json!("loadSettings"), "readJsonFromFile", json!([path]));
    assert_eq!(
        ask(&mut client, load.clone()).await["result"]["result"]["v"],
        1
    );
    scene.put(path, "{\"v\": 7}");
    assert_eq!(
        ask(&mut client, load).await["result"]["result"]["v"],
        7,
        "reading is always anew"
    );
    let with = |value: i64| request(json!("n"), "count", json!([value]));
    assert_eq!(ask(&mut client, with(1)).await["result"], 1);
    assert_eq!(ask(&mut client, with(2)).await["result"], 2, "another call");
}

/// Killed between intent and outcome: nobody knows, and nobody tries again by himself.
#[tokio::test]
async fn an_effect_that_was_cut_off_is_told_as_unknown() {
    let scene = Scene::new().await;
    let key = scene.key().await;
    let cut = request(json!("cut"), "hangs", json!([]));
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
