//! Every event with every kind of key: what a key is not made for is refused, here as everywhere.

use serde_json::{Value as Json, json};

use super::{client::Client, scene::Scene};

/// Which kinds of keys an event is for, of `method:echo`, `models`, `chat`, `methods`, `operator`.
const CALL: [bool; 5] = [true, false, false, true, true];
const CHAT: [bool; 5] = [false, false, true, true, true];
const CLIENT: [bool; 5] = [false, false, false, true, true];
const OPERATOR: [bool; 5] = [false, false, false, false, true];

const KINDS: [&str; 5] = ["method:echo", "models", "chat", "methods", "operator"];

type Row = (&'static str, [bool; 5]);

const EVENTS: [(&str, &[Row]); 6] = [
    (
        "/function_call",
        &[
            ("FUNCTION_CALL", CALL),
            ("REGISTER_FUNCTIONS", CLIENT),
            ("FUNCTION_PROGRESS", CLIENT),
        ],
    ),
    (
        "/llm",
        &[
            ("LLM_REQUEST", CHAT),
            ("EDIT_MESSAGE", CHAT),
            ("DELETE_MESSAGE", CHAT),
            ("CLEAR_MESSAGES", CHAT),
            ("GET_FULL_CONTEXT", CHAT),
            ("GET_OFFLINE_MESSAGES", CHAT),
            ("START_TYPING", CHAT),
            ("STOP_TYPING", CHAT),
            ("START_PROCESSING", CHAT),
            ("STOP_PROCESSING", CHAT),
            ("$stream-read", CHAT),
            ("ERROR", CLIENT),
            ("CLIENT_STREAM_START", CLIENT),
            ("CLIENT_STREAM_DATA_FIRST", CLIENT),
            ("CLIENT_STREAM_END", CLIENT),
        ],
    ),
    (
        "/rooms",
        &[
            ("GET_ROOMS", CLIENT),
            ("GET_CLIENTS_IN_ROOM", CLIENT),
            ("CREATE_ROOM", CLIENT),
            ("DELETE_ROOM", CLIENT),
            ("SET_ROOM_MESSAGE_REQUEST_MODE", CLIENT),
            ("ADD_CLIENT_TO_ROOM", CLIENT),
            ("REMOVE_CLIENT_FROM_ROOM", CLIENT),
            ("KICK_MEMBER", CLIENT),
            ("SET_MEMBER_ROLE", CLIENT),
            ("MUTE_MEMBER", CLIENT),
            ("UNMUTE_MEMBER", CLIENT),
            ("GET_CONNECTION_POLICY", CLIENT),
            ("GET_ASSIGNMENTS", CLIENT),
            ("GET_ASSIGNMENTS_FOR_ROOM", CLIENT),
            ("SET_CONNECTION_POLICY", OPERATOR),
            ("ASSIGN_EXTENSION_TO_CLIENT", OPERATOR),
        ],
    ),
    (
        "/clients",
        &[
            ("GET_CLIENT_LIST", CLIENT),
            ("UPDATE_CONNECTED_CLIENTS", CLIENT),
            ("GET_ALL_CLIENT_KEYS", CLIENT),
            ("GET_CLIENT_KEY", CLIENT),
            ("GET_ROOMS", CLIENT),
            ("GET_CLIENTS_IN_ROOM", CLIENT),
            ("GENERATE_CLIENT_KEY", OPERATOR),
            ("REMOVE_CLIENT_KEY", OPERATOR),
        ],
    ),
    (
        "/auth",
        &[
            ("GET_CLIENT_KEY", CLIENT),
            ("GET_SILLYTAVERN_EXTENSION", CLIENT),
        ],
    ),
    (
        "/debug",
        &[
            ("SERVER_STATUS", OPERATOR),
            ("TOGGLE_DEBUG_MODE", OPERATOR),
            ("READ_LOG", OPERATOR),
        ],
    ),
];

/// Was it refused for want of a scope? What is wrong with the event itself is another matter.
fn lacks_scope(answer: &Json) -> bool {
    let message = answer["message"]
        .as_str()
        .or(answer["error"]["message"].as_str());
    message.is_some_and(|message| {
        message == "Unauthorized" || message.contains("needs a key of scope")
    })
}

#[tokio::test]
async fn each_event_is_for_the_keys_that_are_made_for_it() {
    let scene = Scene::new().await;
    for (place, kind) in KINDS.into_iter().enumerate() {
        let key = scene.key_for(&[kind]).await;
        let id = format!("c{place}");
        for (namespace, events) in EVENTS {
            let auth = json!({ "clientId": id, "clientType": "monitor", "key": key });
            let come = Client::connect(&scene.address, namespace, auth).await;
            let any = events.iter().any(|(_, keys)| keys[place]);
            let mut client = match come {
                Ok(client) => client,
                Err(said) => {
                    assert!(!any, "{kind} in {namespace}: {said}");
                    assert!(said.starts_with("Unauthorized"), "{said}");
                    continue;
                }
            };
            assert!(any, "{kind} has no business in {namespace}");
            for (event, keys) in events {
                let data = json!({
                    "requestId": "r", "functionName": "echo", "target": "server",
                    "roomName": id, "clientId": id, "targetClientId": "other",
                });
                let answer = client.ask(event, &[data]).await;
                assert_eq!(
                    lacks_scope(&answer),
                    !keys[place],
                    "{kind} {event}: {answer}"
                );
            }
        }
    }
}

#[tokio::test]
async fn a_key_for_one_method_calls_that_method_and_nothing_else() {
    let scene = Scene::new().await;
    let mut target = scene.client("target").await;
    let key = scene.key_for(&["method:echo"]).await;
    let auth = json!({ "clientId": "narrow", "key": key });
    let mut narrow = Client::connect(&scene.address, "/function_call", auth)
        .await
        .unwrap();
    assert_eq!(narrow.call("echo", json!([1])).await["success"], true);
    for other in ["add", "count", "readJsonFromFile", "call_client"] {
        let refused = narrow.call(other, json!([])).await;
        assert_eq!(refused["success"], false, "{other}: {refused}");
    }
    let elsewhere = json!({ "requestId": 1, "functionName": "f", "target": "target" });
    let refused = narrow.ask("FUNCTION_CALL", &[elsewhere]).await;
    assert!(lacks_scope(&refused), "{refused}");
    // Nor is it somebody whom others can call.
    let to_it = json!({ "requestId": 1, "functionName": "f", "target": "narrow" });
    let ack = target.ask("FUNCTION_CALL", &[to_it]).await;
    assert_eq!(ack["error"]["message"], "Target client not found: narrow");
    assert_eq!(scene.witness.times("count"), 0);
}

#[tokio::test]
async fn a_call_of_another_client_is_on_record() {
    let scene = Scene::new().await;
    let mut caller = scene.client("app").await;
    let mut target = scene.client("target").await;
    let data = json!({ "requestId": "r", "functionName": "f", "args": [1], "target": "target" });
    let asked = caller
        .emit("FUNCTION_CALL", std::slice::from_ref(&data))
        .await;
    let (_, _, id) = target.event().await;
    let answer = json!({ "requestId": "r", "success": true, "result": 7 });
    target.answer(id.unwrap(), answer.clone()).await;
    assert_eq!(caller.ack(asked).await, answer);
    let calls = scene
        .store
        .journal()
        .calls_of("builtin/call_client", 10)
        .await;
    assert_eq!(calls.unwrap().len(), 1);
}

#[tokio::test]
async fn a_narrow_key_gets_no_wider_one_by_asking() {
    let scene = Scene::new().await;
    for kind in ["chat", "method:echo", "methods"] {
        let key = scene.key_for(&[kind]).await;
        let auth = json!({ "clientId": kind, "clientType": "SillyTavern", "key": key });
        let mut client = Client::connect(&scene.address, "/sillytavern", auth)
            .await
            .unwrap();
        let said = json!({ "clientId": kind });
        let answer = client.ask("IDENTIFY_SILLYTAVERN", &[said]).await;
        assert_eq!(answer["status"], "error", "{answer}");
        assert!(answer.get("key").is_none());
    }
    // One that may do nothing takes no name either.
    let key = scene.key_for(&["models"]).await;
    for namespace in ["/sillytavern", "/llm", "/function_call"] {
        let auth = json!({ "clientId": "early", "key": key });
        let come = Client::connect(&scene.address, namespace, auth).await;
        assert!(come.is_err(), "{namespace}");
    }
    scene.client("early").await;
}
