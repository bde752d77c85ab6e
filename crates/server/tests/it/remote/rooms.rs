//! Rooms that stay usable: whoever is muted for good, and whatever is refused.

use serde_json::{Value as Json, json};

use super::{client::Client, scene::Scene};

/// The operator's client in both namespaces, with a room of its own that has one guest.
async fn tea(scene: &Scene) -> (Client, Client) {
    let key = scene.key_for(&["operator"]).await;
    let auth = json!({ "clientId": "boss", "clientType": "test", "key": key });
    let rooms = Client::connect(&scene.address, "/rooms", auth.clone()).await;
    let llm = Client::connect(&scene.address, "/llm", auth).await;
    let mut rooms = rooms.unwrap();
    let room = json!({ "roomName": "tea" });
    let made = rooms.ask("CREATE_ROOM", &[room]).await;
    assert_eq!(made["status"], "ok", "{made}");
    let guest = json!({ "roomName": "tea", "identity": "dora", "role": "guest" });
    let added = rooms.ask("ADD_CLIENT_TO_ROOM", &[guest]).await;
    assert_eq!(added["status"], "ok", "{added}");
    (rooms, llm.unwrap())
}

#[tokio::test]
async fn a_member_that_is_muted_for_good_breaks_no_room() {
    let scene = Scene::new().await;
    let (mut rooms, _) = tea(&scene).await;
    for seconds in [
        Json::Null,
        json!(0),
        json!(-1),
        json!(i64::MAX),
        json!(250_000_000_000_i64),
    ] {
        let dora = json!({
            "roomName": "tea", "targetIdentity": "dora", "durationSeconds": seconds,
        });
        let muted = rooms.ask("MUTE_MEMBER", &[dora]).await;
        assert_eq!(muted["status"], "ok", "{seconds}: {muted}");
        let room = scene.store.rooms().get("tea").await.unwrap().unwrap();
        let dora = room.members.iter().find(|member| member.identity == "dora");
        let until = dora.unwrap().muted_until.expect("muted");
        assert!(until > jiff::Timestamp::now(), "{seconds}");
    }
}

#[tokio::test]
async fn a_request_that_is_refused_is_not_in_the_rooms_context() {
    let scene = Scene::new().await;
    let (_, mut llm) = tea(&scene).await;
    for target in ["nobody", "server"] {
        let request = json!({
            "requestId": "r", "message": "hello", "target": target, "targetRoom": "tea",
        });
        // There is no such client, and no model.
        let refused = llm.ask("LLM_REQUEST", &[request]).await;
        assert_eq!(refused["status"], "error", "{target}: {refused}");
        let messages = scene.store.rooms().messages("tea", 10).await.unwrap();
        let said = messages.iter().filter(|message| message.identity == "boss");
        assert_eq!(said.count(), 0, "{target}: {messages:?}");
    }
}
