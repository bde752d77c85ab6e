//! Packets that ended the original server, or that no library sends. Each gets its answer or a
//! clean refusal; nobody else notices.

use serde_json::json;

use super::{client::Client, scene::Scene};

#[tokio::test]
async fn packets_that_ended_the_original_get_an_answer() {
    let scene = Scene::new().await;
    let mut other = scene.client("other").await;
    let call = |data: &str| format!("2/function_call,0[\"FUNCTION_CALL\",{data}]");
    for packet in [
        call("null"),
        call("7"),
        call("[]"),
        call("\"text\""),
        call("{}"),
        call(r#"{"functionName":"add","target":"server"}"#),
        call(r#"{"requestId":1,"functionName":"add","args":{"a":1},"target":"server"}"#),
        call(r#"{"requestId":1,"functionName":"__proto__","args":[],"target":"server"}"#),
        call(r#"{"requestId":1,"functionName":"constructor","args":["x"],"target":"server"}"#),
        call(r#"{"requestId":1,"functionName":7,"args":[],"target":"server"}"#),
        call(r#"{"requestId":1,"functionName":"add","args":"text","target":"server"}"#),
        call(r#"{"requestId":1,"functionName":"add","args":[],"target":null}"#),
        call(
            r#"{"requestId":{"toString":1},"functionName":"toString","args":[],"target":"server"}"#,
        ),
        "2/function_call,0[\"FUNCTION_CALL\"]".to_owned(),
        "2/function_call,0[\"NO_SUCH_EVENT\",1]".to_owned(),
        "2/function_call,0[\"REGISTER_FUNCTIONS\",null]".to_owned(),
        "2/function_call,0[\"REGISTER_FUNCTIONS\",{\"functions\":[7]}]".to_owned(),
        "2/function_call,0[\"\"]".to_owned(),
    ] {
        let mut client = scene.client("bad").await;
        client.say(&packet).await;
        let ack = client.ack(0).await;
        assert_eq!(ack["success"], false, "{packet}: {ack}");
        assert!(ack["error"]["message"].is_string(), "{packet}: {ack}");
        let fine = client.call("add", json!([1, 2])).await;
        assert_eq!(fine["result"], 3.0, "after {packet}");
    }
    assert_eq!(other.call("add", json!([1, 2])).await["result"], 3.0);
}

#[tokio::test]
async fn what_is_no_packet_ends_its_own_connection_only() {
    let scene = Scene::new().await;
    let mut other = scene.client("other").await;
    for packet in [
        "",
        "9",
        "2/function_call,[",
        "2/function_call,0{}",
        "2/function_call,0\"x\"",
        "é",
        "5/function_call,[\"x\"]",
        "599-/function_call,[\"x\"]",
        "3/function_call,[1]",
        "0/function_call,{",
        "2/function_call,99999999999999999999999[\"x\"]",
    ] {
        let mut client = scene.client("bad").await;
        client.say(packet).await;
        assert_eq!(client.hear().await, None, "{packet}");
    }
    let mut client = scene.client("bad").await;
    client.say_binary(b"nobody asked").await;
    assert_eq!(client.hear().await, None);
    let mut client = scene.client("bad").await;
    client
        .say("51-/function_call,[\"x\",{\"_placeholder\":true,\"num\":0}]")
        .await;
    client.say("2/function_call,[\"x\"]").await;
    assert_eq!(client.hear().await, None, "attachments must follow at once");
    assert_eq!(other.call("add", json!([1, 2])).await["result"], 3.0);
}

#[tokio::test]
async fn too_much_is_refused_on_both_transports() {
    let scene = Scene::new().await;
    let mut client = scene.client("big").await;
    let text = "x".repeat(900_000);
    let ack = client.call("echo", json!([text])).await;
    assert_eq!(ack["result"][0].as_str().map(str::len), Some(900_000));
    client
        .say(&format!(
            "2/function_call,[\"x\",\"{}\"]",
            "x".repeat(1_100_000)
        ))
        .await;
    assert_eq!(client.hear().await, None);
    let mut other = scene.client("other").await;
    assert_eq!(other.call("add", json!([1, 2])).await["result"], 3.0);
}

#[tokio::test]
async fn old_numbers_and_missing_names_of_events_are_understood() {
    let scene = Scene::new().await;
    let mut client = scene.client("old").await;
    let data = json!({ "requestId": 1, "functionName": "add", "args": [1, 2], "target": "server" });
    client.say(&format!("2/function_call,40[22,{data}]")).await;
    assert_eq!(client.ack(40).await["result"], 3.0);
    client.say("2/function_call,[null,{\"x\":1}]").await;
    client.say("2/function_call,[[],1]").await;
    client.say("2/function_call,[]").await;
    assert_eq!(
        client.call("add", json!([2, 2])).await["result"],
        4.0,
        "still connected"
    );
}

#[tokio::test]
async fn binary_arguments_are_bytes_and_come_back_as_such() {
    let scene = Scene::new().await;
    let mut client = scene.client("app").await;
    let data = json!({
        "requestId": 1, "functionName": "echo", "target": "server",
        "args": [{ "_placeholder": true, "num": 0 }],
    });
    client
        .say(&format!("51-/function_call,5[\"FUNCTION_CALL\",{data}]"))
        .await;
    client.say_binary(b"abc").await;
    let ack = client.hear().await.unwrap();
    let payload = json!({ "requestId": 1, "success": true, "result": [
        { "_placeholder": true, "num": 0 }, null,
    ] });
    assert_eq!(ack, format!("61-/function_call,5[{payload}]"));
    assert_eq!(client.hear_binary().await, b"abc");
}

#[tokio::test]
async fn namespaces_of_one_connection_live_and_end_apart() {
    let scene = Scene::new().await;
    let key = scene.key().await;
    let mut client = Client::open(&scene.address, &[]).await;
    let unknown = client.join("/nowhere", json!({ "key": key })).await;
    assert_eq!(unknown, Err("Invalid namespace".to_owned()));
    let wrong = client
        .join("/function_call", json!({ "key": "wrong" }))
        .await;
    assert_eq!(wrong, Err("Invalid key.".to_owned()));
    client
        .join("/llm", json!({ "clientId": "x", "key": key }))
        .await
        .unwrap();
    client
        .join("/function_call", json!({ "clientId": "x", "key": key }))
        .await
        .unwrap();
    // Twice, and to a namespace that was left: nothing happens.
    client.say("1/llm,").await;
    client.say("1/llm,").await;
    client.say("2/llm,[\"message\",{}]").await;
    client.say("0/function_call,{}").await;
    assert_eq!(client.call("add", json!([1, 2])).await["result"], 3.0);
}

#[tokio::test]
async fn the_id_that_is_told_opens_nothing() {
    let scene = Scene::new().await;
    let mut client = Client::open(&scene.address, &[]).await;
    client
        .say(&format!("0/function_call,{}", json!({ "clientId": "x" })))
        .await;
    let told = client.hear().await.unwrap();
    let told: serde_json::Value = serde_json::from_str(told.split_once(',').unwrap().1).unwrap();
    let sid = told["sid"].as_str().unwrap();
    let path = format!("/socket.io/?EIO=4&transport=polling&sid={sid}");
    let answer = super::statics::get(&scene.address, &path, &[]).await;
    assert!(answer.starts_with("HTTP/1.1 400"), "{answer}");
}

#[tokio::test]
async fn what_is_sent_before_the_connect_reply_is_not_lost() {
    let scene = Scene::new().await;
    let key = scene.key().await;
    for _ in 0..50 {
        let mut client = Client::open(&scene.address, &[]).await;
        let auth = json!({ "clientId": "fast", "key": key });
        let data =
            json!({ "requestId": 1, "functionName": "add", "args": [1, 2], "target": "server" });
        client.say(&format!("0/function_call,{auth}")).await;
        client
            .say(&format!("2/function_call,0[\"FUNCTION_CALL\",{data}]"))
            .await;
        assert!(
            client
                .hear()
                .await
                .unwrap()
                .starts_with("0/function_call,{")
        );
        let ack = client.hear().await.unwrap();
        assert!(ack.starts_with("3/function_call,0["), "{ack}");
    }
}
