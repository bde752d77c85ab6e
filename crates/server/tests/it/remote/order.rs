//! Nothing is lost and nothing overtakes, however fast it comes.

use serde_json::json;

use super::scene::Scene;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn five_thousand_calls_at_once_are_answered_in_order() {
    let scene = Scene::new().await;
    let mut client = scene.client("fast").await;
    let count = 5_000;
    let mut first = None;
    for number in 0..count {
        let data = json!({
            "requestId": number, "functionName": "echo", "args": [number], "target": "server",
        });
        let id = client.emit("FUNCTION_CALL", &[data]).await;
        first.get_or_insert(id);
    }
    for number in 0..count {
        let packet = client.hear().await.unwrap();
        let start = format!("3/function_call,{}[", first.unwrap() + number);
        assert!(packet.starts_with(&start), "{packet} in place of {start}");
        assert!(packet.contains(&format!("\"requestId\":{number},")));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_burst_of_events_arrives_whole_and_in_order() {
    let scene = Scene::new().await;
    let mut client = scene.client("listener").await;
    let peer = scene
        .remote
        .roster()
        .of("/function_call", "listener")
        .remove(0);
    for number in 0..20_000 {
        peer.emit("BURST", &[json!(number)]).unwrap();
    }
    for number in 0..20_000 {
        let (event, arguments, _) = client.event().await;
        assert_eq!((event.as_str(), &arguments[0]), ("BURST", &json!(number)));
    }
}

/// Its memory is not ours to fill.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_does_not_read_is_hung_up_on() {
    let scene = Scene::new().await;
    let _client = scene.client("deaf").await;
    let peer = scene.remote.roster().of("/function_call", "deaf").remove(0);
    let text = json!("x".repeat(1 << 20));
    let sent = (0..2_000).take_while(|_| peer.emit("NOISE", std::slice::from_ref(&text)).is_ok());
    assert!(sent.count() < 2_000);
    assert!(peer.has_left());
    assert!(
        scene
            .remote
            .roster()
            .of("/function_call", "deaf")
            .is_empty()
    );
}
