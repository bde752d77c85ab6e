//! FUNCTION_CALL: whatever is asked, one ack of one shape.

use serde_json::{Value as Json, json};

use super::{client::Client, scene::Scene};

fn failure(ack: &Json) -> &str {
    assert_eq!(ack["success"], false, "{ack}");
    assert!(ack.get("result").is_none(), "{ack}");
    let message = ack["error"]["message"].as_str().unwrap();
    assert!(!message.is_empty());
    message
}

fn result(ack: &Json) -> &Json {
    assert_eq!(ack["success"], true, "{ack}");
    assert!(ack.get("error").is_none(), "{ack}");
    &ack["result"]
}

#[tokio::test]
async fn arguments_arrive_in_order_in_each_of_their_shapes() {
    let scene = Scene::new().await;
    let mut client = scene.client("app").await;
    let ack = client.call("add", json!([1, 2])).await;
    assert_eq!(result(&ack), &json!(3.0));
    let args = json!(["a", { "k": [2, null] }]);
    assert_eq!(result(&client.call("echo", args.clone()).await), &args);
    let one = client.call("echo", json!({ "k": 1 })).await;
    assert_eq!(
        result(&one),
        &json!([{ "k": 1 }, null]),
        "an object is one argument"
    );
    for missing in [json!(null), json!([])] {
        assert_eq!(
            result(&client.call("echo", missing).await),
            &json!([null, null])
        );
    }
    let ack = client.call("nothing", json!([])).await;
    assert_eq!(result(&ack), &Json::Null);
    assert!(ack.get("result").is_some());
    let said = failure(&client.call("add", json!(7)).await).to_owned();
    assert!(said.contains("args"), "{said}");
}

#[tokio::test]
async fn every_failure_is_an_answer_and_the_next_call_works() {
    let scene = Scene::new().await;
    let mut client = scene.client("app").await;
    for (function, expect) in [
        ("fails", "it went wrong"),
        ("fails_silently", "failed without a message"),
        ("panics", "Function \"panics\" failed."),
        ("slow", "did not finish within"),
        ("nobody", "Function \"nobody\" not found."),
        ("hidden", "Function \"hidden\" not found."),
        ("__proto__", "Function \"__proto__\" not found."),
        ("constructor", "Function \"constructor\" not found."),
        ("add", "missing argument"),
    ] {
        let ack = client.call(function, json!([])).await;
        let message = failure(&ack);
        assert!(message.contains(expect), "{function}: {message}");
        assert!(!message.contains("/secret"), "{message}");
    }
    let by_word = client.call("by_word", json!([])).await;
    assert_eq!(result(&by_word), &Json::Null, "exposed by configuration");
    assert_eq!(
        result(&client.call("add", json!([1, 2])).await),
        &json!(3.0)
    );
}

#[tokio::test]
async fn the_request_id_comes_back_as_it_was() {
    let scene = Scene::new().await;
    let mut client = scene.client("app").await;
    for id in [
        json!("x"),
        json!(7),
        json!(1.5),
        json!(null),
        json!([1]),
        json!({ "a": 1 }),
        json!(false),
    ] {
        let data = |function: &str| json!({ "requestId": id, "functionName": function, "args": [1, 2], "target": "server" });
        let ack = client.ask("FUNCTION_CALL", &[data("add")]).await;
        assert_eq!((&ack["requestId"], result(&ack)), (&id, &json!(3.0)));
        let ack = client.ask("FUNCTION_CALL", &[data("nobody")]).await;
        assert_eq!(&ack["requestId"], &id);
        failure(&ack);
    }
    let first =
        json!({ "requestId": "a", "functionName": "add", "args": [1, 1], "target": "server" });
    let second =
        json!({ "requestId": "b", "functionName": "add", "args": [2, 2], "target": "server" });
    let (one, two) = (
        client.emit("FUNCTION_CALL", &[first]).await,
        client.emit("FUNCTION_CALL", &[second]).await,
    );
    let (two, one) = (client.ack(two).await, client.ack(one).await);
    assert_eq!(
        (&one["requestId"], &one["result"]),
        (&json!("a"), &json!(2.0))
    );
    assert_eq!(
        (&two["requestId"], &two["result"]),
        (&json!("b"), &json!(4.0))
    );
}

#[tokio::test]
async fn without_a_callback_nothing_runs() {
    let scene = Scene::new().await;
    let mut client = scene.client("app").await;
    let data = json!({ "requestId": 1, "functionName": "count", "args": [], "target": "server" });
    let packet = format!("2/function_call,{}", json!(["FUNCTION_CALL", data]));
    client.say(&packet).await;
    assert_eq!(
        result(&client.call("add", json!([1, 2])).await),
        &json!(3.0)
    );
    assert_eq!(scene.witness.times("count"), 0);
}

#[tokio::test]
async fn another_client_answers_for_itself() {
    let scene = Scene::new().await;
    let mut caller = scene.client("app").await;
    let mut target = scene.client("SillyTavern-8000").await;
    let data = json!({
        "requestId": "r", "functionName": "f", "args": [1, { "x": 2 }],
        "target": "SillyTavern-8000", "extra": true,
    });
    let asked = caller
        .emit("FUNCTION_CALL", std::slice::from_ref(&data))
        .await;
    let (event, arguments, id) = target.event().await;
    assert_eq!(event, "FUNCTION_CALL");
    assert_eq!(arguments, [data], "the original data");
    let answer = json!({ "requestId": "r", "success": true, "result": [7] });
    target.answer(id.unwrap(), answer.clone()).await;
    assert_eq!(caller.ack(asked).await, answer);

    let again = json!({ "requestId": "s", "functionName": "f", "target": "SillyTavern-8000" });
    let asked = caller.emit("FUNCTION_CALL", &[again]).await;
    let (_, _, id) = target.event().await;
    let failed = json!({ "requestId": "s", "success": false, "error": { "message": "no" } });
    target.answer(id.unwrap(), failed.clone()).await;
    assert_eq!(caller.ack(asked).await, failed);
}

#[tokio::test]
async fn of_several_sockets_the_first_to_answer_speaks() {
    let scene = Scene::new().await;
    let key = scene.key().await;
    let auth = json!({ "clientId": "two", "key": key });
    let mut one = Client::connect(&scene.address, "/function_call", auth.clone())
        .await
        .unwrap();
    let mut two = Client::connect(&scene.address, "/function_call", auth)
        .await
        .unwrap();
    let mut caller = scene.client("app").await;
    let data = json!({ "requestId": 1, "functionName": "f", "target": "two" });
    let asked = caller.emit("FUNCTION_CALL", &[data]).await;
    let (_, _, first) = one.event().await;
    let (_, _, second) = two.event().await;
    two.answer(second.unwrap(), json!("late or not, the first"))
        .await;
    let ack = caller.ack(asked).await;
    assert_eq!(
        result(&ack),
        "late or not, the first",
        "a bare answer is a result"
    );
    one.answer(first.unwrap(), json!("too late")).await;
    assert_eq!(
        result(&caller.call("add", json!([1, 2])).await),
        &json!(3.0)
    );
}

#[tokio::test]
async fn nobody_answers_under_the_name_of_another() {
    let scene = Scene::new().await;
    let mut caller = scene.client("app").await;
    let victim = scene.client("victim").await;
    let key = scene.key().await;
    let claiming = async |identity: &str| {
        let auth = json!({ "clientId": "mallory", "identity": identity, "key": key });
        Client::connect(&scene.address, "/function_call", auth).await
    };
    let mut second = claiming("mallory-2").await.unwrap();
    let to = |target: &str| json!({ "requestId": 1, "functionName": "f", "target": target });
    drop(victim);
    assert!(claiming("victim").await.is_err(), "also while it is away");
    // A part of a name is no name.
    for target in ["mallory-", "mall", "victim"] {
        let ack = caller.ask("FUNCTION_CALL", &[to(target)]).await;
        assert_eq!(ack["success"], false, "{target}: {ack}");
    }
    let asked = caller.emit("FUNCTION_CALL", &[to("mallory-2")]).await;
    let (_, _, id) = second.event().await;
    second.answer(id.unwrap(), json!("mine")).await;
    assert_eq!(result(&caller.ack(asked).await), "mine");
}

#[tokio::test]
async fn a_target_that_is_gone_or_silent_is_an_error() {
    let settings = callgate_service::remote::RemoteSettings {
        call_within: std::time::Duration::from_millis(100),
        ..Default::default()
    };
    let scene = Scene::with(settings).await;
    let mut caller = scene.client("app").await;
    let to = |target: Json| json!({ "requestId": 1, "functionName": "f", "target": target });
    let ask = async |caller: &mut Client, target: Json| {
        let ack = caller.ask("FUNCTION_CALL", &[to(target)]).await;
        failure(&ack).to_owned()
    };
    assert!(
        ask(&mut caller, json!("nobody"))
            .await
            .contains("not found: nobody")
    );
    for none in [json!(null), json!(7), json!({})] {
        assert!(ask(&mut caller, none).await.contains("target is missing"));
    }
    let _silent = scene.client("silent").await;
    assert!(ask(&mut caller, json!("silent")).await.contains("in time"));

    let mut leaving = scene.client("leaving").await;
    let asked = caller.emit("FUNCTION_CALL", &[to(json!("leaving"))]).await;
    leaving.event().await;
    drop(leaving);
    assert!(failure(&caller.ack(asked).await).contains("leaving"));

    // Whoever has no key can call itself anything, and is not spoken to.
    let _pretender = scene.guest("SillyTavern-8000").await;
    let said = ask(&mut caller, json!("SillyTavern-8000")).await;
    assert!(said.contains("not found"), "{said}");
}

#[tokio::test]
async fn rights_come_from_the_key_and_not_from_the_type() {
    let scene = Scene::new().await;
    let key = scene.key().await;
    for kind in ["SillyTavern", "monitor", "web-app"] {
        let auth = json!({ "clientId": "same", "clientType": kind, "key": key });
        let mut client = Client::connect(&scene.address, "/function_call", auth)
            .await
            .unwrap();
        assert_eq!(
            result(&client.call("add", json!([1, 2])).await),
            &json!(3.0),
            "{kind}"
        );
    }
    let mut guest = scene.guest("SillyTavern-8000").await;
    let refused = guest.call("add", json!([1, 2])).await;
    assert!(failure(&refused).contains("needs a key"), "{refused}");

    let scopes = ["method:echo".to_owned()];
    let (_, narrow) = scene.store.keys().create(&scopes).await.unwrap();
    let auth = json!({ "clientId": "narrow", "key": narrow });
    let mut narrow = Client::connect(&scene.address, "/function_call", auth)
        .await
        .unwrap();
    result(&narrow.call("echo", json!([1])).await);
    failure(&narrow.call("add", json!([1, 2])).await);
}

#[tokio::test]
async fn keys_open_and_revoked_or_wrong_ones_do_not() {
    let scene = Scene::new().await;
    let connect = async |auth: Json| {
        let connected = Client::connect(&scene.address, "/function_call", auth).await;
        connected.map(drop)
    };
    let refused = connect(json!({ "clientId": "x", "key": "callgate_wrong" })).await;
    assert_eq!(refused, Err("Invalid key.".to_owned()));

    let (id, key) = scene
        .store
        .keys()
        .create(&["methods".to_owned()])
        .await
        .unwrap();
    assert_eq!(
        connect(json!({ "clientId": "x", "key": key })).await,
        Ok(())
    );
    scene.store.keys().revoke(&id).await.unwrap();
    let refused = connect(json!({ "clientId": "x", "key": key })).await;
    assert_eq!(refused, Err("Invalid key.".to_owned()));

    let keys = scene.store.keys();
    let (_, bound) = keys
        .create_as(callgate_store::NewKey {
            scopes: vec!["methods".to_owned()],
            client: Some("mine".to_owned()),
            ..Default::default()
        })
        .await
        .unwrap();
    assert_eq!(
        connect(json!({ "clientId": "mine", "key": bound })).await,
        Ok(())
    );
    assert_eq!(connect(json!({ "key": bound })).await, Ok(()));
    let other = connect(json!({ "clientId": "other", "key": bound })).await;
    assert_eq!(
        other,
        Err("Invalid key.".to_owned()),
        "for one client alone"
    );
    let stranger = json!({ "clientId": "mine", "key": scene.key().await });
    let stranger = connect(stranger).await;
    let stranger = stranger.unwrap_err();
    assert!(
        stranger.starts_with("Invalid key. The client id 'mine' belongs to somebody else"),
        "{stranger}"
    );

    // What a proxy passes on does not come from this machine.
    let passed_on = [("X-Forwarded-For", "203.0.113.7")];
    let mut client = Client::open(&scene.address, &passed_on).await;
    let joined = client
        .join("/function_call", json!({ "clientId": "x" }))
        .await;
    assert_eq!(joined, Err("Client is not trusted.".to_owned()));
    // The connection stays, and so would its other namespaces.
    let key = scene.key().await;
    let joined = client
        .join("/function_call", json!({ "clientId": "y", "key": key }))
        .await;
    assert_eq!(joined, Ok(()));
}

#[tokio::test]
async fn a_revoked_key_ends_what_came_in_with_it() {
    let scene = Scene::new().await;
    let (id, key) = scene
        .store
        .keys()
        .create(&["methods".to_owned()])
        .await
        .unwrap();
    let auth = json!({ "clientId": "x", "key": key });
    let mut client = Client::connect(&scene.address, "/function_call", auth)
        .await
        .unwrap();
    scene.store.keys().revoke(&id).await.unwrap();
    assert_eq!(client.hear().await.as_deref(), Some("1/function_call,"));
}
